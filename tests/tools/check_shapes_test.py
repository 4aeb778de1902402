# SPDX-License-Identifier: Apache-2.0
"""tools/check_shapes on a copy of the sources in which a shape is named, or half of one is absent."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = "src/sonde/instruments/stem/image/detector_shapes.cpp"


class CheckShapes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sonde-test-")
        self.addCleanup(folder.cleanup)
        self.copy = pathlib.Path(folder.name)
        for part in ("src/sonde/instruments/stem", "web/src"):
            shutil.copytree(ROOT / part, self.copy / part)

    def check(self):
        return subprocess.run([sys.executable, ROOT / "tools/check_shapes", "--root", self.copy],
                              capture_output=True, text=True, check=False)

    def refuses(self, message: str):
        result = self.check()
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(message, result.stdout)

    def plant(self, file: str, line: str):
        with open(self.copy / file, "a", encoding="utf-8") as source:
            source.write(line + "\n")

    def test_the_sources_are_in_order(self):
        result = self.check()
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_a_file_of_the_page_may_not_name_a_shape(self):
        self.plant("web/src/panels/overlay.ts", 'export const isRound = (kind: string) => kind === "circle";')
        self.refuses('panels/overlay.ts:')

    def test_a_file_of_the_program_may_not_name_a_shape(self):
        self.plant("src/sonde/instruments/stem/view/painter.cpp", 'const char* round = "runs";')
        self.refuses('names the shape "runs"')

    def test_tests_may_name_shapes(self):
        self.plant("web/src/tools/tools.test.ts", 'export const kind = "polygon";')
        self.assertEqual(self.check().returncode, 0)

    def test_a_shape_of_the_program_has_a_file_of_the_page(self):
        (self.copy / "web/src/tools/shapes/segment.ts").unlink()
        self.refuses("segment has no file web/src/tools/shapes/segment.ts")

    def test_a_file_of_the_page_has_a_shape_of_the_program(self):
        table = self.copy / TABLE
        table.write_text(table.read_text().replace('.name = "point"', '.name = "pixel"'))
        self.refuses("web/src/tools/shapes/point.ts: point has no row")


if __name__ == "__main__":
    unittest.main()
