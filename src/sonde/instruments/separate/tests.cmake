# SPDX-License-Identifier: Apache-2.0
# Tests of the whole program with trained networks; those of its rooms are beside their sources.
sonde_cli_test(separate)
sonde_cli_test(separate_scores)
