# SPDX-License-Identifier: Apache-2.0
"""Where the records of a survey ask for another permittivity: the gradient of a misfit: radar_gradient.py GRADIENT.npy"""

import sys

import numpy as np

import sonde
from sonde import maxwell

DEPTH, LENGTH, STEPS = 40, 60, 300  # cells of 5 cm, steps of 0.1 ns
DT, CENTRE_FREQUENCY = 1e-10, 1e8


def ground(block: bool) -> maxwell.EMModel:
    """Ground of eps_r 6 and 2 mS/m, [z][x]; with a block of eps_r 9 where `block`."""
    eps_r = np.full((DEPTH, LENGTH), 6.0)
    if block:
        eps_r[22:26, 28:34] = 9
    return maxwell.EMModel(eps_r, np.full((DEPTH, LENGTH), 2e-3))


def survey() -> maxwell.Experiment:
    """Five antennas on a line; each sends once, all receive."""
    antennas = [[3, x] for x in (10, 20, 30, 40, 50)]
    acquisition = maxwell.Acquisition(np.array([[each] for each in antennas]), np.array([antennas] * 5))
    return maxwell.Experiment(acquisition, maxwell.ricker(CENTRE_FREQUENCY, STEPS, DT), f0=CENTRE_FREQUENCY)


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: radar_gradient.py GRADIENT.npy", file=sys.stderr)
        return 2
    try:
        op = maxwell.MaxwellTM(maxwell.Discretization(0.05, DT, order=4), survey())
        with op.linearize(ground(False), wrt="eps_r") as at_start:
            observed = op(ground(True)).receiver_data

            # 0.5 |d - observed|^2, whose derivative by the records is d - observed.
            residual = at_start.primal.receiver_data - observed
            gradient = at_start.vjp(residual).eps_r

        at = np.argmin(gradient[10:])  # below the antennas, whose own cells feel most
        np.save(sys.argv[1], gradient)
        z, x = at // LENGTH + 10, at % LENGTH
        print(f"misfit {0.5 * np.sum(residual**2):.4g} (V/m)^2; it falls fastest where eps_r rises at z = {0.05 * z:.2f} m, x = {0.05 * x:.2f} m")
        return 0
    except sonde.Error as error:
        print(error, file=sys.stderr)
        return error.exit_status


if __name__ == "__main__":
    sys.exit(main())
