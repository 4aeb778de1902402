# SPDX-License-Identifier: Apache-2.0
"""Stubs (.pyi) of the modules whose functions take keywords of the engine: `python write_stubs.py SOURCES FOLDER MODULE.py...`.

Sources name those keywords once, by classes of _keywords.py (``**options: Unpack[LoadKeywords]``). Not every type checker follows
that without being asked to: in the stubs every keyword is a parameter.
"""

from __future__ import annotations

import ast
import pathlib
import sys

KEPT_DECORATORS = ("property", "classmethod", "staticmethod", "overload", "dataclass", "setter")


def keyword_classes(source: pathlib.Path) -> dict[str, list[tuple[str, ast.expr]]]:
    """Of each class of keywords its names and their types."""
    return {node.name: [(field.target.id, field.annotation) for field in node.body
                        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)]
            for node in ast.parse(source.read_text()).body if isinstance(node, ast.ClassDef)}


class Stub(ast.NodeTransformer):
    """A module without what its functions do."""

    def __init__(self, keywords: dict[str, list[tuple[str, ast.expr]]]) -> None:
        self.keywords = keywords

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        arguments = node.args
        arguments.defaults = [ast.Constant(...) for _ in arguments.defaults]
        arguments.kw_defaults = [None if default is None else ast.Constant(...) for default in arguments.kw_defaults]
        options = arguments.kwarg
        if options is not None and isinstance(options.annotation, ast.Subscript) and ast.unparse(options.annotation.value) == "Unpack":
            own = {argument.arg for argument in (*arguments.args, *arguments.kwonlyargs)}
            for name, kind in self.keywords[ast.unparse(options.annotation.slice)]:
                if name not in own:
                    arguments.kwonlyargs.append(ast.arg(name, kind))
                    arguments.kw_defaults.append(ast.Constant(...))
            arguments.kwarg = None
        node.decorator_list = [each for each in node.decorator_list
                               if ast.unparse(each).split("(")[0].split(".")[-1] in KEPT_DECORATORS]
        node.body = [ast.Expr(ast.Constant(...))]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        held = [line for method in node.body if isinstance(method, ast.FunctionDef) and method.name == "__init__"
                for line in ast.walk(method) if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Attribute)]
        fields = [ast.AnnAssign(ast.Name(line.target.attr), line.annotation, None, 1) for line in held
                  if isinstance(line.target, ast.Attribute)]
        node.decorator_list = [each for each in node.decorator_list
                               if ast.unparse(each).split("(")[0].split(".")[-1] in KEPT_DECORATORS]
        self.generic_visit(node)
        overloaded = {line.name for line in node.body if isinstance(line, ast.FunctionDef) and is_overload(line)}
        node.body = [line for line in node.body if not is_text(line) and not is_private_value(line)
                     and not (isinstance(line, ast.FunctionDef) and line.name in overloaded and not is_overload(line))]
        node.body = [*node.body, *fields] or [ast.Expr(ast.Constant(...))]
        return node


def is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_overload(function: ast.FunctionDef) -> bool:
    return any(ast.unparse(each) == "overload" for each in function.decorator_list)


def is_private_value(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and all(isinstance(target, ast.Name) and target.id.startswith("_") for target in node.targets)


def is_declaration(node: ast.stmt) -> bool:
    """Whether users of a module see it."""
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Name) for target in node.targets)
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return False
    return isinstance(node, (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.AnnAssign))


def declarations(body: list[ast.stmt]) -> list[ast.stmt]:
    """Those of a module, with what only type checkers import."""
    return [each for node in body
            for each in (node.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" else [node])
            if is_declaration(each)]


def stub_of(module: pathlib.Path, keywords: dict[str, list[tuple[str, ast.expr]]], depth: int) -> str:
    tree = ast.parse(module.read_text())
    tree.body = declarations(tree.body)
    made = ast.unparse(ast.fix_missing_locations(Stub(keywords).visit(tree)))
    head = f"# SPDX-License-Identifier: Apache-2.0\n# Written by write_stubs.py from {module.name}; do not edit.\n" \
           f"from typing import Literal, SupportsFloat, SupportsIndex\nfrom {'.' * depth}_keywords import Text\n"
    return head + made + "\n"


def main(sources: pathlib.Path, folder: pathlib.Path, modules: list[str]) -> None:
    keywords = keyword_classes(sources / "_keywords.py")
    for module in map(pathlib.PurePath, modules):
        place = folder / module.with_suffix(".pyi")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(stub_of(sources / module, keywords, len(module.parts)))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:])
