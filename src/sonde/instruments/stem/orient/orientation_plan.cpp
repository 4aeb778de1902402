// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/orientation_plan.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/math/wavelength.h"

namespace sonde::stem {
namespace {

using std::numbers::pi;
constexpr double degree = pi / 180;
constexpr int highest_index = 6;
// exp(-4.5^2 / 2) is 4e-5: farther along the arc a peak adds less than the rounding of float32 patterns.
constexpr double widest_arc = 4.5;  // kernels

}  // namespace

OrientationPlan OrientationPlan::prepare(const Crystal& crystal, const OrientationOptions& options) {
  OrientationPlan plan;
  plan.options_ = options;
  plan.crystal_ = crystal;
  plan.beam_ = {.wavelength = electron_wavelength(options.voltage),
                .sigma_excitation_error = options.sigma_excitation_error,
                .precession = options.precession * degree};
  plan.reflections_ = list_reflections(crystal, options.k_max);
  plan.group_ = find_point_group(crystal, plan.reflections_);
  plan.proper_ = plan.group_.proper();
  plan.low_directions_ = lattice_directions(crystal.cell, highest_index);
  plan.zones_ = zone_axes(plan.group_, options.angle_step_zone_axis * degree);
  plan.angles_ = std::max<Index>(8, static_cast<Index>(std::round(360 / options.angle_step_in_plane)));
  plan.find_shells();
  const auto zones = static_cast<Index>(plan.zones_.size()), shells = static_cast<Index>(plan.radii_.size());
  const Index frequencies = plan.frequencies();
  plan.real_.resize(static_cast<std::size_t>(frequencies * zones * shells));
  plan.imaginary_.resize(plan.real_.size());
  const auto transform = RealFft1d<float>::prepare({.length = plan.angles_, .batch = shells});
  parallel_for(zones, 16, [&](Index first, Index last, Worker&) {
    std::vector<float> polar(static_cast<std::size_t>(shells * plan.angles_));
    std::vector<std::complex<float>> series(static_cast<std::size_t>(shells * frequencies));
    Stream stream;
    for (Index zone = first; zone < last; ++zone) {
      const Orientation orientation = orientation_along(plan.zones_[static_cast<std::size_t>(zone)]);
      plan.draw_zone(kinematic_pattern(plan.reflections_, orientation, plan.beam_), polar.data());
      transform.forward(stream, View<const float, 2>(polar.data(), shells, plan.angles_),
                        View<std::complex<float>, 2>(series.data(), shells, frequencies));
      for (Index f = 0; f < frequencies; ++f)
        for (Index s = 0; s < shells; ++s) {
          const auto at = static_cast<std::size_t>((f * zones + zone) * shells + s);
          plan.real_[at] = series[static_cast<std::size_t>(s * frequencies + f)].real();
          plan.imaginary_[at] = series[static_cast<std::size_t>(s * frequencies + f)].imag();
        }
    }
  });
  return plan;
}

void OrientationPlan::find_shells() {
  std::vector<Index> members;
  double begins = -1;
  for (const Reflection& each : reflections_) {
    if (radii_.empty() || each.length > begins + options_.tol_distance) {
      begins = each.length;
      radii_.push_back(0);
      members.push_back(0);
    }
    radii_.back() += each.length;
    ++members.back();
    shell_of_.push_back(static_cast<Index>(radii_.size()) - 1);
  }
  for (std::size_t s = 0; s < radii_.size(); ++s) {
    radii_[s] /= static_cast<double>(members[s]);
    weights_.push_back(std::pow(radii_[s], options_.power_radial));
  }
}

void OrientationPlan::draw_zone(const std::vector<KinematicSpot>& pattern, float* polar) const {
  const auto count = static_cast<std::size_t>(angles_) * radii_.size();
  std::vector<double> values(count);
  for (const KinematicSpot& spot : pattern) {
    const auto shell = static_cast<std::size_t>(shell_of_[spot.reflection]);
    const double value = weights_[shell] * std::pow(spot.intensity, options_.power_intensity);
    const double turn = std::atan2(spot.y, spot.x) / (2 * pi);
    const double at = (turn - std::floor(turn)) * static_cast<double>(angles_);
    const double part = at - std::floor(at);
    double* const row = values.data() + shell * static_cast<std::size_t>(angles_);
    const Index bin = static_cast<Index>(at) % angles_;
    row[bin] += (1 - part) * value;
    row[(bin + 1) % angles_] += part * value;
  }
  double norm = 0;
  for (const double value : values) norm += value * value;
  const double scale = norm > 0 ? 1 / std::sqrt(norm) : 0;
  for (std::size_t i = 0; i < count; ++i) polar[i] = static_cast<float>(scale * values[i]);
}

void OrientationPlan::draw(const DiffractionPeak* peaks, std::size_t count, float* polar) const {
  std::fill(polar, polar + radii_.size() * static_cast<std::size_t>(angles_), 0.0F);
  const double kernel = options_.corr_kernel_size, step = 2 * pi / static_cast<double>(angles_);
  for (std::size_t i = 0; i < count; ++i) {
    const double q = std::hypot(peaks[i].x, peaks[i].y);
    const double strength = std::pow(std::max(0.0, peaks[i].intensity), options_.power_intensity);
    const double at = std::atan2(peaks[i].y, peaks[i].x) / step;
    for (std::size_t s = 0; s < radii_.size(); ++s) {
      const double off = q - radii_[s];
      if (!(std::abs(off) < kernel)) continue;  // also where a peak has no place
      const double value = weights_[s] * strength * std::exp(-off * off / (2 * kernel * kernel));
      const auto reach = std::min(static_cast<Index>(widest_arc * kernel / (radii_[s] * step)), (angles_ - 1) / 2);
      const auto middle = static_cast<Index>(std::round(at));
      float* const row = polar + s * static_cast<std::size_t>(angles_);
      for (Index m = middle - reach; m <= middle + reach; ++m) {
        const double arc = radii_[s] * step * (static_cast<double>(m) - at);
        row[(m % angles_ + angles_) % angles_] +=
            static_cast<float>(value * std::exp(-arc * arc / (2 * kernel * kernel)));
      }
    }
  }
}

View<const float, 2> OrientationPlan::part(const std::vector<float>& of, Index frequency) const {
  const auto zones = static_cast<Index>(zones_.size()), shells = static_cast<Index>(radii_.size());
  return {of.data() + frequency * zones * shells, zones, shells};
}

}  // namespace sonde::stem
