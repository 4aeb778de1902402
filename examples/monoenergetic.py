# SPDX-License-Identifier: Apache-2.0
"""Transport and bootstrap coefficients of a flux surface over collisionality, in the units of the international benchmark:
monoenergetic.py STARS.npz"""

import sys

import sonde
import sonde.neoclassical as nc


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: monoenergetic.py STARS.npz", file=sys.stderr)
        return 2
    output = sys.argv[1]
    try:
        # Four harmonics of |B| in T, as of W7-X at a quarter of a metre; n counts field periods.
        surface = nc.Surface.analytic(
            m=[0, 0, 1, 1], n=[0, 1, -1, 0], b_cos=[2.5, 0.11, -0.11, -0.05], nfp=5, iota=0.87,
            psi_p=0.625,   # dpsi/dr, T m
            b_theta=0,     # I, T m
            b_zeta=13.75,  # G, T m
        )
        plan = nc.prepare(surface, nc.Grid(15, 15, 60))

        scan = plan.scan([1e-4, 1e-3, 1e-2, 1e-1], er_hat=[0, 5e-3])  # nu/v in 1/m, E_r/v in T
        stars = nc.convert(scan, "stars", plan=plan, radius=0.25, major_radius=5.5, output=output)

        nu, d11, d31 = (stars[name] for name in ("nu_star", "D11_star", "D31_star"))
        for i in range(len(nu)):
            print(f"nu* {nu[i, 0]:.2e}   D11* {d11[i, 0]:.3f}, in the field {d11[i, 1]:.3f}   D31* {d31[i, 0]:.3f}, {d31[i, 1]:.3f}")
        print(f"{output}: the field divides D11* by {d11[0, 0] / d11[0, 1]:.1f} where collisions are rarest")
        return 0
    except sonde.Error as error:
        print(error, file=sys.stderr)
        return error.exit_status


if __name__ == "__main__":
    sys.exit(main())
