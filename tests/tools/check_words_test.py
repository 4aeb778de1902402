# SPDX-License-Identifier: Apache-2.0
"""tools/check_words on small trees."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class CheckWords(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sonde-test-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, name: str, text: str):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run_tool(self):
        return subprocess.run([sys.executable, ROOT / "tools/check_words", "--root", self.root],
                              capture_output=True, text=True, check=False)

    def finding(self, name: str, text: str) -> str:
        """The only finding for a file of this text."""
        self.write(name, text)
        result = self.run_tool()
        self.assertEqual(result.returncode, 1)
        self.assertIn("words: 1 findings", result.stdout)
        return result.stdout.splitlines()[0]

    def passes(self, name: str, text: str):
        self.write(name, text)
        result = self.run_tool()
        self.assertEqual((result.returncode, result.stdout.count("\n")), (0, 1), result.stdout)

    def test_plain_words_pass(self):
        self.passes("docs/a.md", "Only the CPU computes this. The program reports it.\n")

    def test_a_word_of_a_page_is_named_with_its_line_and_what_to_write(self):
        self.assertEqual(self.finding("docs/a.md", "# A\n\nIt runs on the CPU alone.\n").split(";")[0],
                         'docs/a.md:3: "alone" in "... # A It runs on the CPU alone. ..."')

    def test_code_and_links_of_a_page_are_left_out(self):
        self.passes("README.md", "```\nsonde --alone\n```\n`told` and [a page](docs/lane.md)\n")

    def test_generated_pages_are_left_out(self):
        self.passes("docs/commands/a.md", "alone\n")

    def test_a_string_of_the_program_is_named(self):
        self.assertIn('src/a.cpp:2: "tells"', self.finding("src/a.cpp", 'int a;\nauto help = "what tells more";\n'))

    def test_a_phrase_over_two_literals_is_found_in_its_line(self):
        self.assertIn('src/a.cpp:2: "is no file"', self.finding("src/a.cpp", 'f("a.h5 "\n  "is no "\n  "file");\n'))

    def test_a_raw_string_is_a_string(self):
        self.assertIn('src/a.cpp:1: "nobody"', self.finding("src/a.cpp", 'auto a = R"(nobody)";\n'))

    def test_names_and_characters_are_no_strings(self):
        self.passes("src/a.cpp", "int told = '\"', alone = told;  // a count\n")

    def test_strings_of_tests_are_left_out(self):
        self.passes("src/a_test.cpp", 'auto a = "alone";\n')

    def test_a_comment_may_say_lie_but_not_alone(self):
        self.passes("src/a.h", "// The elements lie in a row.\n")
        self.assertIn('src/a.h:2: "alone"', self.finding("src/a.h", "// The elements lie in a row\n// alone.\n"))

    def test_a_section_of_an_unknown_document_is_named_also_in_tests(self):
        self.assertIn("specification 4.8", self.finding("src/a_test.cpp", "// as specification 4.8 has it\n"))

    def test_a_published_specification_is_none(self):
        self.passes("src/a.h", "// By the HDF5 File Format Specification.\n")

    def test_a_docstring_is_checked_and_code_is_not(self):
        self.passes("python/sonde/a.py", 'alone = "told"\n')
        self.assertIn('python/sonde/a.py:2: "alone"', self.finding("python/sonde/a.py", 'def f():\n    """The CPU alone."""\n'))

    def test_there_is_no_and_no_longer_are_plain_english(self):
        self.passes("docs/a.md", "There is no file. It is no longer read. There are no files.\n")

    def test_an_allowed_phrase_passes_and_the_word_elsewhere_does_not(self):
        self.write("tools/words_allowed.txt", "# why\nstand-alone page: a term\n")
        self.assertIn("docs/a.md:3", self.finding("docs/a.md", "A stand-alone\npage.\nThis alone.\n"))

    def test_a_quoted_phrase_is_a_whole_string(self):
        self.write("tools/words_allowed.txt", '"goes on": a stored value\n')
        self.write("src/a.cpp", 'auto a = "goes on";\n')
        self.assertIn("src/b.cpp:1", self.finding("src/b.cpp", 'auto b = "it goes on";\n'))

    def test_a_phrase_that_is_used_nowhere_is_named(self):
        self.write("tools/words_allowed.txt", "left alone: idiom\n")
        self.assertIn('"left alone" is used nowhere', self.finding("docs/a.md", "Nothing.\n"))

    def test_a_phrase_without_a_reason_is_refused(self):
        self.write("tools/words_allowed.txt", "left alone\n")
        result = self.run_tool()
        self.assertEqual(result.returncode, 1)
        self.assertIn("words_allowed.txt:1: a phrase needs its reason", result.stderr)


if __name__ == "__main__":
    unittest.main()
