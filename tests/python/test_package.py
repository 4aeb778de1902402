# SPDX-License-Identifier: Apache-2.0
"""The package itself: names, documentation and type stubs that agree with what is there."""

import ast
import inspect
import os
import pathlib
import subprocess

import pytest

import sonde
from sonde import _sonde

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


#: Instruments are only there when they were built.
MODULES = [getattr(sonde, name) for name in ("stem", "IO", "neoclassical", "ptycho") if hasattr(sonde, name)]


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
    for instrument, its_class in (("neoclassical", "NeoclassicalPlan"), ("ptycho", "PtychoRun")):
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


def test_warnings_go_to_logging(scan, caplog):
    sonde.stem.load(scan, dtype="u8", hot_pixels="none")
    assert any(record.name == "sonde" and "exceed u8" in record.message for record in caplog.records)


def test_threads_can_be_limited():
    before = sonde.thread_count()
    sonde.set_thread_count(1)
    assert sonde.thread_count() == 1
    sonde.set_thread_count(before)
