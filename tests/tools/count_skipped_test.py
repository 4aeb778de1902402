# SPDX-License-Identifier: Apache-2.0
"""tools/count_skipped on results as ctest writes them."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RAN = '<testcase name="a" status="run"><system-out>[       OK ] no test data is a phrase here</system-out></testcase>'
NO_DATA = '<testcase name="b" status="notrun"><skipped message=""/><system-out>x_test.cpp:3: Skipped\nno test data\n</system-out></testcase>'
NO_GPU = '<testcase name="c" status="notrun"><skipped message=""/><system-out>devices.h:24: Skipped\nno GPU: no driver\n</system-out></testcase>'
NO_MPI = '<testcase name="d" status="notrun"><skipped message=""/><system-out>no MPI: SONDE_MPI=OFF\n</system-out></testcase>'


class CountSkipped(unittest.TestCase):
    def lines(self, *cases: str) -> list[str]:
        with tempfile.TemporaryDirectory(prefix="sonde-test-") as folder:
            results = pathlib.Path(folder) / "tests.xml"
            results.write_text(f'<testsuite>{"".join(cases)}</testsuite>')
            return subprocess.run([sys.executable, ROOT / "tools/count_skipped", results], capture_output=True, text=True,
                                  check=True).stdout.splitlines()

    def test_the_line_about_data_comes_last(self):
        self.assertEqual(self.lines(NO_DATA, NO_GPU, RAN, NO_DATA), ["1 test not run: no GPU: no driver",
                                                                     "2 tests not run: no test data"])

    def test_ranks_that_did_not_run_are_counted(self):
        self.assertEqual(self.lines(NO_MPI, RAN, NO_MPI), ["2 tests not run: no MPI: SONDE_MPI=OFF"])

    def test_nothing_is_said_when_every_test_ran(self):
        self.assertEqual(self.lines(RAN), [])


if __name__ == "__main__":
    unittest.main()
