"""The judge: each aspect right, wrong and left alone; gaps strict both ways."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from build import Config
from cases import Gap
from judge import Judge, Verdict
from observed import FoundLeak, Frame, Observation
from run_cases import Result, reconcile
from source import function_at, functions
from truth import ASPECTS, Count, Label, LossPlace, Truth

SOURCE = """\
void f(int n) {
  char* p = malloc(16);
  touch(p);
  if (n) {
    g();
  }
}

void other(void) {
  f(1);
}
"""
ALL = frozenset(ASPECTS)


class JudgeTest(unittest.TestCase):
    def setUp(self) -> None:
        self.temporary = tempfile.TemporaryDirectory()
        self.source = Path(self.temporary.name) / "x_bad.c"
        self.source.write_text(SOURCE)
        self.label = Label("a", "lost", Count(1, 16), cause="scope-end", allocs=[2],
                           losses=[LossPlace(7, ("p",))], uses=[3])

    def tearDown(self) -> None:
        self.temporary.cleanup()

    def frame(self, line: int) -> Frame:
        return Frame("f", str(self.source), line)

    def leak(self, count: Count = Count(1, 16), alloc: int = 2, loss: int | None = 7,
             **more: object) -> FoundLeak:
        found = FoundLeak("lost", count, allocation=[Frame("malloc"), self.frame(alloc)],
                          cause="scope-end", holder="p", use=[self.frame(3)])
        found.loss = [Frame("free"), self.frame(loss)] if loss else None
        for name, value in more.items():
            setattr(found, name, value)
        return found

    def judge(self, leaks: list[FoundLeak], claims: frozenset[str] = ALL, optimised: bool = False,
              labels: list[Label] | None = None) -> dict[str, bool]:
        judge = Judge(self.source, Truth([self.label] if labels is None else labels), claims,
                      optimised)
        verdicts: dict[str, bool] = {}
        for verdict in judge.judge(Observation(0, b"", leaks)):
            verdicts[verdict.aspect] = verdicts.get(verdict.aspect, True) and verdict.passed
        return verdicts

    def test_all_right(self) -> None:
        self.assertEqual(self.judge([self.leak()]), dict.fromkeys(
            ["found", "false-alarm", "size", "alloc", "place", "function", "holder", "cause",
             "use"], True))

    def test_nothing_found(self) -> None:
        self.assertEqual(self.judge([]), {"found": False, "false-alarm": True})

    def test_only_what_is_claimed_is_judged(self) -> None:
        self.assertEqual(self.judge([self.leak(loss=None)], frozenset({"found"})), {"found": True})

    def test_a_claimed_place_that_is_missing_is_wrong(self) -> None:
        self.assertFalse(self.judge([self.leak(loss=None)])["place"])

    def test_wrong_size(self) -> None:
        verdicts = self.judge([self.leak(Count(1, 15))])
        self.assertFalse(verdicts["size"])
        self.assertTrue(verdicts["found"])

    def test_direct_and_indirect_are_told_apart(self) -> None:
        self.label.direct, self.label.indirect = Count(1, 16), Count(1, 16)
        self.assertFalse(self.judge([self.leak(Count(2, 32))])["size"])
        self.assertTrue(self.judge([self.leak(indirect=Count(1, 16))])["size"])

    def test_too_many_blocks_are_a_false_alarm(self) -> None:
        self.assertFalse(self.judge([self.leak(Count(2, 32))])["false-alarm"])

    def test_a_stray_leak_is_a_false_alarm(self) -> None:
        self.assertFalse(self.judge([self.leak(), self.leak(Count(1, 8), alloc=5)])["false-alarm"])
        self.assertFalse(self.judge([self.leak()], labels=[])["false-alarm"])

    def test_wrong_line_of_allocation(self) -> None:
        verdicts = self.judge([self.leak(alloc=5)])
        self.assertFalse(verdicts["alloc"])
        self.assertTrue(verdicts["found"])

    def test_place(self) -> None:
        self.assertTrue(self.judge([self.leak(loss=7)])["place"])
        self.assertFalse(self.judge([self.leak(loss=5)])["place"])
        self.assertTrue(self.judge([self.leak(loss=5)])["function"])
        self.assertFalse(self.judge([self.leak(loss=10)])["function"])

    def test_place_of_a_scope_end_when_optimised(self) -> None:
        self.assertTrue(self.judge([self.leak(loss=5)], optimised=True)["place"])
        self.assertFalse(self.judge([self.leak(loss=2)], optimised=True)["place"])
        self.assertFalse(self.judge([self.leak(loss=10)], optimised=True)["place"])

    def test_place_of_an_overwriting_is_exact_when_optimised(self) -> None:
        self.label.cause = "overwritten"
        self.assertFalse(self.judge([self.leak(loss=5)], optimised=True)["place"])

    def test_holder_cause_and_use(self) -> None:
        self.assertFalse(self.judge([self.leak(holder="q")])["holder"])
        self.assertTrue(self.judge([self.leak(holder=" p ")])["holder"])
        self.assertFalse(self.judge([self.leak(cause="overwritten")])["cause"])
        self.assertFalse(self.judge([self.leak(use=None)])["use"])

    def test_forgotten(self) -> None:
        label = Label("b", "forgotten", Count(1, 16), allocs=[2])
        kept = self.leak(kind="forgotten", loss=None)
        self.assertTrue(self.judge([kept], labels=[label])["forgotten"])
        self.assertFalse(self.judge([], labels=[label])["forgotten"])
        self.assertFalse(self.judge([self.leak()], labels=[label])["false-alarm"])


class GapTest(unittest.TestCase):
    def result(self, *verdicts: Verdict) -> Result:
        return Result("x_bad", Config("gcc", "-O0"), list(verdicts))

    def gap(self, aspect: str, label: str | None = None) -> Gap:
        return Gap("run", (), aspect, label, "why", 1)

    def test_a_wrong_answer_without_gap_fails(self) -> None:
        result = self.result(Verdict("place", "a", False, "line 9"))
        reconcile(result, [])
        self.assertEqual(result.failures, ["place(a): line 9"])

    def test_a_gap_covers_its_aspect_and_label(self) -> None:
        result = self.result(Verdict("place", "a", False), Verdict("found", "a", True))
        reconcile(result, [self.gap("place")])
        self.assertEqual((result.failures, result.gaps), ([], 1))
        result = self.result(Verdict("place", "a", False))
        reconcile(result, [self.gap("place", "b")])
        self.assertEqual(len(result.failures), 2)

    def test_what_is_only_measured_does_not_fail(self) -> None:
        result = self.result(Verdict("found", "a", False), Verdict("alloc", "a", False))
        reconcile(result, [], frozenset({"found"}))
        self.assertEqual(len(result.failures), 1)

    def test_a_gap_that_no_longer_fails_is_a_failure(self) -> None:
        result = self.result(Verdict("place", "a", True))
        reconcile(result, [self.gap("place")])
        self.assertEqual((len(result.failures), result.closed_gaps), (1, 1))


class SourceTest(unittest.TestCase):
    def test_functions(self) -> None:
        found = functions(SOURCE)
        self.assertEqual([(f.first, f.last) for f in found], [(1, 7), (9, 11)])
        self.assertIsNone(function_at(found, 8))

    def test_types_namespaces_and_literals(self) -> None:
        text = ('namespace n {\n'
                'struct S {\n'
                '  S() : x(1) {\n'
                '    puts("}");  // }\n'
                '  }\n'
                '  int x;\n'
                '};\n'
                'auto f = 1;\n'
                'int g() { return S().x; }\n'
                '}\n')
        self.assertEqual([(f.first, f.last) for f in functions(text)], [(3, 5), (9, 9)])


if __name__ == "__main__":
    unittest.main()
