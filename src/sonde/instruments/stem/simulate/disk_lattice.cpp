// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/simulate/disk_lattice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/math/philox.h"

namespace sonde::stem {
namespace {

constexpr double interface_at = 0.6;  // of the columns, so that most of the scan is unstrained
constexpr std::uint32_t excitation_stream = 0xD15C5u;

/// A 2 x 2 matrix that acts on (x, y).
struct Matrix {
  double xx = 1, xy = 0, yx = 0, yy = 1;
};

Matrix times(const Matrix& a, const Matrix& b) {
  return {a.xx * b.xx + a.xy * b.yx, a.xx * b.xy + a.xy * b.yy, a.yx * b.xx + a.yy * b.yx, a.yx * b.xy + a.yy * b.yy};
}

Matrix turn(double angle) { return {std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle)}; }

Matrix inverse(const Matrix& a) {
  const double determinant = a.xx * a.yy - a.xy * a.yx;
  return {a.yy / determinant, -a.xy / determinant, -a.yx / determinant, a.xx / determinant};
}

Matrix transposed(const Matrix& a) { return {a.xx, a.yx, a.xy, a.yy}; }

Matrix gradient_of(const Deformation& d) { return times(turn(d.theta), {1 + d.e_xx, d.e_xy, d.e_xy, 1 + d.e_yy}); }

void require_lattice(bool fine, const std::string& message) {
  if (!fine) throw Error(ErrorKind::bad_input, message);
}

void check(const DiskScan& scan) {
  const LatticeVectors& g = scan.undeformed;
  const double area = std::abs(g.g1_x * g.g2_y - g.g1_y * g.g2_x);
  require_lattice(area > 1e-3 * std::hypot(g.g1_x, g.g1_y) * std::hypot(g.g2_x, g.g2_y),
                  fmt::format("lattice vectors ({}, {}) and ({}, {}) are along one line; expected two directions",
                              g.g1_x, g.g1_y, g.g2_x, g.g2_y));
  const Deformation& d = scan.deformation;
  const double most = std::max({std::abs(d.e_xx), std::abs(d.e_yy), std::abs(d.e_xy)});
  require_lattice(most <= 0.5, fmt::format("a strain of {}; expected -0.5 to 0.5", most));
  require_lattice(scan.orders >= 0 && scan.orders <= 20, fmt::format("orders {}; expected 0 to 20", scan.orders));
  require_lattice(scan.falloff > 0, fmt::format("falloff {} px; expected a length above 0", scan.falloff));
  require_lattice(scan.excitation >= 0 && scan.excitation <= 1,
                  fmt::format("excitation {}; expected 0 to 1", scan.excitation));
  require_lattice(scan.background >= 0 && scan.background <= 1,
                  fmt::format("a share of the background of {}; expected 0 to 1", scan.background));
}

}  // namespace

DiskPatterns::DiskPatterns(const Optics& optics, DiskScan scan)
    : optics_(optics), scan_(std::move(scan)), drawn_(optics) {
  check(scan_);
}

Deformation DiskPatterns::deformation(Index scan_row, Index scan_col) const {
  const double down = (static_cast<double>(scan_row) + 0.5) / static_cast<double>(scan_.scan_rows);
  const double across = (static_cast<double>(scan_col) + 0.5) / static_cast<double>(scan_.scan_cols);
  const Deformation& whole = scan_.deformation;
  double share = 1;
  if (scan_.field == StrainField::rotation) return {.theta = (down - 0.5) * whole.theta};
  if (scan_.field == StrainField::gradient) share = across - 0.5;
  if (scan_.field == StrainField::step) share = across < interface_at ? 0 : 1;
  return {share * whole.e_xx, share * whole.e_yy, share * whole.e_xy, share * whole.theta};
}

LatticeVectors DiskPatterns::vectors(Index scan_row, Index scan_col) const {
  const LatticeVectors& g = scan_.undeformed;
  const Matrix to_scan = times(turn(scan_.rotation), scan_.transpose ? Matrix{0, 1, 1, 0} : Matrix{});
  const Matrix deform = transposed(inverse(gradient_of(deformation(scan_row, scan_col))));
  const Matrix on_detector = times(inverse(to_scan), times(deform, to_scan));
  const Matrix now = times(on_detector, {g.g1_x, g.g2_x, g.g1_y, g.g2_y});
  return {now.xx, now.yx, now.xy, now.yy};
}

std::vector<DiskPatterns::Disk> DiskPatterns::disks(Index scan_row, Index scan_col) const {
  const LatticeVectors now = vectors(scan_row, scan_col);
  const auto position = static_cast<std::uint64_t>(scan_row * scan_.scan_cols + scan_col);
  std::vector<Disk> disks;
  double sum = 0;
  for (Index h = -scan_.orders; h <= scan_.orders; ++h)
    for (Index k = -scan_.orders; k <= scan_.orders; ++k) {
      const auto y = static_cast<double>(h) * now.g1_y + static_cast<double>(k) * now.g2_y;
      const auto x = static_cast<double>(h) * now.g1_x + static_cast<double>(k) * now.g2_x;
      const auto bits = philox({static_cast<std::uint32_t>(disks.size()), excitation_stream,
                                static_cast<std::uint32_t>(position), ~static_cast<std::uint32_t>(position >> 32)},
                               {static_cast<std::uint32_t>(scan_.seed), static_cast<std::uint32_t>(scan_.seed >> 32)});
      const double excited = 1 + scan_.excitation * (2 * unit_interval(bits[0], bits[1]) - 1);
      const double counts = excited * std::exp(-(x * x + y * y) / (2 * scan_.falloff * scan_.falloff));
      disks.push_back({y, x, counts});
      sum += counts;
    }
  for (Disk& disk : disks) disk.counts *= optics_.dose * (1 - scan_.background) / sum;
  return disks;
}

double DiskPatterns::disk_counts(Index scan_row, Index scan_col, Index h, Index k) const {
  const Index wide = 2 * scan_.orders + 1;
  return disks(scan_row, scan_col)[static_cast<std::size_t>((h + scan_.orders) * wide + k + scan_.orders)].counts;
}

void DiskPatterns::rates(Index scan_row, Index scan_col, const Beam& beam, std::span<double> rate) const {
  const double row = optics_.centre_row + beam.shift_row, col = optics_.centre_col + beam.shift_col;
  drawn_.set_background(row, col, optics_.dose * scan_.background, rate);
  for (const Disk& disk : disks(scan_row, scan_col)) drawn_.add(row + disk.row, col + disk.col, disk.counts, rate);
}

}  // namespace sonde::stem
