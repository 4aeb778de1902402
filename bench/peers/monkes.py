# SPDX-License-Identifier: Apache-2.0
"""Solve one point of a surface with MONKES, whose executable --program names, and tell the seconds of one core.

MONKES reads the surface from ddkes2.data and the point from monkes_input.parameters in the folder where it is started.
"""
import argparse
import json
import os
import resource
import subprocess
import tempfile
from pathlib import Path


def surface_file(given: argparse.Namespace) -> str:
    lines = [
        "&datain",
        f" nzperiod = {given.periods},",
        f" chip = {given.chip}, psip = {given.psip},",
        f" btheta = {given.btheta}, bzeta = {given.bzeta},",
    ]
    for harmonic in given.harmonics.split(";"):
        n, m, amplitude = harmonic.split()
        lines.append(f" borbi({n},{m}) = {amplitude},")
    return "\n".join([*lines, "/", ""])


def point_file(given: argparse.Namespace) -> str:
    n_theta, n_zeta, n_xi = given.grid.split("x")
    return (
        f"&parameters\nN_theta = {n_theta}\nN_zeta = {n_zeta}\nN_xi = {n_xi}\n"
        f"nu = {given.nu}\nE_r = {given.er}\n/\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("program", "grid", "nu", "er", "periods", "chip", "psip", "btheta", "bzeta", "harmonics"):
        parser.add_argument(f"--{name}", required=True)
    given = parser.parse_args()
    one_thread = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "ddkes2.data").write_text(surface_file(given))
        Path(folder, "monkes_input.parameters").write_text(point_file(given))
        subprocess.run(
            [str(Path(given.program).resolve())],
            cwd=folder,
            env={**os.environ, **one_thread},
            stdout=subprocess.DEVNULL,
            check=True,
        )
        if not Path(folder, "monkes_Monoenergetic_Database.dat").exists():
            raise SystemExit(f"{given.program} has written no monkes_Monoenergetic_Database.dat")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps({"seconds": used.ru_utime + used.ru_stime}))


main()
