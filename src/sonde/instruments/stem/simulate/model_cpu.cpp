// SPDX-License-Identifier: Apache-2.0
// Loops that the compiler turns into vectors; compiled without contraction, so that every clone gives the same rates.
#include <cmath>

#include "sonde/engine/device/multiversion.h"
#include "sonde/instruments/stem/simulate/model_kernels.h"

namespace sonde::stem::cpu {

SONDE_MULTIVERSION
void set_radial(RadialTable table, double centre_row, double centre_col, const Patch& patch, double* rate) {
  const double last = static_cast<double>(table.count - 1) - 1e-6;
  const double* entry = table.entry;
  for (Index row = patch.row; row < patch.last_row; ++row) {
    const double down = static_cast<double>(row) - centre_row, down2 = down * down;
    double* out = rate + row * patch.cols;
    for (int col = static_cast<int>(patch.col); col < static_cast<int>(patch.last_col); ++col) {
      const double across = static_cast<double>(col) - centre_col;
      const double scaled = std::sqrt(down2 + across * across) * table_step_inverse;
      const double at = scaled < last ? scaled : last;
      const int i = static_cast<int>(at);
      const double part = at - static_cast<double>(i);
      out[col] = entry[i] + part * (entry[i + 1] - entry[i]);
    }
  }
}

SONDE_MULTIVERSION
void add_radial(RadialTable table, double scale, double centre_row, double centre_col, const Patch& patch,
                double* rate) {
  const double last = static_cast<double>(table.count - 1) - 1e-6;
  const double* entry = table.entry;
  for (Index row = patch.row; row < patch.last_row; ++row) {
    const double down = static_cast<double>(row) - centre_row, down2 = down * down;
    double* out = rate + row * patch.cols;
    for (int col = static_cast<int>(patch.col); col < static_cast<int>(patch.last_col); ++col) {
      const double across = static_cast<double>(col) - centre_col;
      const double scaled = std::sqrt(down2 + across * across) * table_step_inverse;
      const double at = scaled < last ? scaled : last;
      const int i = static_cast<int>(at);
      const double part = at - static_cast<double>(i);
      out[col] += scale * (entry[i] + part * (entry[i + 1] - entry[i]));
    }
  }
}

SONDE_MULTIVERSION
void mix(double a, const double* first, double b, const double* second, double c, const double* third, Index count,
         double* sum) {
  for (Index i = 0; i < count; ++i) sum[i] = a * first[i] + b * second[i] + c * third[i];
}

}  // namespace sonde::stem::cpu
