# SPDX-License-Identifier: Apache-2.0
"""Step the fields of a vacuum with Meep (double precision, one process): meep_vacuum.py 2|3 CELLS STEPS LAYER.

CELLS are those along an axis, with an absorbing layer of LAYER cells inside of them on every side; 0: walls.
"""
import json
import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"
import meep  # noqa: E402


def main() -> None:
    dimensions, cells, steps, layer = map(int, sys.argv[1:5])
    third = -cells / 6
    depth = dimensions == 3
    meep.verbosity(0)
    simulation = meep.Simulation(
        cell_size=meep.Vector3(cells, cells, cells if depth else 0),
        resolution=1,
        dimensions=dimensions,
        boundary_layers=[meep.PML(layer)] if layer else [],
        sources=[
            meep.Source(
                meep.GaussianSource(0.1, fwidth=0.05),
                component=meep.Ez,
                center=meep.Vector3(third, third, third if depth else 0),
            )
        ],
    )
    simulation.init_sim()
    for _ in range(3):  # the first steps allocate
        simulation.fields.step()
    start = time.perf_counter()
    for _ in range(steps):
        simulation.fields.step()
    seconds = time.perf_counter() - start
    sys.stdout.flush()
    print(json.dumps({"seconds": seconds}), flush=True)
    os._exit(0)  # Meep prints a line of its own at the end


main()
