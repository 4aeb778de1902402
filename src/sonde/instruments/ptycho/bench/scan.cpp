// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/bench/scan.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <numbers>
#include <numeric>
#include <system_error>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/instruments/ptycho/model/pattern_kernels.h"

namespace sonde::ptycho {
namespace {

constexpr double counts_per_frame = 1e6;

/// A Gaussian spot with a curved wave front, a fifth of the window wide; higher modes are moved sideways.
Array spot(Index modes, Index n) {
  Array probe(Device::cpu(), Shape{modes, n, n}, DType::c64);
  const auto to = probe.view<complex64, 3>();
  const double width = static_cast<double>(n) / 10;
  for (Index m = 0; m < modes; ++m)
    for (Index r = 0; r < n; ++r)
      for (Index c = 0; c < n; ++c) {
        const double y = static_cast<double>(r - n / 2),
                     x = static_cast<double>(c - n / 2) - 3.0 * static_cast<double>(m);
        const double d2 = (x * x + y * y) / (width * width);
        to(m, r, c) = complex64(std::polar(std::exp(-d2 / 2), 1.5 * d2));
      }
  const double power = cpu::power<float>(to.data, to.count());
  const auto scale = static_cast<float>(std::sqrt(counts_per_frame / power));
  for (Index i = 0; i < to.count(); ++i) to.data[i] *= scale;
  return probe;
}

/// A phase that varies over some pixels, so that nothing is zero.
void fill_object(View<complex64, 3> object) {
  for (Index r = 0; r < object.extent[1]; ++r)
    for (Index c = 0; c < object.extent[2]; ++c) {
      const double phase = 0.4 * std::sin(0.31 * static_cast<double>(r)) * std::cos(0.23 * static_cast<double>(c)) +
                           0.3 * std::sin(0.11 * static_cast<double>(r + 2 * c));
      object(0, r, c) = complex64(std::polar(1.0, phase));
    }
}

/// The counts of the model's own far fields.
Array expected_counts(const State& state, Index frames, Index n) {
  Array counts(Device::cpu(), Shape{frames, n, n}, DType::f32);
  // The model wants a measurement before there is one; its content plays no part in a forward pass.
  Array ones(Device::cpu(), Shape{1, n, n}, DType::f32);
  std::fill_n(ones.view<float, 3>().data, n * n, 1.0f);
  const Measurement any(ones, ZeroFrequency::corner, {}, AmplitudeStorage::f32);
  const Model<float> model(any, 1, state.modes(), {}, Loss::amplitude, FftEffort::quick);
  Array spectrum;
  if (state.fractional()) {
    spectrum = Array(Device::cpu(), state.probe.shape(), DType::c64);
    probe_spectrum(model, state.probe, spectrum);
  }
  PerWorker<Exposure<float>> exposures([&] { return Exposure<float>(model); });
  const auto to = counts.view<float, 3>();
  parallel_for(frames, 1, [&](Index first, Index last, Worker& worker) {
    Exposure<float>& exposure = exposures[worker];
    for (Index j = first; j < last; ++j) {
      exposure.forward(state, spectrum, j);
      for (Index i = 0; i < n * n; ++i) {
        float sum = 0;
        for (Index m = 0; m < state.modes(); ++m) sum += std::norm(exposure.waves()[m * n * n + i]);
        to.data[j * n * n + i] = std::round(sum / static_cast<float>(n * n));
      }
    }
  });
  return counts;
}

/// Descriptors of the files without a name that this process holds.
std::vector<int> scratch_files() {
  std::vector<int> found;
  for (const std::filesystem::path& entry : entries_of("/proc/self/fd")) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(entry, gone).string();
    if (!gone && target.starts_with('/') && target.ends_with("(deleted)"))
      found.push_back(std::stoi(entry.filename().string()));
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

ScanSize parse_scan_size(const std::string& text) {
  Index numbers[3] = {};
  const char *at = text.data(), *end = at + text.size();
  for (Index& number : numbers) {
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number < 1 || (next != end && *next != 'x'))
      throw Error(ErrorKind::usage, fmt::format("\"{}\" is not a size of a scan", text))
          .hint("rows x columns x pattern, 32x32x128");
    at = next == end ? end : next + 1;
  }
  return {numbers[0], numbers[1], numbers[2]};
}

BenchScan::BenchScan(ScanSize size, Index modes, bool between_pixels, Loss loss, BenchTiers tiers, Device device) {
  const Index n = size.pixels, step = std::max<Index>(1, n / 16), frames = size.rows * size.cols;
  for (Index row = 0; row < size.rows; ++row)
    for (Index col = 0; col < size.cols; ++col) {
      const double beside = between_pixels ? 0.25 : 0.0;
      state_.positions.push_back(
          {static_cast<double>(n / 2 + 1 + row * step) + beside, static_cast<double>(n / 2 + 1 + col * step) - beside});
    }
  state_.placements = place_all(state_.positions, {n, n});
  state_.probe = spot(modes, n);
  state_.object =
      Array(Device::cpu(), Shape{1, (size.rows - 1) * step + n + 2, (size.cols - 1) * step + n + 2}, DType::c64);
  fill_object(state_.object.view<complex64, 3>());
  TierBudgets budgets = TierBudgets::unlimited();
  if (tiers.patterns == Tier::disk || tiers.waves == Tier::disk)
    budgets = TierBudgets::around(Device::cpu(), budgets.host);
  TierBudgets of_patterns = budgets;
  if (tiers.patterns == Tier::disk)
    of_patterns.host =
        Budget(static_cast<std::size_t>(frames * n * n) * (tiers.storage == AmplitudeStorage::f32 ? 4 : 2) / 2,
               "half of the patterns");
  const std::vector<int> others = scratch_files();
  measurement_.emplace(
      frames, n, n, DType::f32,
      MeasurementOptions{.zero = ZeroFrequency::corner, .storage = tiers.storage, .budgets = std::move(of_patterns)});
  if (measurement_->tier().value != tiers.patterns)
    throw Error(ErrorKind::internal, fmt::format("the patterns are elsewhere: {}", measurement_->tier().because));
  measurement_->add(expected_counts(state_, frames, n));
  measurement_->complete();
  const std::vector<int> all = scratch_files();
  std::set_difference(all.begin(), all.end(), others.begin(), others.end(), std::back_inserter(files_));
  model_.emplace(*measurement_, 1, modes, Array(), loss);
  std::vector<Index> everyone(static_cast<std::size_t>(frames));
  std::iota(everyone.begin(), everyone.end(), Index{0});
  if (!device.is_cpu()) there_.emplace(device, *measurement_, PatternTier::device);
  workbench_.emplace(*model_, state_, std::move(everyone), 1,
                     WorkLimits{.wave_tier = tiers.waves, .budgets = std::move(budgets)}, nullptr,
                     there_ ? &*there_ : nullptr);
}

void BenchScan::forget_cached() const {
  for (const int file : files_) {
    ::fdatasync(file);  // what is not written cannot be forgotten
    ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  }
}

std::unique_ptr<Engine<float>> BenchScan::engine(const EngineSetup& setup) { return setup.make(*workbench_); }

}  // namespace sonde::ptycho
