"""The generator: same seed, same bytes; its annotations and its truth agree."""

from __future__ import annotations

import json
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "runner")]

from cases import read_case  # noqa: E402
from generate import generate, write_program  # noqa: E402

SEEDS = range(1, 40)


class GenerateTest(unittest.TestCase):
    def test_same_seed_same_program(self) -> None:
        for lang in ("c", "c++"):
            self.assertEqual(generate(7, lang).assemble()[0], generate(7, lang).assemble()[0])
            self.assertNotEqual(generate(7, lang).assemble()[0], generate(8, lang).assemble()[0])

    def test_truth_is_what_the_annotations_say(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            for seed in SEEDS:
                for lang in ("c", "c++"):
                    source = write_program(seed, lang, Path(name))
                    labels = read_case(source).truth.labels
                    objects = json.loads(source.with_suffix(".json").read_text())["objects"]
                    self.assertEqual(
                        [(x.name, x.kind, x.direct.blocks, x.direct.bytes, x.indirect.bytes,
                          x.cause, x.allocs, x.uses, [loss.line for loss in x.losses])
                         for x in labels],
                        [(o["label"], o["kind"], o["blocks"], o["bytes"], o["indirect"]["bytes"],
                          o["cause"], o["allocations"], o["uses"],
                          [loss["line"] for loss in o["losses"]]) for o in objects])

    def test_slices_hold_leaks_of_many_causes_and_clean_programs(self) -> None:
        causes: set[str | None] = set()
        for seed in SEEDS:
            for lang in ("c", "c++"):
                causes |= {label.cause for label in generate(seed, lang).assemble()[1].labels}
        self.assertLessEqual({"scope-end", "overwritten", "holder-freed", "discarded",
                              "escaped-throw", None}, causes)


if __name__ == "__main__":
    unittest.main()
