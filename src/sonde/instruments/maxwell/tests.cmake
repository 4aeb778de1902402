# SPDX-License-Identifier: Apache-2.0
# Tests of the whole program with models of the ground; those of its rooms are beside their sources.
sonde_cli_test(maxwell PARTS run native fwi convert snapshots wrong_input)

sonde_python_test(maxwell_field)
