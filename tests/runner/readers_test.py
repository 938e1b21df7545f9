"""The readers of what engines print."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path

import lsan
import memcheck
import plumb_json
from observed import EngineError, Frame
from truth import Count

XML = """<?xml version="1.0"?>
<valgrindoutput>
<error><kind>Leak_DefinitelyLost</kind>
  <xwhat><text>72 (16 direct, 56 indirect) bytes in 1 blocks are definitely lost</text>
    <leakedbytes>72</leakedbytes><leakedblocks>1</leakedblocks></xwhat>
  <stack><frame><ip>0x1</ip><fn>malloc</fn></frame>
    <frame><ip>0x2</ip><fn>f</fn><dir>/d</dir><file>x.c</file><line>7</line></frame></stack>
</error>
<error><kind>Leak_IndirectlyLost</kind>
  <xwhat><text>56 bytes</text><leakedbytes>56</leakedbytes><leakedblocks>2</leakedblocks></xwhat>
  <stack><frame><ip>0x2</ip><fn>f</fn><file>x.c</file><line>8</line></frame></stack>
</error>
<error><kind>Leak_PossiblyLost</kind>
  <xwhat><text>8 bytes</text><leakedbytes>8</leakedbytes><leakedblocks>1</leakedblocks></xwhat>
</error>
<error><kind>InvalidRead</kind><what>Invalid read of size 1</what></error>
</valgrindoutput>
"""
LSAN = """\
==1==ERROR: LeakSanitizer: detected memory leaks

Direct leak of 16 byte(s) in 1 object(s) allocated from:
    #0 0x7f1 in __interceptor_malloc ../../lsan_interceptors.cpp:75
    #1 0x55d in make(int, char) /d/x.cc:7
    #2 0x7f2 in __libc_start_main (/lib/libc.so.6+0x1)

Indirect leak of 56 byte(s) in 2 object(s) allocated from:
    #0 0x7f1 in f /d/x.cc:8:3

SUMMARY: LeakSanitizer: 72 byte(s) leaked in 3 allocation(s).
"""


def report(lost: int = 16) -> dict[str, object]:
    zero = {"blocks": 0, "bytes": 0}
    return {
        "schema": "plumb-report/1",
        "totals": {"allocated": {"blocks": 1, "bytes": 16}, "freed": zero, "stale": zero,
                   "lost": {"blocks": 1, "bytes": lost}, "forgotten": zero, "excluded": zero},
        "leaks": [{"kind": "lost", "blocks": 1, "bytes": 16, "indirect": zero,
                   "allocation": {"stack": [{"function": "f", "file": "x.c", "line": 7}]},
                   "loss": {"cause": "overwritten", "stack": [{"function": "g"}],
                            "holder": {"name": "p"}}}],
    }


class ReaderTest(unittest.TestCase):
    def setUp(self) -> None:
        self.temporary = tempfile.TemporaryDirectory()
        self.path = Path(self.temporary.name) / "report"

    def tearDown(self) -> None:
        self.temporary.cleanup()

    def test_memcheck(self) -> None:
        self.path.write_text(XML)
        leaks, errors = memcheck.read_xml(self.path)
        self.assertEqual([(leak.kind, leak.direct, leak.indirect) for leak in leaks],
                         [("lost", Count(1, 16), Count()), ("lost", Count(), Count(2, 56)),
                          ("forgotten", Count(1, 8), Count())])
        self.assertEqual(leaks[0].allocation[1], Frame("f", "x.c", 7))
        self.assertEqual(errors, ["InvalidRead: Invalid read of size 1"])

    def test_memcheck_cut_off(self) -> None:
        self.path.write_text(XML[:200])
        with self.assertRaises(EngineError):
            memcheck.read_xml(self.path)

    def test_lsan(self) -> None:
        direct, indirect = lsan.read_text(LSAN)
        self.assertEqual((direct.direct, direct.attributed), (Count(1, 16), False))
        self.assertEqual(direct.allocation[1], Frame("make(int, char)", "/d/x.cc", 7))
        self.assertEqual((indirect.indirect, indirect.attributed), (Count(2, 56), True))
        self.assertEqual(indirect.allocation, [Frame("f", "/d/x.cc", 8)])

    def test_plumb(self) -> None:
        self.path.write_text(json.dumps(report()))
        [leak] = plumb_json.read_report(self.path)
        self.assertEqual((leak.kind, leak.direct, leak.cause, leak.holder),
                         ("lost", Count(1, 16), "overwritten", "p"))
        self.assertEqual(leak.allocation, [Frame("f", "x.c", 7)])

    def test_plumb_totals_that_do_not_add_up(self) -> None:
        self.path.write_text(json.dumps(report(lost=15)))
        with self.assertRaisesRegex(EngineError, "fates sum to"):
            plumb_json.read_report(self.path)


if __name__ == "__main__":
    unittest.main()
