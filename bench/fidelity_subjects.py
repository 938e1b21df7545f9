"""The programs that leaks are put into (bench/fidelity.py): how each is started, and
what work it is given.

`tuned` are those that the defaults of `plumb watch` were chosen on; `fresh` were
not looked at before. What is not installed is left out.
"""

import os
import pwd
import re
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import sampled

PORT = sampled.PORT
WEB_REQUESTS = 60_000


@dataclass
class Subject:
    command: list[str]
    # Gives a server its work; one without is given its end by itself.
    load: Callable[[], None] | None = None
    signal: str = "TERM"  # that ends a server in good order
    env: dict[str, str] = field(default_factory=dict)
    user: str | None = None
    stdin: Path | None = None


RUBY = """
live = {}
n = 0
400_000.times do |i|
  live[i % 2000] = ["a value that is too long to be inside #{i}", [i, i + 1, i + 2, i + 3, i + 4]]
  other = live[i * 7 % 2000]
  n += other[0].length if other
end
puts n
"""
PHP = """<?php
class Node { public $name; public $next; public $list = []; }
$live = []; $n = 0;
for ($i = 0; $i < 400000; $i++) {
  $node = new Node(); $node->name = "a name of some length $i"; $node->list[] = $i;
  $live[$i % 2000] = $node;
  $other = $live[$i * 7 % 2000] ?? null;
  if ($other) $n += strlen($other->name) + count($other->list);
}
echo $n, "\\n";
"""
GAWK = """BEGIN {
  for (i = 0; i < 700000; i++) {
    live[i % 2000] = "some value " i " " i * 3
    split(live[i * 7 % 2000], words, " ")
    n += length(words[3])
  }
  print n
}
"""
SQL = """
drop table if exists item;
create table item(id int primary key, name text, price numeric);
insert into item select i, 'name ' || i, i * 7 % 1000 from generate_series(1, 20000) i;
""" + """
select count(*), max(name) from item a join item b on a.price = b.id where a.name like '%7%';
select price, string_agg(name, ',' order by name) from item group by price having count(*) > 30;
update item set name = md5(name) where id % 50 = 0;
""" * 60


def wait_for_port() -> None:
    for _ in range(400):
        time.sleep(0.05)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", PORT)) == 0:
                return
    raise RuntimeError("the server did not come up")


def redis_load() -> None:
    for _ in range(3):
        subprocess.run(["redis-benchmark", "-p", str(PORT), "-n", "40000", "-r", "20000", "-d", "100",
                        "-q", "-t", "set,get,lpush,lpop,hset,sadd,spop"], capture_output=True)


def web_load(paths: tuple[str, ...]) -> Callable[[], None]:
    """So many requests, however long that takes: a run's length is its work."""
    def load() -> None:
        answered = 0
        while answered < WEB_REQUESTS:
            for path in paths:
                done = subprocess.run(["wrk", "-t1", "-c24", "-d2s",
                                       f"http://127.0.0.1:{PORT}{path}"],
                                      capture_output=True, text=True)
                counts = re.findall(r"(\d+) requests in", done.stdout)
                if not counts:
                    raise RuntimeError(f"wrk: {done.stderr}")
                answered += int(counts[0])
    return load


def mosquitto_load() -> None:
    """Messages that are kept for new topics, and many that are passed on."""
    port = ["-p", str(PORT)]
    reader = subprocess.Popen(["mosquitto_sub", *port, "-t", "#"], stdout=subprocess.DEVNULL)
    for i in range(8):
        lines = "".join(f"message {n} of some length\n" for n in range(12000))
        subprocess.run(["mosquitto_pub", *port, "-t", f"topic/{i % 4}", "-q", "1", "-l"],
                       input=lines.encode(), capture_output=True)
    reader.terminate()
    reader.wait()


def nginx(folder: Path) -> Subject:
    root = folder / "nginx"
    (root / "www").mkdir(parents=True, exist_ok=True)
    (root / "www" / "index.html").write_text("<p>" + "text " * 200 + "</p>")
    config = root / "nginx.conf"
    config.write_text(f"""
daemon off; master_process off; pid {root}/pid; error_log /dev/null;
events {{ worker_connections 256; }}
http {{ access_log off; gzip on; gzip_min_length 1; root {root}/www;
  client_body_temp_path {root}; proxy_temp_path {root}; fastcgi_temp_path {root};
  uwsgi_temp_path {root}; scgi_temp_path {root};
  server {{ listen 127.0.0.1:{PORT}; location /list/ {{ alias {root}/www/; autoindex on; index none; }} }} }}
""")
    return Subject(["nginx", "-p", str(root), "-c", str(config)],
                   web_load(("/index.html", "/list/", "/nothing")), "QUIT")


def postgres(folder: Path) -> Subject | None:
    """One backend without a server, as the owner of its files: not as root."""
    home = folder / "postgres"
    initdb = shutil.which("initdb") or next(
        (str(path) for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")), None)
    if initdb is None:
        return None
    binary = str(Path(initdb).resolve().with_name("postgres"))
    home.mkdir(exist_ok=True)
    user = None
    if os.geteuid() == 0:
        user = "nobody"
        folder.chmod(0o755)
        os.chown(home, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
    if not (home / "PG_VERSION").exists():
        subprocess.run([initdb, "-D", str(home), "-U", "bench", "--auth=trust", "--no-sync"],
                       check=True, capture_output=True, user=user)
    script = folder / "postgres.sql"
    script.write_text("\n".join(" ".join(statement.split()) for statement in SQL.split(";")) + "\n")
    return Subject([binary, "--single", "-F", "-D", str(home), "postgres"], user=user, stdin=script)


def tuned(folder: Path) -> dict[str, Subject]:
    # Lives that are short beside the run: a leak is told by its rest.
    found = {name: Subject(command) for name, command in sampled.programs(folder, live=2000).items()}
    found.pop("sort", None)  # allocates a few large blocks only
    found["redis"] = Subject(sampled.redis_command(folder), redis_load)
    if "python3" in found:
        found["python3"].env["PYTHONMALLOC"] = "malloc"
    return found


def fresh(folder: Path) -> dict[str, Subject | None]:
    for name, text in (("a.rb", RUBY), ("a.php", PHP), ("a.awk", GAWK)):
        (folder / name).write_text(text)
    mosquitto = folder / "mosquitto.conf"
    mosquitto.write_text(f"listener {PORT} 127.0.0.1\nallow_anonymous true\nmax_queued_messages 100000\n")
    found = {
        "ruby": Subject(["ruby", "--disable-gems", str(folder / "a.rb")]),
        "php": Subject(["php", "-n", str(folder / "a.php")], env={"USE_ZEND_ALLOC": "0"}),
        "gawk": Subject(["gawk", "-f", str(folder / "a.awk")]),
        "lighttpd": Subject(sampled.lighttpd_command(folder), web_load(("/list/", "/nothing")), "INT"),
        "nginx": nginx(folder),
        "mosquitto": Subject(["mosquitto", "-c", str(mosquitto)], mosquitto_load),
        "postgres": postgres(folder),
    }
    return found


def installed(subjects: dict[str, Subject | None]) -> dict[str, Subject]:
    return {name: subject for name, subject in subjects.items()
            if subject is not None and shutil.which(subject.command[0])}
