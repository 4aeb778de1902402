// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/simulate/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/simulate/model_kernels.h"

namespace sonde::stem {
namespace {

constexpr double edge_reach = 16;  // widths: the logistic edge has fallen to 10^-7 there

void require(bool fine, const std::string& message) {
  if (!fine) throw Error(ErrorKind::bad_input, message);
}

void check(const Optics& optics, Index scan_rows, Index scan_cols, const std::vector<Defect>& defects) {
  require(scan_rows > 0 && scan_cols > 0, fmt::format("a scan of {} x {} positions", scan_rows, scan_cols));
  require(optics.rows > 0 && optics.cols > 0 && optics.rows <= 16384 && optics.cols <= 16384,
          fmt::format("a detector of {} x {} pixels, expected 1 to 16384 each way", optics.rows, optics.cols));
  require(optics.dose > 0 && std::isfinite(optics.dose),
          fmt::format("a dose of {} electrons per pattern", optics.dose));
  const std::pair<const char*, double> lengths[] = {{"disk radius", optics.disk_radius},
                                                    {"edge width", optics.edge_width},
                                                    {"halo length", optics.halo_length},
                                                    {"length of the wide halo", optics.wide_length}};
  for (const auto& [what, length] : lengths)
    require(length > 0 && std::isfinite(length),
            fmt::format("a {} of {} px, expected a positive length", what, length));
  require(std::isfinite(optics.centre_row) && std::isfinite(optics.centre_col), "the beam's centre is not a number");
  for (const Defect& defect : defects)
    require(defect.row >= 0 && defect.row < optics.rows && defect.col >= 0 && defect.col < optics.cols,
            fmt::format("the bad pixel ({}, {}) is outside a detector of {} x {} pixels", defect.row, defect.col,
                        optics.rows, optics.cols));
}

cpu::RadialTable table_of(const std::vector<double>& entries) {
  return {entries.data(), static_cast<Index>(entries.size())};
}

cpu::Patch whole(const Optics& optics) { return {optics.cols, 0, optics.rows, 0, optics.cols}; }

/// The table of `radial(distance)`, scaled so that the undeflected pattern sums to the dose over the detector.
template <class Radial>
std::vector<double> tabulate(const Optics& optics, Radial&& radial) {
  // Far enough for a beam that has left the detector by its own diagonal; beyond, the table stays constant.
  const double reach = 2 * std::hypot(static_cast<double>(optics.rows), static_cast<double>(optics.cols));
  std::vector<double> table(static_cast<std::size_t>(reach * cpu::table_step_inverse) + 2);
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = radial(static_cast<double>(i) / cpu::table_step_inverse);
  std::vector<double> rate(static_cast<std::size_t>(optics.rows * optics.cols));
  cpu::set_radial(table_of(table), optics.centre_row, optics.centre_col, whole(optics), rate.data());
  double sum = 0;
  for (const double value : rate) sum += value;
  require(sum > 0, fmt::format("the beam at ({}, {}) misses a detector of {} x {} pixels", optics.centre_row,
                               optics.centre_col, optics.rows, optics.cols));
  for (double& value : table) value *= optics.dose / sum;
  return table;
}

}  // namespace

Model::Model(Optics optics, Index scan_rows, Index scan_cols, BeamAt beam, std::vector<Defect> defects,
             PatternAt pattern, std::shared_ptr<const IntegratingDetector> integrating)
    : optics_(optics),
      scan_rows_(scan_rows),
      scan_cols_(scan_cols),
      beam_(std::move(beam)),
      defects_(std::move(defects)),
      pattern_(std::move(pattern)),
      integrating_(std::move(integrating)) {
  check(optics_, scan_rows_, scan_cols_, defects_);
  disk_ = tabulate(optics_, [&](double distance) {
    if (distance > optics_.disk_radius + edge_reach * optics_.edge_width) return 0.0;
    return 1 / (1 + std::exp((distance - optics_.disk_radius) / optics_.edge_width));
  });
  halo_ = tabulate(optics_, [&](double distance) { return std::exp(-distance / optics_.halo_length); });
  wide_ = tabulate(optics_, [&](double distance) { return std::exp(-distance / optics_.wide_length); });
}

std::vector<std::uint8_t> Model::good() const {
  std::vector<std::uint8_t> good(static_cast<std::size_t>(pixels()), 1);
  for (const Defect& defect : defects_) good[static_cast<std::size_t>(defect.row * optics_.cols + defect.col)] = 0;
  return good;
}

void Model::rates(Index position, Scratch& scratch, std::span<double> rate) const {
  if (position < 0 || position >= positions() || static_cast<Index>(rate.size()) != pixels())
    throw Error(ErrorKind::internal,
                fmt::format("rates of position {} of {} into {} values", position, positions(), rate.size()));
  const Beam beam = this->beam(position);
  if (pattern_)
    pattern_(position / scan_cols_, position % scan_cols_, beam, scratch, rate);
  else
    disk_rates(beam, scratch, rate);
  for (const Defect& defect : defects_) {
    double& value = rate[static_cast<std::size_t>(defect.row * optics_.cols + defect.col)];
    if (defect.kind == Defect::Kind::hot) value += defect.rate;
    if (defect.kind == Defect::Kind::dead) value = 0;
  }
}

void Model::disk_rates(const Beam& beam, Scratch& scratch, std::span<double> rate) const {
  scratch.profile.resize(disk_.size());
  cpu::mix(beam.disk, disk_.data(), beam.halo, halo_.data(), beam.wide, wide_.data(), static_cast<Index>(disk_.size()),
           scratch.profile.data());
  const double row = optics_.centre_row + beam.shift_row, col = optics_.centre_col + beam.shift_col;
  cpu::set_radial(table_of(scratch.profile), row, col, whole(optics_), rate.data());

  const double reach = optics_.disk_radius + edge_reach * optics_.edge_width;
  const auto clamped = [](double at, Index extent) {
    return static_cast<Index>(std::clamp(at, 0.0, static_cast<double>(extent)));
  };
  for (int i = 0; i < beam.spot_count; ++i) {
    const Spot& spot = beam.spots[static_cast<std::size_t>(i)];
    const double spot_row = row + spot.row, spot_col = col + spot.col;
    const cpu::Patch patch = {optics_.cols, clamped(spot_row - reach, optics_.rows),
                              clamped(spot_row + reach + 2, optics_.rows), clamped(spot_col - reach, optics_.cols),
                              clamped(spot_col + reach + 2, optics_.cols)};
    cpu::add_radial(table_of(disk_), spot.weight, spot_row, spot_col, patch, rate.data());
  }
}

}  // namespace sonde::stem
