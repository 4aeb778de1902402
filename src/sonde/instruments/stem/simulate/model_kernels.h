// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include "sonde/engine/base/index.h"

namespace sonde::stem::cpu {

inline constexpr double table_step_inverse = 32;  // entries per pixel

/// A radial table; entry i belongs to distance i / table_step_inverse, and beyond the last one it is constant.
struct RadialTable {
  const double* entry;
  Index count;
};

/// A rectangle of a detector with `cols` columns, rows [row, last_row) and columns [col, last_col).
struct Patch {
  Index cols, row, last_row, col, last_col;
};

/// rate(q) = scale table(|q - centre|) on the patch, or added to what is there.
void set_radial(RadialTable table, double centre_row, double centre_col, const Patch& patch, double* rate);
void add_radial(RadialTable table, double scale, double centre_row, double centre_col, const Patch& patch,
                double* rate);

/// sum(i) = a first(i) + b second(i) + c third(i).
void mix(double a, const double* first, double b, const double* second, double c, const double* third, Index count,
         double* sum);

}  // namespace sonde::stem::cpu
