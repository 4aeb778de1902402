# SPDX-License-Identifier: Apache-2.0
"""pip install --no-build-isolation --no-deps ./python: CMake builds the module, setuptools packs it.

SONDE_BUILD names a build folder to take it from (and to bring up to date); else a release build is made. CMAKE_ARGS are
further arguments for that one.
"""

import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent


class CMakeBuild(build_ext):
    def build_extension(self, ext: Extension) -> None:
        build = os.environ.get("SONDE_BUILD")
        if build is None:
            build = str(pathlib.Path(self.build_temp).resolve() / "cmake")
            subprocess.run(["cmake", "-S", SOURCE, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DSONDE_PYTHON=ON",
                            "-DSONDE_TESTS=OFF", f"-DPython_EXECUTABLE={sys.executable}",
                            *shlex.split(os.environ.get("CMAKE_ARGS", ""))], check=True)
        prefix = str(pathlib.Path(self.build_temp).resolve() / "prefix")
        subprocess.run(["cmake", "--build", build, "--target", "sonde_python"], check=True)
        # Installed, not copied: what a build tree holds names its own folders.
        subprocess.run(["cmake", "--install", build, "--prefix", prefix, "--component", "python"], check=True)
        target = pathlib.Path(self.get_ext_fullpath(ext.name))
        (made,) = pathlib.Path(prefix).rglob("_sonde.*.so")
        target.parent.mkdir(parents=True, exist_ok=True)
        # Which files there are depends on the instruments of the build: the package is what was installed.
        for file in filter(pathlib.Path.is_file, made.parent.rglob("*")):
            place = target.parent / file.relative_to(made.parent)
            place.parent.mkdir(parents=True, exist_ok=True)
            self.copy_file(str(file), str(place))


# Nothing is left in the sources.
scratch = tempfile.TemporaryDirectory(prefix="sonde-pip-")
version = re.search(r"project\(sonde VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)

setup(
    name="sonde",
    version=version,
    description="Physical questions of very large arrays, exactly: 4D-STEM files to virtual images",
    license="Apache-2.0",
    python_requires=">=3.11",
    install_requires=["numpy"],
    packages=[],
    ext_modules=[Extension("sonde._sonde", sources=[])],
    options={"build": {"build_base": scratch.name}, "egg_info": {"egg_base": scratch.name}},
    cmdclass={"build_ext": CMakeBuild},
)
