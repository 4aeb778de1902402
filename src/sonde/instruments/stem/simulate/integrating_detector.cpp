// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/simulate/integrating_detector.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sonde/engine/math/random.h"

namespace sonde::stem {
namespace {

// Streams of one seed: counts of frames have those from 0, defects and hills the last ones.
constexpr std::uint64_t electron_streams = std::uint64_t{1} << 60, noise_streams = std::uint64_t{1} << 61,
                        xray_streams = std::uint64_t{1} << 62, map_streams = std::uint64_t{1} << 63;
constexpr double least_gain = 0.1;

std::vector<float> map_of(const RandomStream& random, std::size_t pixels, double mean, double spread, double least) {
  std::vector<double> normal(pixels);
  draw_normal(random, normal);
  std::vector<float> map;
  for (const double each : normal) map.push_back(static_cast<float>(std::max(mean + spread * each, least)));
  return map;
}

/// The share of a normal distribution about `at` in each of the pixels from `first` on.
void shares_of(double at, double sigma, Index first, std::span<double> shares) {
  const auto below = [&](Index edge) {
    return 0.5 * std::erf((static_cast<double>(edge) - 0.5 - at) / (sigma * std::sqrt(2.0)));
  };
  double before = below(first);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double here = below(first + static_cast<Index>(i) + 1);
    shares[i] = here - before;
    before = here;
  }
}

}  // namespace

IntegratingDetector::IntegratingDetector(Index rows, Index cols, const IntegratingSettings& settings,
                                         std::vector<std::uint8_t> defect)
    : rows_(rows), cols_(cols), settings_(settings), defect_(std::move(defect)) {
  const auto pixels = static_cast<std::size_t>(rows * cols);
  dark_ = map_of({settings.seed, map_streams}, pixels, settings.dark, settings.dark_spread, 0);
  gain_ = map_of({settings.seed, map_streams + 1}, pixels, 1, settings.gain_spread, least_gain);
}

void IntegratingDetector::electrons(Index frame, std::span<const std::uint32_t> counts,
                                    std::vector<FallenElectron>& fallen) const {
  fallen.clear();
  Random random(settings_.seed, electron_streams + static_cast<std::uint64_t>(frame));
  for (std::size_t pixel = 0; pixel < counts.size(); ++pixel) {
    if (defect_[pixel] != 0) continue;
    const auto row = static_cast<double>(static_cast<Index>(pixel) / cols_);
    const auto col = static_cast<double>(static_cast<Index>(pixel) % cols_);
    for (std::uint32_t i = 0; i < counts[pixel]; ++i) {
      const double y = row - 0.5 + random.uniform(), x = col - 0.5 + random.uniform();
      const double deposit = settings_.deposit - settings_.spread * std::log(-std::log(random.uniform()));
      fallen.push_back({static_cast<float>(y), static_cast<float>(x), static_cast<float>(std::max(deposit, 0.0))});
    }
  }
}

void IntegratingDetector::spread_charge(const FallenElectron& electron, std::span<double> charge) const {
  constexpr Index most_reach = 16;
  const auto y = static_cast<double>(electron.y), x = static_cast<double>(electron.x);
  const Index reach = std::min(most_reach, static_cast<Index>(std::ceil(6 * settings_.cloud)) + 1);
  const Index row = std::lround(y) - reach, col = std::lround(x) - reach;
  std::array<double, 2 * most_reach + 1> down{}, across{};
  const auto width = static_cast<std::size_t>(2 * reach + 1);
  shares_of(y, settings_.cloud, row, std::span(down).first(width));
  shares_of(x, settings_.cloud, col, std::span(across).first(width));
  for (Index i = 0; i < 2 * reach + 1; ++i) {
    if (row + i < 0 || row + i >= rows_) continue;
    for (Index j = 0; j < 2 * reach + 1; ++j)
      if (col + j >= 0 && col + j < cols_)
        charge[static_cast<std::size_t>((row + i) * cols_ + col + j)] += static_cast<double>(electron.deposit) *
                                                                         down[static_cast<std::size_t>(i)] *
                                                                         across[static_cast<std::size_t>(j)];
  }
}

void IntegratingDetector::expose(Index frame, std::span<std::uint32_t> counts, Scratch& scratch) const {
  electrons(frame, counts, scratch.fallen);
  scratch.charge.assign(counts.size(), 0);
  for (std::size_t pixel = 0; pixel < counts.size(); ++pixel)
    if (defect_[pixel] != 0) scratch.charge[pixel] = settings_.deposit * static_cast<double>(counts[pixel]);
  for (const FallenElectron& electron : scratch.fallen) spread_charge(electron, scratch.charge);
  Random random(settings_.seed, xray_streams + static_cast<std::uint64_t>(frame));
  // As many as Poisson's distribution has.
  for (double left = random.uniform(); left > std::exp(-settings_.xrays); left *= random.uniform())
    scratch.charge[static_cast<std::size_t>(random.below(rows_ * cols_))] += 500 + 1000 * random.uniform();
  scratch.noise.resize(counts.size());
  draw_normal({settings_.seed, noise_streams + static_cast<std::uint64_t>(frame)}, scratch.noise);
  for (std::size_t pixel = 0; pixel < counts.size(); ++pixel) {
    const double value = static_cast<double>(dark_[pixel]) + scratch.charge[pixel] / static_cast<double>(gain_[pixel]) +
                         settings_.noise * scratch.noise[pixel];
    counts[pixel] = static_cast<std::uint32_t>(std::max(0.0, std::round(value)));
  }
}

}  // namespace sonde::stem
