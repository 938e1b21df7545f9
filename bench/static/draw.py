"""Which packages the sample of findings is taken from: a seeded draw, by a rule.

usage: draw.py [--work=DIR] [--most=N]

Candidates are the source packages of the machine's Debian archive that
  - make something for amd64 whose tags say that it is implemented in C or C++, or is for
    programs in C++;
  - need nothing to be built beyond Debian's tools and what LIBRARIES lists;
  - have an upstream archive of 150 kB to 6 MB, which is what 20 to 150 thousand
    lines come in;
  - nothing here was made with: neither a table of the benches nor a label has them.
They are put in an order by SEED, C and C++ apart. In that order, one is taken when the
archive still has it, it has a configure script, a CMakeLists.txt or a Makefile, compiles,
and has 20 to 150 thousand lines in its sources; until there are enough. Who comes out is written down in packages.py (SAMPLE),
who was passed over, and why, in docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import packages as sources  # noqa: E402

SEED = 9
SIZES = range(150_000, 6_000_000)
TOOLS = r"debhelper|debhelper-compat|dh-.*|dpkg-dev|autoconf|automake|autotools-dev|libtool|cmake|" \
        r"pkg-config|pkgconf|bison|flex|gettext|texinfo|help2man|perl|po-debconf|quilt|cdbs|" \
        r"autopoint|groff|docbook.*|xsltproc|xmlto|asciidoc.*|man2html|autoconf-archive|m4|" \
        r"html2text|txt2man|ghostscript|imagemagick|hardening-wrapper|lsb-release|python3|gperf"
LIBRARIES = r"libncurses.*-dev|zlib1g-dev|libbz2-dev|liblzma-dev|libreadline-dev|libssl-dev|" \
            r"libexpat1-dev|libxml2-dev|libpng-dev|libjpeg-dev|libpcre.*-dev|libcap-dev|libacl1-dev|" \
            r"libattr1-dev|libselinux1-dev|libpam0g-dev|libcrypt-dev|libmagic-dev|libsqlite3-dev"
FREE = re.compile(rf"(?:{TOOLS}|{LIBRARIES})$")


def stanzas(command: list[str]):
    """Of `Key: value` blocks; lines that go on are joined."""
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for block in text.split("\n\n"):
        fields: dict[str, str] = {}
        key = ""
        for line in block.splitlines():
            if line[:1] in " \t":
                fields[key] += "\n" + line.strip()
            elif ": " in line or line.endswith(":"):
                key, _, value = line.partition(":")
                fields[key] = value.strip()
        yield fields


def languages() -> dict[str, set[str]]:
    """By source package, of what it makes, as far as it has tags."""
    out: dict[str, set[str]] = {}
    for each in stanzas(["apt-cache", "dumpavail"]):
        tags = set(re.split(r"[,\s]+", each.get("Tag", "")))
        source = each.get("Source", each.get("Package", "")).split(" ")[0]
        for tag in tags:
            if match := re.match(r"(?:implemented-in::|devel::lang:)(c|c\+\+)$", tag):
                out.setdefault(source, set()).add(match[1].upper())
    return out


def needs(fields: dict[str, str]) -> set[str]:
    names = set()
    for word in ("Build-Depends", "Build-Depends-Arch"):
        for part in fields.get(word, "").replace("\n", " ").split(","):
            first = part.split("|")[0].strip()
            if "<!nocheck>" in first or "<!nodoc>" in first or not first:
                continue
            if re.search(r"\[(?!.*(amd64|linux-any|!hurd|!kfreebsd)).*\]", first):
                continue
            names.add(re.split(r"[ (:\[<]", first)[0])
    return names


def known() -> set[str]:
    """What the benches have, by any of their names."""
    here = Path(__file__).resolve().parent
    text = "\n".join(path.read_text() for path in [*here.parent.glob("*.py"), here / "packages.py"])
    return set(re.findall(r'"([a-z0-9.+-]+)"', text)) | {p.stem for p in (here / "labels").glob("*.json")}


def candidates(conf: Path) -> dict[str, list[str]]:
    spoken, used = languages(), known()
    out: dict[str, set[str]] = {"C": set(), "C++": set()}
    lists = subprocess.run(["apt-get", "-c", str(conf), "indextargets", "--format", "$(FILENAME)",
                            "Created-By: Sources"], capture_output=True, text=True).stdout.split()
    for each in stanzas(["/usr/lib/apt/apt-helper", "cat-file", *lists]):
        name = each.get("Package", "")
        if name not in spoken or name in used or "main" not in each.get("Directory", ""):
            continue
        upstream = [int(line.split()[1]) for line in each.get("Files", "").splitlines()
                    if ".orig.tar" in line and not line.endswith(".asc")]
        if not upstream or upstream[0] not in SIZES or len(upstream) > 1:
            continue
        if all(FREE.match(need) for need in needs(each)):
            language = "C++" if "C++" in spoken[name] else "C"
            out[language].add(name)
    return {language: sorted(names) for language, names in out.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path)
    parser.add_argument("--most", type=int, default=40)
    options = parser.parse_args()
    folder = (options.work or Path(tempfile.mkdtemp(prefix="plumb-draw-"))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for language, names in candidates(sources.archives(folder)).items():
        random.Random(SEED).shuffle(names)
        print(f"{language}, of {len(names)}:", *names[:options.most])
    return 0


if __name__ == "__main__":
    sys.exit(main())
