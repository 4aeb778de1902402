// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/simulate/soft_disks.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/instruments/stem/simulate/model_kernels.h"

namespace sonde::stem {
namespace {

constexpr double table_steps = cpu::table_step_inverse;
constexpr double soft_reach = 8;   // edge widths within which the disk changes inside of a pixel: 3e-4 of it beyond
constexpr double disk_reach = 16;  // edge widths: the logistic edge has fallen to 10^-7

}  // namespace

SoftDisks::SoftDisks(const Optics& optics) : optics_(optics) {
  const double reach = optics_.disk_radius + disk_reach * optics_.edge_width;
  table_.resize(static_cast<std::size_t>(reach * table_steps) + 3);
  for (std::size_t i = 0; i < table_.size(); ++i) {
    const double distance = static_cast<double>(i) / table_steps;
    table_[i] = 1 / (1 + std::exp((distance - optics_.disk_radius) / optics_.edge_width));
    disk_area_ += 2 * std::numbers::pi * distance * table_[i] / table_steps;
  }
  for (Index row = 0; row < optics_.rows; ++row)
    for (Index col = 0; col < optics_.cols; ++col)
      background_sum_ += std::exp(
          -std::hypot(static_cast<double>(row) - optics_.centre_row, static_cast<double>(col) - optics_.centre_col) /
          optics_.halo_length);
}

void SoftDisks::set_background(double row, double col, double counts, std::span<double> rate) const {
  const double background = counts / background_sum_;
  for (Index y = 0; y < optics_.rows; ++y)
    for (Index x = 0; x < optics_.cols; ++x) {
      const double down = static_cast<double>(y) - row, across = static_cast<double>(x) - col;
      rate[static_cast<std::size_t>(y * optics_.cols + x)] =
          background * std::exp(-std::sqrt(down * down + across * across) / optics_.halo_length);
    }
}

double SoftDisks::profile(double distance) const {
  const double at = std::min(distance * table_steps, static_cast<double>(table_.size()) - 2);
  const auto entry = static_cast<std::size_t>(at);
  return table_[entry] + (at - static_cast<double>(entry)) * (table_[entry + 1] - table_[entry]);
}

void SoftDisks::add(double row, double col, double counts, std::span<double> rate) const {
  const double reach = optics_.disk_radius + disk_reach * optics_.edge_width, scale = counts / disk_area_;
  const double soft = soft_reach * optics_.edge_width + 1;
  // Gauss points and weights of three on [-1/2, 1/2].
  const double place[3] = {-0.5 * std::sqrt(0.6), 0, 0.5 * std::sqrt(0.6)}, weight[3] = {5. / 18, 8. / 18, 5. / 18};
  const auto clamped = [](double at, Index extent) {
    return static_cast<Index>(std::clamp(at, 0.0, static_cast<double>(extent)));
  };
  const Index last_row = clamped(row + reach + 1, optics_.rows), last_col = clamped(col + reach + 1, optics_.cols);
  for (Index y = clamped(row - reach, optics_.rows); y < last_row; ++y)
    for (Index x = clamped(col - reach, optics_.cols); x < last_col; ++x) {
      const double down = static_cast<double>(y) - row, across = static_cast<double>(x) - col;
      const double distance = std::sqrt(down * down + across * across);
      if (distance > reach) continue;
      double mean = 0;
      if (std::abs(distance - optics_.disk_radius) > soft) {
        mean = profile(distance);
      } else {
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) {
            const double at_y = down + place[i], at_x = across + place[j];
            mean += weight[i] * weight[j] * profile(std::sqrt(at_y * at_y + at_x * at_x));
          }
      }
      rate[static_cast<std::size_t>(y * optics_.cols + x)] += scale * mean;
    }
}

}  // namespace sonde::stem
