// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/simulate/wave.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "sonde/engine/base/error.h"

namespace sonde::stem {
namespace {

using Complex = std::complex<double>;
constexpr double two_pi = 2 * std::numbers::pi;
constexpr double hill_reach = 7;  // widths: exp(-24)

void check(const WaveScan& scan) {
  const auto require = [](bool fine, const char* what, double value) {
    if (!fine || !std::isfinite(value))
      throw Error(ErrorKind::bad_input, fmt::format("{} of {}; expected a number above 0", what, value));
  };
  require(scan.step > 0, "a scan step", scan.step);
  require(scan.pixel > 0, "a detector pixel", scan.pixel);
  for (const PhaseHill& hill : scan.hills) require(hill.width > 0, "a width of a hill", hill.width);
}

}  // namespace

PhasePatterns::PhasePatterns(const Optics& optics, WaveScan scan)
    : optics_(optics),
      scan_(std::move(scan)),
      fft_(Fft2d<double>::prepare({.rows = optics.rows, .cols = optics.cols})),
      window_(1 / scan_.pixel) {
  check(scan_);
  const Index rows = optics_.rows, cols = optics_.cols;
  probe_.resize(static_cast<std::size_t>(rows * cols));
  double power = 0;
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col) {
      const auto cycles = [](Index at, Index length) {
        return static_cast<double>(2 * at < length ? at : at - length);
      };
      const double down = cycles(row, rows), across = cycles(col, cols);
      const double disk = 1 / (1 + std::exp((std::hypot(down, across) - optics_.disk_radius) / optics_.edge_width));
      // The probe moves to sample (rows / 2, cols / 2) of the window.
      const double turn = down * static_cast<double>(rows / 2) / static_cast<double>(rows) +
                          across * static_cast<double>(cols / 2) / static_cast<double>(cols);
      probe_[static_cast<std::size_t>(row * cols + col)] = std::polar(std::sqrt(disk), -two_pi * turn);
      power += disk;
    }
  fft_.transform(probe_.data(), FftDirection::inverse);
  const double scale = 1 / std::sqrt(power * static_cast<double>(rows * cols));
  for (Complex& sample : probe_) sample *= scale;
}

PhasePatterns::Place PhasePatterns::position(Index scan_row, Index scan_col) const {
  const auto from_middle = [this](Index at, Index extent) {
    return scan_.step * (static_cast<double>(at) - static_cast<double>(extent - 1) / 2);
  };
  return {from_middle(scan_row, scan_.scan_rows), from_middle(scan_col, scan_.scan_cols)};
}

PhasePatterns::Place PhasePatterns::on_detector(const Place& on_scan) const {
  const double c = std::cos(scan_.rotation), s = std::sin(scan_.rotation);
  Place turned{c * on_scan.y - s * on_scan.x, c * on_scan.x + s * on_scan.y};  // R(-rotation)
  if (scan_.transpose) std::swap(turned.x, turned.y);
  return turned;
}

double PhasePatterns::phase(Index scan_row, Index scan_col) const {
  const Place at = position(scan_row, scan_col);
  double sum = 0;
  for (const PhaseHill& hill : scan_.hills) {
    const double y = at.y - hill.y, x = at.x - hill.x;
    sum += hill.height * std::exp(-(y * y + x * x) / (2 * hill.width * hill.width));
  }
  return sum;
}

void PhasePatterns::phase_around(const Place& centre, std::span<double> phase) const {
  const Index rows = optics_.rows, cols = optics_.cols;
  std::fill(phase.begin(), phase.end(), 0.0);
  std::vector<double> down(static_cast<std::size_t>(rows)), across(static_cast<std::size_t>(cols));
  for (const PhaseHill& hill : scan_.hills) {
    const Place at = on_detector({hill.y, hill.x});
    const double reach = window_ / 2 + hill_reach * hill.width;
    if (std::abs(at.y - centre.y) > reach || std::abs(at.x - centre.x) > reach) continue;
    // A Gaussian is the product of one along either axis.
    const auto fill = [&](std::vector<double>& line, double from, double to) {
      const auto count = static_cast<double>(line.size());
      for (std::size_t i = 0; i < line.size(); ++i) {
        const double d = from + window_ * (static_cast<double>(i) - static_cast<double>(line.size() / 2)) / count - to;
        line[i] = std::exp(-d * d / (2 * hill.width * hill.width));
      }
    };
    fill(down, centre.y, at.y);
    fill(across, centre.x, at.x);
    for (Index row = 0; row < rows; ++row) {
      const double height = hill.height * down[static_cast<std::size_t>(row)];
      double* line = phase.data() + row * cols;
      for (Index col = 0; col < cols; ++col) line[col] += height * across[static_cast<std::size_t>(col)];
    }
  }
}

double PhasePatterns::seen_phase(Index scan_row, Index scan_col) const {
  std::vector<double> phase(probe_.size());
  phase_around(on_detector(position(scan_row, scan_col)), phase);
  double sum = 0;
  for (std::size_t i = 0; i < phase.size(); ++i) sum += std::norm(probe_[i]) * phase[i];
  return sum;
}

void PhasePatterns::rates(Index scan_row, Index scan_col, const Beam& beam, Model::Scratch& scratch,
                          std::span<double> rate) const {
  const Index rows = optics_.rows, cols = optics_.cols;
  phase_around(on_detector(position(scan_row, scan_col)), rate);
  scratch.wave.resize(probe_.size());
  // A slope of the phase puts the undeflected beam where it belongs.
  const double down = two_pi * (optics_.centre_row + beam.shift_row) / static_cast<double>(rows),
               across = two_pi * (optics_.centre_col + beam.shift_col) / static_cast<double>(cols);
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col) {
      const auto here = static_cast<std::size_t>(row * cols + col);
      scratch.wave[here] = probe_[here] * std::polar(1.0, rate[here] + down * static_cast<double>(row) +
                                                              across * static_cast<double>(col));
    }
  fft_.transform(scratch.wave.data(), FftDirection::forward);
  const double scale = optics_.dose / static_cast<double>(rows * cols);
  for (std::size_t i = 0; i < probe_.size(); ++i) rate[i] = scale * std::norm(scratch.wave[i]);
}

}  // namespace sonde::stem
