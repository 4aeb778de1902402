# SPDX-License-Identifier: Apache-2.0
"""What tools ask the repository's history."""

import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def git(*words: str) -> str:
    """Throws CalledProcessError or OSError where there is no answer."""
    return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True).stdout.strip()


def branch_point() -> str | None:
    """Where a branch left main; None on main itself, and where there is no main."""
    for main in ("origin/main", "main"):
        try:
            base = git("merge-base", "HEAD", main)
        except subprocess.CalledProcessError:
            continue
        return base if base != git("rev-parse", "HEAD") else None
    return None
