# SPDX-License-Identifier: Apache-2.0
"""The package itself: names, documentation and type stubs that agree with what is there."""

import ast
import inspect
import os
import pathlib
import subprocess
import sys

import pytest

import sonde
from sonde import _options, _sonde

PACKAGE = pathlib.Path(sonde.__file__).parent


def test_the_version_is_that_of_the_program():
    printed = subprocess.run([os.environ["SONDE_PROGRAM"], "--version"], capture_output=True, text=True, check=True).stdout
    build = sonde.build_info()
    assert printed.startswith(f"sonde {sonde.__version__} ({build['revision']})")
    assert sonde.devices()[0]["device"] == "cpu"


def test_keywords_are_the_flags_of_the_program():
    page = subprocess.run([os.environ["SONDE_PROGRAM"], "help", "stem", "load"], capture_output=True, text=True, check=True).stdout
    for keyword in inspect.signature(sonde.stem.load_folder).parameters:
        if keyword not in ("path", "progress"):
            assert "--" + keyword.replace("_", "-") in page or "--[no-]" + keyword.replace("_", "-") in page, keyword


LOADED = """
import sys
def loaded():
    with open("/proc/self/maps") as maps:
        return {line.split()[-1] for line in maps if ".so" in line}
import numpy  # which brings an algebra of its own
before = loaded()
import sonde
"""


def added(script):
    """The libraries that `script` adds to those of NumPy."""
    script = LOADED + script + "\nprint(*sorted(loaded() - before), sep='\\n')"
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout


def test_the_import_loads_no_library_for_algebra_messages_or_graphics_processors():
    libraries = added("")
    assert "_sonde" in libraries
    for name in ("blas", "lapack", "libmpi", "open-pal", "cufft", "cublas", "/sonde_", "hdf5"):
        assert name not in libraries, libraries


@pytest.mark.skipif(not hasattr(sonde, "neoclassical"), reason="a build without that instrument")
def test_a_solution_loads_the_algebra():
    libraries = added("""
import sonde.neoclassical as nc
nc.prepare(nc.Surface.demo(), nc.Grid(5, 7, 6)).solve(nu_hat=1e-2)
""")
    assert "/sonde_blas.so" in libraries and "libmpi" not in libraries, libraries


@pytest.mark.parametrize("call, function", [("load", sonde.stem.load), ("load_folder", sonde.stem.load_folder),
                                            ("image", sonde.stem.Dataset.image), ("save_image", sonde.stem.Dataset.save_image),
                                            ("simulate", sonde.stem.simulate)])
def test_every_option_is_in_signature_and_documentation(call, function):
    parameters = inspect.signature(function).parameters
    for field in _sonde.fields_of(call):
        if field["key"] in ("output", "detector"):
            continue  # given by position
        assert parameters[field["key"]].default == field["default"]
        assert field["key"] != "device" or field["default"] == "cpu"
        assert f"\n{field['key']} : " in inspect.getdoc(function) and field["help"] in inspect.getdoc(function)


def public_members(owner):
    return [(name, member) for name, member in vars(owner).items() if not name.startswith("_")]


#: The instruments of this build, and what they add.
MODULES = [getattr(sonde, name) for name in sonde.__all__ if inspect.ismodule(getattr(sonde, name))]


def test_everything_public_is_documented():
    for module in (sonde, *MODULES):
        assert module.__doc__
        for name in getattr(module, "__all__", [name for name, member in public_members(module) if inspect.isfunction(member)]):
            member = getattr(module, name)
            assert member.__doc__, name
            if inspect.isclass(member) and member.__module__.startswith("sonde"):
                for attribute, value in public_members(member):
                    if inspect.isfunction(value) or isinstance(value, property):
                        assert value.__doc__, f"{name}.{attribute}"


def stub_names():
    tree = ast.parse((PACKAGE / "_sonde.pyi").read_text())
    names = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            names[node.name] = None
        elif isinstance(node, ast.ClassDef):
            names[node.name] = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
    return names


def test_the_stub_names_what_the_compiled_module_has():
    stubs = stub_names()
    there = {name for name in vars(_sonde) if not name.startswith("__")}
    for instrument, its_class in (("maxwell", "MaxwellOperator"), ("neoclassical", "NeoclassicalPlan"), ("ptycho", "PtychoRun")):
        if its_class not in there:  # a build without that instrument
            stubs = {name: members for name, members in stubs.items() if not name.lower().startswith(instrument)}
    assert set(stubs) == there
    for name, members in stubs.items():
        if members is not None:
            ours = {member for member in vars(getattr(_sonde, name)) if not member.startswith("_")}
            assert {member for member in members if not member.startswith("_")} == ours, name


def test_types_are_declared():
    assert (PACKAGE / "py.typed").exists()
    for module in MODULES:
        for name in getattr(module, "__all__", []):
            function = getattr(module, name)
            if inspect.isfunction(function):
                tree = ast.parse(inspect.getsource(function)).body[0]
                assert tree.returns is not None and all(argument.annotation for argument in tree.args.args), name


@pytest.fixture(scope="module")
def types_cache(tmp_path_factory):
    """What mypy found of NumPy takes it most of its time."""
    return tmp_path_factory.mktemp("types")


def mypy(*words, folder, cache):
    """The end of mypy without any settings."""
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, *words], cwd=folder,
                          env=os.environ | {"MYPYPATH": str(PACKAGE.parent)}, capture_output=True, text=True, check=False)


def test_types_of_the_package_are_sound(tmp_path, types_cache):
    ended = mypy("-p", "sonde", folder=tmp_path, cache=types_cache)
    assert ended.returncode == 0, ended.stdout


def test_types_of_its_sources_are_sound(types_cache):
    sources = pathlib.Path(__file__).parents[2] / "python"
    ended = subprocess.run([sys.executable, "-m", "mypy", "--config-file", sources / "pyproject.toml", "--cache-dir", types_cache],
                           cwd=sources, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout


def test_a_wrong_keyword_is_found_before_it_is_run(tmp_path, types_cache):
    (tmp_path / "right.py").write_text('import sonde\nds = sonde.stem.load("a.h5", det_bin=2, scan_shape=(4, 4), layout="pixel")\n'
                                       'image = ds.image("bf", radius=4)\nsonde.view(ds, ds, port=0)\n')
    (tmp_path / "wrong.py").write_text('import sonde\nds = sonde.stem.load("a.h5", det_bim=2)\nimage = ds.image("bf", radus=4)\n'
                                       'ds = sonde.stem.load("a.h5", layout="pixels")\nsonde.view(ds, prt=2)\n')
    ended = mypy("right.py", folder=tmp_path, cache=types_cache)
    assert ended.returncode == 0, ended.stdout
    ended = mypy("wrong.py", folder=tmp_path, cache=types_cache)
    assert [line.split(": ")[0] for line in ended.stdout.splitlines() if "error" in line and "wrong.py" in line] == \
        ["wrong.py:2", "wrong.py:3", "wrong.py:4", "wrong.py:5"], ended.stdout
    assert 'Unexpected keyword argument "det_bim"' in ended.stdout


@pytest.mark.skipif(not (hasattr(sonde, "neoclassical") and hasattr(sonde, "ptycho")), reason="a build without an instrument")
def test_keywords_for_type_checkers_are_those_of_the_engine():
    assert (PACKAGE / "_keywords.py").read_text() == _options.keywords_text(), "python -m sonde._options > python/sonde/_keywords.py"


def test_warnings_go_to_logging(scan, caplog):
    sonde.stem.load(scan, dtype="u8", hot_pixels="none")
    assert any(record.name == "sonde" and "exceed u8" in record.message for record in caplog.records)


def test_threads_can_be_limited():
    before = sonde.thread_count()
    sonde.set_thread_count(1)
    assert sonde.thread_count() == 1
    sonde.set_thread_count(before)
