# SPDX-License-Identifier: Apache-2.0
"""tools/touched_instruments in a repository made for it."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOUR = 3600


class TouchedInstruments(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="sonde-test-")
        self.root = pathlib.Path(self.folder.name)
        self.now = 1_700_000_000
        self.git("init", "-q", "-b", "main")
        (self.root / "tools").mkdir()
        for tool in ("touched_instruments", "history.py"):
            shutil.copy(ROOT / "tools" / tool, self.root / "tools")
        self.commit("CMakeLists.txt", "src/sonde/instruments/stem/CMakeLists.txt", "src/sonde/instruments/ptycho/CMakeLists.txt",
                    "src/sonde/engine/io/npy.cpp")

    def tearDown(self):
        self.folder.cleanup()

    def git(self, *words):
        there = {"GIT_AUTHOR_DATE": f"{self.now} +0000", "GIT_COMMITTER_DATE": f"{self.now} +0000", "GIT_CONFIG_GLOBAL": os.devnull}
        subprocess.run(["git", "-C", self.root, "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True, capture_output=True,
                       env=os.environ | there)

    def commit(self, *paths, hours=1):
        self.now += int(hours * HOUR)
        for path in paths:
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("a") as text:
                text.write(f"{self.now}\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a change")

    def touched(self):
        return subprocess.run([sys.executable, self.root / "tools/touched_instruments"], capture_output=True, text=True,
                              check=True).stdout.strip()

    def quiet_days(self):
        for _ in range(11):
            self.commit("docs/page.md", hours=24)

    def test_what_is_shared_touches_the_instrument_that_stands_on_all_of_it(self):
        for path in ("src/sonde/engine/io/npy.cpp", "CMakeLists.txt", "CMakePresets.json", "src/sonde/app/cli/main.cpp", "cmake/rooms.cmake"):
            self.quiet_days()
            self.assertEqual(self.touched(), "", path)
            self.commit(path)
            self.assertEqual(self.touched(), "stem", path)
            self.commit("src/sonde/instruments/ptycho/run/job.cpp")
            self.assertEqual(self.touched(), "ptycho;stem", path)

    def test_an_instrument_is_touched_by_its_sources(self):
        self.quiet_days()
        self.commit("src/sonde/instruments/ptycho/run/job.cpp", "docs/ptycho.md")
        self.assertEqual(self.touched(), "ptycho")
        self.commit("src/sonde/instruments/stem/load/load.h")
        self.assertEqual(self.touched(), "ptycho;stem")

    def test_a_test_by_itself_touches_none(self):
        self.quiet_days()
        self.commit("src/sonde/instruments/ptycho/run/job_test.cpp", "src/sonde/engine/io/npy_test.cpp", "tests/cli/stem_load_test.cpp",
                    "tests/support/errors.h")
        self.assertEqual(self.touched(), "")

    def test_what_no_sanitiser_builds_touches_none(self):
        self.quiet_days()
        self.commit("web/src/page.tsx", "python/src/view.cpp", "src/sonde/instruments/stem/layout/transpose_cuda.cu", "assets/net.ckpt", "README.md")
        self.assertEqual(self.touched(), "")

    def test_three_hours_count_and_ten_commits_at_least(self):
        self.assertEqual(self.touched(), "all")  # all of history
        self.quiet_days()
        self.commit("src/sonde/instruments/stem/load/load.cpp")
        for _ in range(12):
            self.commit("src/sonde/instruments/ptycho/run/job.cpp", hours=0.2)
        self.assertEqual(self.touched(), "ptycho;stem")  # the first commit, too, is of the last three hours
        for _ in range(9):
            self.commit("docs/page.md", hours=24)
        self.assertEqual(self.touched(), "ptycho")

    def test_a_branch_counts_from_where_it_began(self):
        self.git("checkout", "-q", "-b", "change")
        self.commit("src/sonde/instruments/stem/load/load.cpp")
        self.assertEqual(self.touched(), "stem")


if __name__ == "__main__":
    unittest.main()
