# SPDX-License-Identifier: Apache-2.0
"""The drift-kinetic equation of an analytic surface in NumPy: one dense matrix for all Legendre modes, solved at once.

Nothing of sonde is used. Equations: docs/neoclassical-theory.md; Escoto et al., Nucl. Fusion 64 (2024) 076030.
"""

import numpy as np


def derivative(count, period):
    """Derivative of a periodic function by its trigonometric interpolant, (count, count); count is odd."""
    i = np.arange(count)
    distance = i[:, None] - i[None, :]
    with np.errstate(divide="ignore"):
        matrix = 0.5 * (-1.0) ** distance / np.sin(np.pi * distance / count)
    np.fill_diagonal(matrix, 0)
    return matrix * 2 * np.pi / period


class Surface:
    """A surface with |sqrt g| B^zeta = 1 on a grid; arrays are [theta][zeta], then flat."""

    def __init__(self, m, n, b_cos, nfp, iota, psi_p, b_theta, b_zeta, n_theta, n_zeta):
        theta, zeta = np.meshgrid(2 * np.pi * np.arange(n_theta) / n_theta, 2 * np.pi * np.arange(n_zeta) / (nfp * n_zeta), indexing="ij")
        phase = np.multiply.outer(theta, m) + nfp * np.multiply.outer(zeta, n)
        self.b = (np.cos(phase) @ b_cos).ravel()
        self.b_by_theta = (-np.sin(phase) @ (np.multiply(m, b_cos))).ravel()
        self.b_by_zeta = (-np.sin(phase) @ (nfp * np.multiply(n, b_cos))).ravel()
        self.jacobian = abs(b_zeta + iota * b_theta) / self.b**2
        self.sup_theta, self.sup_zeta = iota / self.jacobian, 1 / self.jacobian
        self.b_theta, self.b_zeta, self.psi_p = b_theta, b_zeta, psi_p
        self.b00 = dict(zip(zip(m, n), b_cos))[0, 0]
        self.by_theta = np.kron(derivative(n_theta, 2 * np.pi), np.eye(n_zeta))
        self.by_zeta = np.kron(np.eye(n_theta), derivative(n_zeta, 2 * np.pi / nfp))
        self.drift = (b_theta * self.b_by_zeta - b_zeta * self.b_by_theta) / (self.jacobian * self.b**3)

    def average(self, values):
        return (values * self.jacobian).sum() / self.jacobian.sum()


def collocation(surface, n_xi, nu_hat, epsi_hat):
    """D11, D31, D13, D33 of the equation taken point by point, f_0 pinned to 0 at the origin."""
    s, points = surface, surface.b.size
    along = (s.sup_theta / s.b)[:, None] * s.by_theta + (s.sup_zeta / s.b)[:, None] * s.by_zeta
    mirror = np.diag((s.sup_theta * s.b_by_theta + s.sup_zeta * s.b_by_zeta) / s.b**2)
    b2 = s.average(s.b**2)
    across = (-s.b_zeta * s.by_theta + s.b_theta * s.by_zeta) * (epsi_hat / (s.jacobian * b2))[:, None]
    matrix = np.zeros((n_xi + 1, points, n_xi + 1, points))
    for k in range(n_xi + 1):
        matrix[k, :, k] = across + nu_hat / 2 * k * (k + 1) * np.eye(points)
        if k > 0:
            matrix[k, :, k - 1] = k / (2 * k - 1) * (along + (k - 1) / 2 * mirror)
        if k < n_xi:
            matrix[k, :, k + 1] = (k + 1) / (2 * k + 3) * (along - (k + 2) / 2 * mirror)
    sources = np.zeros((2, n_xi + 1, points))
    sources[0, 0], sources[0, 2], sources[1, 1] = -2 / 3 * s.drift, -1 / 3 * s.drift, s.b
    matrix[0, 0], sources[:, 0, 0] = 0, 0
    matrix[0, 0, 0, 0] = 1
    f = np.linalg.solve(matrix.reshape((n_xi + 1) * points, -1), sources.reshape(2, -1).T).T.reshape(2, n_xi + 1, points)
    return coefficients(s, f)


def coefficients(s, f):
    """From the Legendre coefficients [drive][k][point] of f_1 and f_3."""
    radial = [s.average(-2 * (2 / 3 * s.drift) * g[0] - 2 / 5 * (s.drift / 3) * g[2]) for g in f]
    parallel = [s.average(2 / 3 * s.b * g[1]) for g in f]
    return {"D11": radial[0] / s.psi_p**2, "D31": parallel[0] / (s.b00 * s.psi_p), "D13": radial[1] / (s.b00 * s.psi_p),
            "D33": parallel[1] / s.b00**2}
