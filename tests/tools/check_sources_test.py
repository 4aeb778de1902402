# SPDX-License-Identifier: Apache-2.0
"""tools/check_sources on a repository of two sources and two headers, whose batch compiles although one source lacks an include."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/check_sources"
TO_SIZE = '"sonde/room/size.h"'
OBJECT = "src/sonde/room/CMakeFiles/sonde_room.dir/Unity/unity_0_cxx.cxx.o"


class CheckSources(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="sonde-test-")
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name).resolve()
        self.room = self.root / "src/sonde/room"
        self.room.mkdir(parents=True)
        (self.root / "tools").mkdir()
        for tool in (TOOL, TOOL.with_name("history.py")):
            shutil.copy(tool, self.root / "tools")
        (self.room / "first.cpp").write_text('#include "sonde/room/size.h"\nstd::vector<int> first;\n')
        (self.room / "second.cpp").write_text("int second = 2;\n")
        batch = self.root / "build/Unity/unity_0_cxx.cxx"
        batch.parent.mkdir(parents=True)
        batch.write_text("".join(f'#include "{self.room}/{name}.cpp"\n\n' for name in ("first", "second")))
        command = f"c++ -I{self.root}/src -include {self.root}/absent.hxx -Wno-shadow -o {OBJECT} -c {batch}"
        entries = [{"directory": str(self.root), "command": command, "file": str(batch)}]
        for header in ("size", "list"):
            (self.room / f"{header}.h").write_text(f'#pragma once\n#include {"<vector>" if header == "size" else TO_SIZE}\n')
            source = self.root / f"build/header_checks/sonde/room/{header}.h.cpp"
            source.parent.mkdir(parents=True, exist_ok=True)
            source.write_text(f'#include "sonde/room/{header}.h"\n')
            entries.append({"directory": str(self.root), "command": f"c++ -I{self.root}/src -o {header}.o -c {source}", "file": str(source)})
        (self.root / "build/compile_commands.json").write_text(json.dumps(entries))
        self.git("init", "-q")
        self.commit()

    def git(self, *words: str):
        subprocess.run(["git", "-C", self.root, "-c", "user.name=test", "-c", "user.email=test@localhost", *words], check=True)

    def commit(self):
        self.git("add", "src")
        self.git("commit", "-q", "-m", "test")

    def check(self, *words: str) -> tuple[int, str]:
        done = subprocess.run([sys.executable, self.root / "tools/check_sources", self.root / "build", *words],
                              capture_output=True, text=True)
        return done.returncode, done.stdout

    def test_all_sources_compile_by_themselves(self):
        self.assertEqual(self.check("--all"), (0, "sources: 2 of 2 compile by themselves\nheaders: 2 of 2 compile by themselves\n"))

    def test_a_source_that_lives_on_its_neighbour_is_named(self):
        (self.room / "second.cpp").write_text("std::vector<int> second;\n")
        status, text = self.check("--since", "HEAD")
        self.assertEqual(status, 1)
        self.assertIn("src/sonde/room/second.cpp: does not compile by itself", text)
        self.assertIn("\nsources: 0 of 1 compile by themselves, 1 not affected since HEAD\n", text)

    def test_an_include_removed_from_a_header_is_missed_by_those_that_read_it(self):
        (self.room / "size.h").write_text("#pragma once\n")
        status, text = self.check("--since", "HEAD")
        self.assertEqual(status, 1)
        self.assertIn("src/sonde/room/first.cpp: does not compile by itself", text)
        self.assertNotIn("second.cpp", text)

    def test_a_header_that_changed_is_compiled_with_all_that_include_it(self):
        (self.room / "size.h").write_text("#pragma once\n#include <vector>\nstd::string size();\n")
        status, text = self.check("--since", "HEAD")
        self.assertEqual(status, 1)
        self.assertIn("src/sonde/room/size.h: does not compile by itself", text)
        self.assertIn("headers: 0 of 2 compile by themselves", text)
        self.commit()
        self.assertIn("headers: 0 of 0 compile by themselves, 2 not affected", self.check("--since", "HEAD")[1])

    def test_a_public_header_draws_in_no_library_and_nothing_that_is_not_public(self):
        (self.room / "private.h").write_text("#pragma once\n")
        (self.room / "list.h").write_text('#pragma once\n#include <hdf5.h>\n#include "sonde/room/private.h"\n')
        system = self.root / "usr/include"
        system.mkdir(parents=True)
        (system / "hdf5.h").write_text("")
        commands = self.root / "build/compile_commands.json"
        commands.write_text(commands.read_text().replace("c++ -I", f"c++ -isystem {system} -I"))
        status, text = self.check("--since", "HEAD")
        self.assertEqual(status, 1)
        self.assertIn(f"src/sonde/room/list.h: draws in {system}/hdf5.h", text)
        self.assertIn("src/sonde/room/list.h: includes sonde/room/private.h, which is not a public header", text)
        self.assertIn("headers: 0 of 1 compile by themselves, 1 not affected", text)


if __name__ == "__main__":
    unittest.main()
