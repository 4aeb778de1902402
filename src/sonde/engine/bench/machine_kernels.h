// SPDX-License-Identifier: Apache-2.0
// Private to the room: loops that do nothing but reach the limits of the CPU.
#pragma once

#include "sonde/engine/base/index.h"

namespace sonde::machine {

void copy(double* to, const double* from, Index count);
/// to = a + 3 b.
void triad(double* to, const double* a, const double* b, Index count);
double sum(const double* from, Index count);

/// Does `rounds` rounds of independent multiply-adds in registers and returns the operations done (a multiply-add is
/// two). The widest vectors of this CPU are used.
double multiply_add_f32(Index rounds);
double multiply_add_f64(Index rounds);

}  // namespace sonde::machine
