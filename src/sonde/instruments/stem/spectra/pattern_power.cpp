// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/spectra/pattern_power.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <type_traits>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/bragg/pattern_transform.h"
#include "sonde/instruments/stem/spectra/power_peak.h"

namespace sonde::stem {
namespace {

constexpr Index least_side = 8;
constexpr std::size_t known_logarithms = 4096;

std::vector<float> window_of(Index extent, PatternWindow window) {
  std::vector<float> made(static_cast<std::size_t>(extent), 1);
  if (window == PatternWindow::none) return made;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const double s = std::sin(std::numbers::pi * (static_cast<double>(i) + 0.5) / static_cast<double>(extent));
    made[i] = static_cast<float>(s * s);
  }
  return made;
}

std::array<float, known_logarithms> logarithms() {
  std::array<float, known_logarithms> made{};
  for (std::size_t n = 0; n < made.size(); ++n) made[n] = static_cast<float>(std::log1p(static_cast<double>(n)));
  return made;
}

/// log(1 + value); small counts are looked up: of 128 x 128 pixels the logarithm takes longer than their transform.
template <class T>
float logarithm(T value) {
  static const std::array<float, known_logarithms> known = logarithms();
  if constexpr (std::is_integral_v<T>)
    if (value < known_logarithms) return known[static_cast<std::size_t>(value)];
  return value > 0 ? static_cast<float>(std::log1p(static_cast<double>(value))) : 0.0F;
}

}  // namespace

std::string_view name(PatternWindow window) { return window == PatternWindow::hann ? "hann" : "none"; }

struct PatternPower::Tables {
  PatternTransform transform;
  PatternScale scale;
  std::vector<float> row_window, col_window;
};

PatternPower::Scratch::Scratch(const PatternPower& plan)
    : pattern(static_cast<std::size_t>(plan.rows() * plan.cols())),
      power(static_cast<std::size_t>(plan.rows() * (plan.cols() / 2 + 1))),
      transformed(static_cast<std::size_t>(plan.tables_->transform.elements())),
      half(power.size()) {}

std::size_t PatternPower::Scratch::bytes(Index rows, Index cols) {
  const std::size_t half = static_cast<std::size_t>(rows * (cols / 2 + 1));
  return sizeof(float) * static_cast<std::size_t>(rows * cols) + (sizeof(float) + sizeof(std::complex<float>)) * half +
         sizeof(std::complex<float>) * static_cast<std::size_t>(cols % 2 == 0 ? rows * cols / 2 : rows * cols);
}

PatternPower::PatternPower(std::unique_ptr<const Tables> tables) : tables_(std::move(tables)) {}
PatternPower::PatternPower(PatternPower&&) noexcept = default;
PatternPower& PatternPower::operator=(PatternPower&&) noexcept = default;
PatternPower::~PatternPower() = default;

Index PatternPower::rows() const { return tables_->transform.rows(); }
Index PatternPower::cols() const { return tables_->transform.cols(); }
PatternScale PatternPower::scale() const { return tables_->scale; }
std::span<const float> PatternPower::row_window() const { return tables_->row_window; }
std::span<const float> PatternPower::col_window() const { return tables_->col_window; }
std::size_t PatternPower::bytes() const { return tables_->transform.bytes(); }

PatternPower PatternPower::prepare(Index rows, Index cols, PatternScale scale, PatternWindow window) {
  if (rows < least_side || cols < least_side)
    throw Error(ErrorKind::bad_input,
                fmt::format("patterns of {} x {} pixels; expected at least {} rows and columns for a spectrum", rows,
                            cols, least_side));
  return PatternPower(std::make_unique<const Tables>(
      Tables{PatternTransform(rows, cols), scale, window_of(rows, window), window_of(cols, window)}));
}

template <class T>
void PatternPower::run(const T* frame, Scratch& scratch) const {
  const Tables& of = *tables_;
  for (Index row = 0; row < rows(); ++row) {
    const T* from = frame + row * cols();
    float* to = scratch.pattern.data() + row * cols();
    const float weight = of.row_window[static_cast<std::size_t>(row)];
    const float* weights = of.col_window.data();
    if (of.scale == PatternScale::logarithm)
      for (Index col = 0; col < cols(); ++col) to[col] = weight * weights[col] * logarithm(from[col]);
    else
      for (Index col = 0; col < cols(); ++col) to[col] = weight * weights[col] * static_cast<float>(from[col]);
  }
  if (of.transform.packed())
    std::copy_n(scratch.pattern.data(), scratch.pattern.size(), reinterpret_cast<float*>(scratch.transformed.data()));
  else
    std::copy_n(scratch.pattern.data(), scratch.pattern.size(), scratch.transformed.data());
  of.transform.forward(scratch.transformed.data());
  of.transform.unpack(scratch.transformed.data(), scratch.half.data());
  for (std::size_t i = 0; i < scratch.power.size(); ++i) scratch.power[i] = std::norm(scratch.half[i]);
}

std::vector<double> centred(std::span<const double> half_power, Index rows, Index cols) {
  std::vector<double> whole(static_cast<std::size_t>(rows * cols));
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col)
      whole[static_cast<std::size_t>(row * cols + col)] =
          at_point(half_power.data(), rows, cols, row - rows / 2, col - cols / 2);
  return whole;
}

#define SONDE_PATTERN_POWER(T) template void PatternPower::run<T>(const T*, Scratch&) const;
SONDE_PATTERN_POWER(std::uint8_t)
SONDE_PATTERN_POWER(std::uint16_t)
SONDE_PATTERN_POWER(std::uint32_t)
SONDE_PATTERN_POWER(std::uint64_t)
SONDE_PATTERN_POWER(float)
SONDE_PATTERN_POWER(double)
#undef SONDE_PATTERN_POWER

}  // namespace sonde::stem
