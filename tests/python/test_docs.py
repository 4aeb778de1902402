# SPDX-License-Identifier: Apache-2.0
"""docs/python.md: every block runs, from top to bottom, and what its comments promise is printed."""

import contextlib
import io
import pathlib
import re

import pytest

GUIDE = pathlib.Path(__file__).parents[2] / "docs/python.md"


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    output, names = io.StringIO(), {}
    with contextlib.chdir(tmp_path_factory.mktemp("guide")), contextlib.redirect_stdout(output):
        for block in blocks:
            exec(compile(block, str(GUIDE), "exec"), names)
    return output.getvalue()


def test_every_block_runs(printed):
    assert printed.count("\n") > 10


def test_what_comments_say_is_printed(printed):
    promises = re.findall(r"print\(.*\) +# (<.*>|error: .*)$", GUIDE.read_text(), re.MULTILINE)
    assert len(promises) == 5
    for promise in promises:
        assert promise in printed
