# SPDX-License-Identifier: Apache-2.0
"""Names of other programs for what sonde does: :mod:`sonde.compat.ntx`, :mod:`sonde.compat.tide`."""
