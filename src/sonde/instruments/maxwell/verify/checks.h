// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <vector>

#include "sonde/instruments/maxwell/verify/row.h"

namespace sonde::maxwell {

[[nodiscard]] std::vector<VerifyRow> check_energy(VerifySize size);
[[nodiscard]] std::vector<VerifyRow> check_cavity(VerifySize size);
[[nodiscard]] std::vector<VerifyRow> check_reciprocity(VerifySize size);
[[nodiscard]] std::vector<VerifyRow> check_line_source(VerifySize size);
[[nodiscard]] std::vector<VerifyRow> check_accuracy(VerifySize size);
[[nodiscard]] std::vector<VerifyRow> check_dipole(VerifySize size);
[[nodiscard]] std::vector<VerifyRow> check_layer(VerifySize size);
[[nodiscard]] std::vector<VerifyRow> check_absorption(VerifySize size);
[[nodiscard]] std::vector<VerifyRow> check_debye(VerifySize size);
[[nodiscard]] std::vector<VerifyRow> check_transpose(VerifySize size);
[[nodiscard]] std::vector<VerifyRow> check_curvature(VerifySize size);
[[nodiscard]] std::vector<VerifyRow> check_reference(VerifySize size);
[[nodiscard]] std::vector<VerifyRow> check_compression(VerifySize size);
[[nodiscard]] std::vector<VerifyRow> check_storage(VerifySize size);
[[nodiscard]] std::vector<VerifyRow> check_determinism(VerifySize size);
/// Of all processes that `mpirun` started: all of them call it, and rank 0 has the rows.
[[nodiscard]] std::vector<VerifyRow> check_ranks(VerifySize size);
[[nodiscard]] std::vector<VerifyRow> check_inversion(VerifySize size);

}  // namespace sonde::maxwell
