# SPDX-License-Identifier: Apache-2.0
"""tools/show_failures on results as ctest writes them."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PASSED = '<testcase name="good" time="1" status="run"><system-out>all is well</system-out></testcase>'
SKIPPED = '<testcase name="gpu" time="1" status="notrun"><skipped message=""/><system-out>no GPU: no driver</system-out></testcase>'
ABSENT = '<testcase name="absent" time="0" status="notrun"><skipped message="Unable to find executable"/><system-out>Unable to find executable: x</system-out></testcase>'


def failed(name: str, output: str) -> str:
    return f'<testcase name="{name}" time="2.6" status="fail"><failure message=""/><system-out>{output}</system-out></testcase>'


class ShowFailures(unittest.TestCase):
    def lines(self, *cases: str, characters: int | None = None) -> list[str]:
        with tempfile.TemporaryDirectory(prefix="sonde-test-") as folder:
            results = pathlib.Path(folder) / "tests.xml"
            results.write_text(f'<testsuite>{"".join(cases)}</testsuite>')
            more = [] if characters is None else [str(characters)]
            return subprocess.run([sys.executable, ROOT / "tools/show_failures", results, *more], capture_output=True, text=True,
                                  check=True).stdout.splitlines()

    def test_nothing_is_said_when_every_test_passed_or_was_skipped(self):
        self.assertEqual(self.lines(PASSED, SKIPPED), [])

    def test_each_is_named_with_its_output_and_all_in_the_last_line(self):
        self.assertEqual(self.lines(failed("a", "one\ntwo\n"), PASSED, failed("b", "three")),
                         ["-- a failed after 3 s", "one", "two", "-- b failed after 3 s", "three", "-- failed: a b"])

    def test_a_program_that_is_not_there_has_failed(self):
        self.assertEqual(self.lines(ABSENT)[-1], "-- failed: absent")

    def test_of_a_long_output_the_end_is_shown(self):
        output = "\n".join(f"line {i}" for i in range(1000))
        self.assertEqual(self.lines(failed("a", output))[1:-1], [f"line {i}" for i in range(940, 1000)])

    def test_several_tests_share_the_room(self):
        shown = self.lines(*(failed(name, name * 5000) for name in "abcd"), characters=400)
        self.assertEqual([line for line in shown if not line.startswith("--")], [name * 100 for name in "abcd"])

    def test_of_googletest_what_passed_is_left_out(self):
        output = "[ RUN      ] A.B\na_test.cpp:3: Failure\n[  FAILED  ] A.B (1 ms)\n" + "[ RUN      ] A.C\n[       OK ] A.C (0 ms)\n" * 200
        self.assertEqual(self.lines(failed("a", output))[1:-1], ["a_test.cpp:3: Failure", "[  FAILED  ] A.B (1 ms)"])

    def test_of_vitest_the_first_failures_are_shown_without_their_colours(self):
        escape = "[NON-XML-CHAR-0x1B]"
        output = f" \u2713 test/good.test.ts (1 test)\n{escape}[31m FAIL {escape}[0m test/a.test.ts > is green\nexpected blue\n" + "a line of code\n" * 100
        shown = self.lines(failed("web_browser", output))
        self.assertEqual((shown[1:3], len(shown)), ([" FAIL  test/a.test.ts > is green", "expected blue"], 62))


if __name__ == "__main__":
    unittest.main()
