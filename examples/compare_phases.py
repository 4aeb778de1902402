# SPDX-License-Identifier: Apache-2.0
"""compare_phases.py A.npy B.npy: exit status 0 when two phases agree as two runs of single precision do."""

import sys

import numpy as np

a, b = (np.load(path) for path in sys.argv[1:])
assert a.shape == b.shape and a.dtype == b.dtype, (a.shape, b.shape, a.dtype, b.dtype)
# Transforms are measured anew in each process and may round differently: 1e-7, grown over forty iterations.
largest = np.abs(np.angle(np.exp(1j * (a - b)))).max()
print(f"largest difference {largest:.2g} rad")
sys.exit(0 if largest < 1e-3 and a.std() > 0.05 else 1)
