// SPDX-License-Identifier: Apache-2.0
// Loops that the compiler turns into vectors; compiled without contraction, so that every clone gives the same rates.
#include <cmath>
#include <cstdint>

#include "sonde/engine/device/multiversion.h"
#include "sonde/instruments/stem/simulate/model_kernels.h"

namespace sonde::stem::cpu {
namespace {

constexpr Index strip = 64;  // pixels whose places in the table are found together

/// Where pixels col, col + 1, ... of a row lie in a table: entry and part of the way to the next. `last` lies just
/// below the last entry.
SONDE_MULTIVERSION
void places(double down2, double across, double last, std::int32_t* entry, double* part) {
  for (std::int32_t i = 0; i < strip; ++i) {
    const double x = across + static_cast<double>(i);
    const double scaled = std::sqrt(down2 + x * x) * table_step_inverse;
    const double at = scaled < last ? scaled : last;
    entry[i] = static_cast<std::int32_t>(at);
    part[i] = at - static_cast<double>(entry[i]);
  }
}

/// Calls use(pixel, table's value at its distance from the centre) for the pixels of the patch. The loads from the
/// table stay scalar: compilers and processors gain nothing by gathering them.
template <class Use>
void for_radial(RadialTable table, double centre_row, double centre_col, const Patch& patch, Use&& use) {
  const double last = static_cast<double>(table.count - 1) - 1e-6;
  std::int32_t entry[strip];
  double part[strip];
  for (Index row = patch.row; row < patch.last_row; ++row) {
    const double down = static_cast<double>(row) - centre_row;
    for (Index col = patch.col; col < patch.last_col; col += strip) {
      places(down * down, static_cast<double>(col) - centre_col, last, entry, part);
      const Index width = patch.last_col - col < strip ? patch.last_col - col : strip;
      for (Index i = 0; i < width; ++i) {
        const double* at = table.entry + entry[i];
        use(row * patch.cols + col + i, at[0] + part[i] * (at[1] - at[0]));
      }
    }
  }
}

}  // namespace

void set_radial(RadialTable table, double centre_row, double centre_col, const Patch& patch, double* rate) {
  for_radial(table, centre_row, centre_col, patch, [=](Index pixel, double value) { rate[pixel] = value; });
}

void add_radial(RadialTable table, double scale, double centre_row, double centre_col, const Patch& patch,
                double* rate) {
  for_radial(table, centre_row, centre_col, patch, [=](Index pixel, double value) { rate[pixel] += scale * value; });
}

SONDE_MULTIVERSION
void mix(double a, const double* first, double b, const double* second, double c, const double* third, Index count,
         double* sum) {
  for (Index i = 0; i < count; ++i) sum[i] = a * first[i] + b * second[i] + c * third[i];
}

}  // namespace sonde::stem::cpu
