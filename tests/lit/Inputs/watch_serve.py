"""The live page of a program that plumb starts: while it runs, when it has ended,
and when the program is started again. Says what a page that asks for news is told."""

import atexit
import json
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

plumb, program = sys.argv[1:]
OPTIONS = ["--epoch=5ms", "--sample=4k", "--output=/dev/null"]


def start(*options: str) -> subprocess.Popen:
    process = subprocess.Popen([plumb, "watch", *options, *OPTIONS, "--", program, "-"],
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    atexit.register(process.kill)  # when something goes wrong; otherwise it has ended
    return process


def status_of(address: str, **headers: str) -> int:
    try:
        return urllib.request.urlopen(urllib.request.Request(address, headers=headers)).status
    except urllib.error.HTTPError as error:
        return error.code


def news_until(condition) -> dict:
    """What the page is told, as soon as it is so."""
    for _ in range(600):
        news = json.load(urllib.request.urlopen(address + "data?have=0"))
        if condition(news):
            return news
        time.sleep(0.1)
    sys.exit("it did not come about in a minute")


def has_leak(news: dict) -> bool:
    return any(leak["kind"] == "stale" for leak in news["report"]["leaks"])


first = start("--serve")
address = re.search(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/", first.stderr.readline()).group()
print("page", status_of(address))
print("other host", status_of(address, Host="evil.example"))
print("no token", status_of(address.rsplit("/", 2)[0] + "/"))
news = news_until(lambda news: not news["ended"] and has_leak(news))
old = news["report"]["subject"]["pid"]
print("running")

first.stdin.close()
# The page may know of the end before plumb has the last report.
news = news_until(lambda news: news["ended"] and "status" in news["report"]["subject"])
print("ended, same process:", news["report"]["subject"]["pid"] == old,
      "leak still shown:", has_leak(news), "status", news["report"]["subject"]["status"])

second = start()
news = news_until(lambda news: not news["ended"] and has_leak(news))
print("running again, other process:", news["report"]["subject"]["pid"] != old)
second.stdin.close()
print("second ends", second.wait())
news_until(lambda news: news["ended"])
print("page stays", status_of(address))

first.send_signal(signal.SIGTERM)
print("first ends", first.wait())
