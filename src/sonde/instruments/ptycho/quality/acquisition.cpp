// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/quality/acquisition.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "sonde/instruments/ptycho/quality/image.h"
#include "sonde/instruments/ptycho/scan/positions.h"
#include "sonde/instruments/ptycho/scan/probe_support.h"
#include "sonde/instruments/ptycho/scan/spacing.h"

namespace sonde::ptycho {
namespace {

constexpr std::array<std::pair<std::string_view, double Acquisition::*>, 9> members{{
    {"counts_per_frame", &Acquisition::counts_per_frame},
    {"counts_per_pixel", &Acquisition::counts_per_pixel},
    {"dose", &Acquisition::dose},
    {"step", &Acquisition::step},
    {"probe_diameter", &Acquisition::probe_diameter},
    {"overlap", &Acquisition::overlap},
    {"pixel", &Acquisition::pixel},
    {"finest", &Acquisition::finest},
    {"redundancy", &Acquisition::redundancy},
}};

bool is_of_counts(std::string_view member) {
  return member == "counts_per_frame" || member == "counts_per_pixel" || member == "dose";
}

/// How far the bounding box of points reaches along both axes.
Point reach(const std::vector<Point>& points) {
  Point low = points.front(), high = low;
  for (const Point& point : points) {
    low = {std::min(low.row, point.row), std::min(low.col, point.col)};
    high = {std::max(high.row, point.row), std::max(high.col, point.col)};
  }
  return {high.row - low.row, high.col - low.col};
}

/// The finest detail that measured pixels speak of, the coarser of both axes.
double finest_detail(const Measurement& measurement, const Sampling& sampling) {
  const double* weights = measurement.weights<double>();
  const Index rows = measurement.rows(), cols = measurement.cols();
  double down = 0, across = 0;  // detector pixels from the zero frequency
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col) {
      if (weights != nullptr && weights[row * cols + col] == 0) continue;
      down = std::max(down, static_cast<double>(std::min(row, rows - row)));
      across = std::max(across, static_cast<double>(std::min(col, cols - col)));
    }
  down = std::min(down + 0.5, static_cast<double>(rows) / 2);
  across = std::min(across + 0.5, static_cast<double>(cols) / 2);
  return 0.5 / std::min(down * sampling.dk_row, across * sampling.dk_col);
}

}  // namespace

Acquisition acquisition_of(const State& state, const Measurement& measurement, const Sampling& sampling,
                           double counts_per_unit) {
  Acquisition found;
  CountSums sums;
  for (const CountSums& frame : measurement.sums()) sums += frame;
  const std::vector<Point> places = sampling.calibrated() ? in_angstrom(state.positions, sampling) : state.positions;
  const Point extent = reach(places);
  found.counts_per_frame = counts_per_unit * measurement.mean_counts();
  found.counts_per_pixel = counts_per_unit * sums.counts / sums.pixels;
  found.step = spacing_of(places).across;
  found.dose = counts_per_unit * sums.counts / ((extent.row + found.step) * (extent.col + found.step));
  found.probe_diameter = probe_diameter(in_double_precision(state.probe), sampling);
  found.overlap = linear_overlap(found.step, found.probe_diameter);
  found.pixel = std::max(sampling.pixel_row(), sampling.pixel_col());
  found.finest = finest_detail(measurement, sampling);
  const double unknowns = (extent.row + found.probe_diameter) * (extent.col + found.probe_diameter) /
                          (sampling.pixel_row() * sampling.pixel_col()) * static_cast<double>(state.slices()) *
                          (state.type == ObjectType::complex ? 2 : 1);
  found.redundancy = sums.pixels / unknowns;
  return found;
}

Value Acquisition::to_value() const {
  Value value;
  for (const auto& [name, member] : members)
    value[name] = is_of_counts(name) && this->*member == 0 ? Value() : Value(this->*member);
  return value;
}

std::optional<Acquisition> Acquisition::from_value(const Value& value) {
  Acquisition found;
  for (const auto& [name, member] : members) {
    const Value* number = value.find(name);
    if (number != nullptr && number->is_null() && is_of_counts(name)) continue;
    if (number == nullptr || !number->is_number()) return std::nullopt;
    found.*member = number->as_real();
  }
  return found;
}

}  // namespace sonde::ptycho
