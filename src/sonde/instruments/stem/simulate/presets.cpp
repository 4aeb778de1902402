// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/simulate/presets.h"

#include <utility>
#include <vector>

#include "sonde/instruments/stem/read/acquisition.h"

namespace sonde::stem {
namespace {

std::vector<Defect> four_sentinels() {
  std::vector<Defect> defects;
  for (const auto& [row, col] : {std::pair<Index, Index>{17, 44}, {60, 150}, {120, 33}, {171, 121}})
    defects.push_back({.row = row, .col = col, .kind = Defect::Kind::sentinel, .mask_bits = mask_bit::noisy});
  return defects;
}

}  // namespace

Model workload(Workload which) {
  const Index side = which == Workload::w3 ? 256 : 128;
  return workload(which, side, side);
}

Model workload(Workload which, Index scan_rows, Index scan_cols) {
  Optics optics;
  std::vector<Defect> defects;
  if (which == Workload::w3) {
    optics.rows = optics.cols = 96;
    optics.dose = 96 * 96;
    optics.centre_row = optics.centre_col = 47.5;
    optics.disk_radius = 10;
    optics.halo_length = 25.0 / 3;  // as wide, relative to the disk, as in W1
  } else {
    optics.dose = which == Workload::w1 ? 192 * 192 : 0.1 * 192 * 192;
    defects = four_sentinels();
  }
  const auto shifted = [scan_cols](Index scan_row, Index scan_col) {
    const Index turn = (scan_row * scan_cols + scan_col) % 9, down = turn / 3 - 1, across = turn % 3 - 1;
    Beam beam;
    beam.shift_row = static_cast<double>(down);
    beam.shift_col = static_cast<double>(across);
    beam.disk = 0.85;
    beam.halo = 0.15;
    return beam;
  };
  return Model(optics, scan_rows, scan_cols, shifted, std::move(defects));
}

DType workload_dtype(Workload which) { return which == Workload::w3 ? DType::u8 : DType::u16; }

}  // namespace sonde::stem
