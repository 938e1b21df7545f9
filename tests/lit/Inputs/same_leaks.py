# same_leaks.py REPORT.json FORMAT FILE: the file in another format speaks of the
# same leaks as the report: of each that is not hidden, once, by its fingerprint
# (SARIF, JUnit) or by the sum of its bytes (folded).
import json
import sys
import xml.etree.ElementTree as ElementTree

report = json.load(open(sys.argv[1]))
shown = [x for x in report["leaks"] if not x.get("known") and not x.get("suppressed")]
ids = sorted(leak["id"] for leak in shown)
if sys.argv[2] == "sarif":
    [run] = json.load(open(sys.argv[3]))["runs"]
    found = sorted(next(iter(r["partialFingerprints"].values())).split(":")[0]
                   for r in run["results"])
    assert len(found) == len(report["leaks"]), (found, ids)
    assert set(ids) <= set(found), (found, ids)
elif sys.argv[2] == "junit":
    text = open(sys.argv[3]).read()
    ElementTree.fromstring(text)
    assert all(leak["id"] in text for leak in shown if leak["kind"] == "lost"), text
elif sys.argv[2] == "folded":
    rows = [line.rsplit(" ", 1) for line in open(sys.argv[3]) if line.strip()]
    total = sum(int(row[1]) for row in rows)
    expected = sum(leak["bytes"] + leak["indirect"]["bytes"] for leak in shown)
    assert total == expected, (total, expected)
else:
    sys.exit(f"unknown format {sys.argv[2]}")
