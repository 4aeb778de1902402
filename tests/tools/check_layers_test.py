# SPDX-License-Identifier: Apache-2.0
"""tools/check_layers on a copy of the sources with one planted include."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class CheckLayers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="sonde-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.copy = pathlib.Path(folder.name)
        for folder in ("src", "web/src"):
            shutil.copytree(ROOT / folder, cls.copy / folder)

    def check(self):
        return subprocess.run([sys.executable, ROOT / "tools/check_layers", "--root", self.copy],
                              capture_output=True, text=True, check=False)

    def plant(self, file: str, include: str):
        """Until the end of the test."""
        path = self.copy / "src/sonde" / file
        before = path.read_text() if path.exists() else None
        self.addCleanup(path.unlink if before is None else lambda: path.write_text(before))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{before or ''}\n#include {include}\n")

    def refuses(self, message: str):
        result = self.check()
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(message, result.stdout)

    def test_the_sources_are_in_order(self):
        result = self.check()
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_a_lower_engine_room_may_not_include_a_higher_one(self):
        self.plant("engine/base/error.cpp", '"sonde/engine/memory/budget.h"')
        self.refuses("engine/base may not include engine/memory")

    def test_the_engine_may_not_include_an_instrument(self):
        self.plant("engine/memory/budget.h", '"sonde/instruments/stem/image/mask.h"')
        self.refuses("engine/memory may not include instruments/stem")

    def test_an_instrument_may_not_include_another(self):
        self.plant("instruments/ptycho/probe.h", '"sonde/engine/base/index.h"')
        self.plant("instruments/stem/image/mask.h", '"sonde/instruments/ptycho/probe.h"')
        self.refuses("instruments/stem may not include instruments/ptycho")

    def test_a_folder_in_a_room_belongs_to_the_room(self):
        self.plant("instruments/stem/read/mrc/mrc.h", '"sonde/instruments/stem/load/load_options.h"')
        self.refuses("instruments/stem/read may not include instruments/stem/load")

    def test_a_call_of_the_file_system_that_throws_is_refused(self):
        path = self.copy / "src/sonde/instruments/stem/image/throwing.cpp"
        self.addCleanup(path.unlink)
        path.write_text("bool a() { return std::filesystem::exists(f(1, {2})); }\n")
        self.refuses("image/throwing.cpp:1: std::filesystem::exists may throw")
        path.write_text("void a() {\n  for (const auto& e : fs::directory_iterator(path)) use(e);\n}\n")
        self.refuses("image/throwing.cpp:2: std::filesystem::directory_iterator may throw")

    def test_a_call_of_the_file_system_with_an_error_code_is_not(self):
        path = self.copy / "src/sonde/instruments/stem/image/asking.cpp"
        self.addCleanup(path.unlink)
        path.write_text("std::error_code ignored;\nbool a() { return fs::exists(f(1, {2}), ignored) && fs::path(b).has_stem(); }\n")
        self.assertEqual(self.check().returncode, 0)

    def test_rooms_on_one_line_may_not_include_each_other(self):
        self.plant("engine/panel/page.h", '"sonde/engine/base/index.h"')
        self.plant("engine/figure/chart.h", '"sonde/engine/panel/page.h"')
        self.refuses("engine/figure may not include engine/panel")

    def test_serve_may_not_include_an_instrument(self):
        self.plant("app/serve/server.cpp", '"sonde/instruments/stem/image/mask.h"')
        self.refuses("app/serve may not include instruments/stem")

    def test_a_lower_room_of_an_instrument_may_not_include_a_higher_one(self):
        self.plant("instruments/stem/layout/resident.h", '"sonde/instruments/stem/read/source.h"')
        self.refuses("instruments/stem/layout may not include instruments/stem/read")

    def test_a_test_may_use_every_room_of_its_library(self):
        self.plant("engine/base/error_test.cpp", '"sonde/engine/memory/budget.h"')
        self.plant("instruments/stem/layout/resident_test.cpp", '"sonde/instruments/stem/read/source.h"')
        self.assertEqual(self.check().returncode, 0)

    def test_a_test_of_the_engine_may_not_use_an_instrument(self):
        self.plant("engine/base/error_test.cpp", '"sonde/instruments/stem/image/mask.h"')
        self.refuses("engine/base may not include instruments/stem")

    def test_heavy_headers_stay_in_their_files(self):
        self.plant("engine/base/text.cpp", "<nlohmann/json.hpp>")
        self.refuses("the heavy header <nlohmann/json.hpp> belongs only in sonde/engine/report/json.cpp")

    def test_a_header_that_is_not_there_is_named(self):
        self.plant("engine/memory/budget.cpp", '"sonde/engine/base/no_such.h"')
        self.refuses('no such header: "sonde/engine/base/no_such.h"')

    def test_a_file_of_the_client_for_every_page_may_not_speak_of_an_instrument(self):
        path = self.copy / "web/src/model/session.ts"
        before = path.read_text()
        self.addCleanup(lambda: path.write_text(before))
        for line, word in (('if (view === "stem") draw();', "stem"), ("sendDetector(channel: number): void {}", "Detector")):
            path.write_text(f"{line}\n{before}")
            self.refuses(f'web/src/model/session.ts:1: "{word}": this file is for every page')

    def test_a_room_outside_the_table_is_named(self):
        self.plant("engine/attic/old.h", '"sonde/engine/base/index.h"')
        self.refuses("engine/attic is not in the table of rooms")


if __name__ == "__main__":
    unittest.main()
