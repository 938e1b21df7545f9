"""The reader of annotations: what it reads, and what it refuses."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from cases import CaseError, read_case, read_corpus
from truth import Count

GOOD = """\
// CASE: Two things happen.
// EXPECT(a): lost 1 block 16 bytes, indirect 2 blocks 20 bytes
// CAUSE(a): overwritten
// EXPECT(b): forgotten 3 blocks 9 bytes
// FLAGS: -pthread
// ARGS: one "two words"
// STATUS: signal 6
// GAP(run, -O2, clang): place(a), cause - why it is so
p = malloc(16);  // ALLOC(a)
q = malloc(3);   // ALLOC(b); USE(a)
p = q;  // LOSS(a) p | *q
return wrap();  // WRAPPER
"""


class CaseTest(unittest.TestCase):
    def setUp(self) -> None:
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self.temporary.name)

    def tearDown(self) -> None:
        self.temporary.cleanup()

    def write(self, text: str, name: str = "x_bad.c") -> Path:
        path = self.folder / name
        path.write_text(text)
        return path

    def refused(self, text: str, message: str) -> None:
        with self.assertRaisesRegex(CaseError, message):
            read_case(self.write(text))

    def test_reads_everything(self) -> None:
        case = read_case(self.write(GOOD))
        a, b = case.truth.labels
        self.assertEqual((a.direct, a.indirect), (Count(1, 16), Count(2, 20)))
        self.assertEqual((a.allocs, a.uses, a.cause), ([9], [10], "overwritten"))
        self.assertEqual([(x.line, x.holders) for x in a.losses], [(11, ("p", "*q"))])
        self.assertEqual((b.kind, b.total, b.allocs), ("forgotten", Count(3, 9), [10]))
        self.assertEqual(case.flags, ["-pthread"])
        self.assertEqual(case.args, ["one", "two words"])
        self.assertEqual(case.status, -6)
        self.assertEqual(case.truth.wrappers, [12])

    def test_a_gap_applies_where_its_conditions_hold(self) -> None:
        case = read_case(self.write(GOOD))
        self.assertEqual([(g.aspect, g.label) for g in case.gaps_for("run", "clang-19", "-O2")],
                         [("place", "a"), ("cause", None)])
        self.assertEqual(case.gaps_for("run", "clang-19", "-O0"), [])
        self.assertEqual(case.gaps_for("run", "gcc", "-O2"), [])
        self.assertEqual(case.gaps_for("check", "clang-19", "-O2"), [])

    def test_refuses_what_it_does_not_understand(self) -> None:
        self.refused(GOOD.replace("overwritten", "overwriten"), "unknown cause")
        self.refused(GOOD.replace("1 block 16", "one block 16"), "cannot read EXPECT")
        self.refused(GOOD.replace("// CASE", "// CAES"), "unknown header")
        self.refused(GOOD.replace("; USE(a)", "; USED(a)"), "cannot read marker")
        self.refused(GOOD.replace("ALLOC(a)", "ALOC(a)"), "cannot read marker")
        self.refused(GOOD.replace("ALLOC(a)", "ALLOC(z)"), "no EXPECT for the marker's label 'z'")
        self.refused(GOOD.replace("place(a)", "plaice(a)"), "unknown aspect")
        self.refused(GOOD.replace("place(a)", "place(z)"), "unknown label 'z'")
        self.refused(GOOD.replace(" - why it is so", ""), "GAP")
        self.refused(GOOD.replace("signal 6", "SIGABRT"), "STATUS")

    def test_refuses_what_does_not_fit_together(self) -> None:
        self.refused(GOOD.replace("// LOSS(a) p | *q", ""), "needs LOSS and CAUSE")
        self.refused(GOOD.replace("// ALLOC(a)", ""), "no ALLOC line")
        self.refused(GOOD.replace("LOSS(a)", "LOSS(b)"), "")
        self.refused("// CASE: x\n", "EXPECT")
        self.refused("// CASE: x\n// EXPECT: none\n// EXPECT(a): lost 1 block 1 byte\n", "EXPECT")

    def test_names_and_twins(self) -> None:
        clean = "// CASE: x\n// EXPECT: none\n"
        self.write(GOOD, "x_bad.c")
        with self.assertRaisesRegex(CaseError, "twin"):
            read_corpus(self.folder)
        self.write(clean, "x_ok.c")
        self.assertEqual([c.name for c in read_corpus(self.folder)], ["x_bad", "x_ok"])
        self.write(GOOD, "y_ok.c")
        with self.assertRaisesRegex(CaseError, "_ok and expects a loss"):
            read_corpus(self.folder)


class CorpusTest(unittest.TestCase):
    def test_every_case_of_the_corpus_can_be_read(self) -> None:
        corpus = read_corpus(Path(__file__).resolve().parent.parent / "cases")
        self.assertGreater(sum(case.truth.leaks for case in corpus), 30)


if __name__ == "__main__":
    unittest.main()
