# SPDX-License-Identifier: Apache-2.0
"""tools/check_docs and tools/check_licences on small trees."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Checks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sonde-test-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, name: str, text: str):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def run_tool(self, tool: str, *options):
        return subprocess.run([sys.executable, ROOT / "tools" / tool, "--root", self.root, *options],
                              capture_output=True, text=True, check=False)

    def test_links_that_lead_somewhere_pass(self):
        self.write("docs/engine.md", "# The engine\n")
        self.write("README.md", "[engine](docs/engine.md#the-engine) [web](https://example.org) `docs/engine.md`\n")
        self.assertEqual(self.run_tool("check_docs").returncode, 0)

    def test_a_broken_link_is_named_with_its_page(self):
        self.write("README.md", "[engine](docs/engine.md)\n")
        result = self.run_tool("check_docs")
        self.assertEqual(result.returncode, 1)
        self.assertIn("README.md: the link docs/engine.md leads nowhere", result.stdout)

    def test_a_missing_anchor_is_named(self):
        self.write("docs/engine.md", "# The engine\n")
        self.write("README.md", "[engine](docs/engine.md#wheels)\n")
        self.assertIn("docs/engine.md has no heading #wheels", self.run_tool("check_docs").stdout)

    def test_a_path_that_is_not_there_is_named(self):
        self.write("README.md", "Read `src/sonde/engine/nothing.h`.\n")
        self.assertIn("there is no src/sonde/engine/nothing.h", self.run_tool("check_docs").stdout)

    def test_a_command_that_the_program_refuses_is_named(self):
        program = self.write("sonde", '#!/bin/sh\n[ "$1 $2" = "stem load" ]\n')
        program.chmod(0o755)
        self.write("README.md", "```\nsonde stem load scan.h5\nsonde stem fly scan.h5\n```\n")
        result = self.run_tool("check_docs", "--sonde", program)
        self.assertEqual(result.returncode, 1)
        self.assertIn("README.md: `sonde stem fly` is not a command", result.stdout)
        self.assertNotIn("stem load", result.stdout)

    def test_a_row_that_names_no_test_is_named(self):
        self.write("src/a_test.cpp", "TEST(Load, EveryBin) {\nTYPED_TEST(Kernels, Bins) {\n")
        self.write("src/b_fuzz.cpp", "")
        self.write("docs/verification.md", "| 5 | sums | unit | `Load.Every\\|Kernels.*Bins\\|b_fuzz_replay\\|Load.Gone` |\n")
        result = self.run_tool("check_docs")
        self.assertEqual(result.returncode, 1)
        self.assertIn("docs/verification.md: no test is called Load.Gone", result.stdout)
        self.assertIn("documentation: 1 findings", result.stdout)

    def test_a_test_in_two_rows_is_named(self):
        self.write("src/a_test.cpp", "TEST(Load, EveryBin) {\nTEST(Load, Bins) {\n")
        self.write("docs/verification.md", "| 1 | sums | unit | `Load.(EveryBin\\|Bins)` |\n| 2 | bins | unit | `Load.Every` |\n")
        result = self.run_tool("check_docs")
        self.assertEqual(result.returncode, 1)
        self.assertIn("Load.EveryBin is in the rows Load.(EveryBin|Bins) and Load.Every\n", result.stdout)
        self.assertIn("documentation: 1 findings", result.stdout)

    def test_a_source_without_its_licence_line_is_named(self):
        self.write("src/a.h", "// SPDX-License-Identifier: Apache-2.0\n#pragma once\n")
        self.write("src/b.h", "#pragma once\n")
        result = self.run_tool("check_licences")
        self.assertEqual(result.returncode, 1)
        self.assertIn("src/b.h: no ", result.stdout)
        self.assertNotIn("src/a.h", result.stdout)


if __name__ == "__main__":
    unittest.main()
