// SPDX-License-Identifier: Apache-2.0
// What a simulation will write and hold, before it does.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/sampling.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/simulate/frames.h"
#include "sonde/instruments/stem/simulate/simulate.h"

namespace sonde::stem {
namespace {

constexpr std::size_t batch_bytes = std::size_t{32} << 20;  // frames made before they are written

std::size_t frame_bytes_of(const SimulateOptions& options, const Model& model) {
  return static_cast<std::size_t>(model.pixels()) * size_bytes(options.dtype);
}

/// In f64 per position: images and variances of four detectors, total, two moments and their variances, the beam, and
/// one image on its way to the file; and up to 64 partial sums of the pattern with their total.
std::size_t truth_bytes(const Model& model) {
  return 8 * (8 + 5 + 2 + 1) * static_cast<std::size_t>(model.positions()) +
         8 * 65 * static_cast<std::size_t>(model.pixels());
}

/// Places and deposits of all electrons, as they are gathered and on their way to the file.
std::size_t electron_bytes(const Model& model) {
  if (model.integrating() == nullptr) return 0;
  return 3 * 3 * sizeof(float) * static_cast<std::size_t>(1.2 * model.optics().dose) *
         static_cast<std::size_t>(model.positions());
}

/// Of every worker: rates in f64, counts in u32, the profile at 1/32 px or the wave and its phase, and the planes and
/// bytes of a packed frame.
std::size_t scratch_bytes(const SimulateOptions& options, const Model& model, std::size_t frame_bytes) {
  const double diagonal =
      std::hypot(static_cast<double>(model.optics().rows), static_cast<double>(model.optics().cols));
  const std::size_t each = (options.sample == Sample::phase      ? 36
                            : options.sample == Sample::counting ? 28
                                                                 : 12) *
                               static_cast<std::size_t>(model.pixels()) +
                           8 * 32 * static_cast<std::size_t>(diagonal) + 2 * frame_bytes;
  return static_cast<std::size_t>(thread_count()) * each;
}

}  // namespace

SimulationPlan plan_simulation(const SimulateOptions& options, const Budget& budget) {
  const Model model = model_of(options);
  const std::size_t frame_bytes = frame_bytes_of(options, model), scratch = scratch_bytes(options, model, frame_bytes);
  SimulationPlan plan;
  plan.frames = model.positions();
  plan.frame_bytes = frame_bytes;
  plan.data_files = (plan.frames + options.frames_per_file - 1) / options.frames_per_file;
  // A frame is held as it is and packed; what does not compress grows by less than a hundredth.
  const std::size_t held_bytes = 2 * frame_bytes + frame_bytes / 100;
  plan.batch = choose_batch(budget, plan.frames, held_bytes, scratch,
                            std::max<Index>(1, static_cast<Index>(batch_bytes / frame_bytes)));
  const std::size_t truth = options.truth ? truth_bytes(model) + electron_bytes(model) : 0;
  plan.memory.lasting_bytes = plan.memory.add("threads", scratch, "rates, counts and a packed frame of each");
  const std::size_t frames = plan.memory.add("frames", static_cast<std::size_t>(plan.batch.value) * held_bytes,
                                             fmt::format("{} at a time, as they are and packed", plan.batch.value));
  plan.memory.add("truth", truth, "images, moments and the mean pattern, once the frames are written");
  plan.memory.peak_bytes = scratch + std::max(truth, frames);
  return plan;
}

double sample_compression(const SimulateOptions& options) {
  const Model model = model_of(options);
  const std::size_t frame_bytes = frame_bytes_of(options, model);
  const Index samples = std::min(model.positions(), std::clamp<Index>(batch_bytes / frame_bytes, 1, 32));
  double packed = 0;
  for (Index i = 0; i < samples; ++i)
    for (const auto& chunk : simulate_chunks(model, static_cast<std::uint64_t>(options.seed),
                                             spread_sample(i, samples, model.positions()), 1, options.dtype))
      packed += static_cast<double>(chunk.size());
  return static_cast<double>(samples) * static_cast<double>(frame_bytes) / packed;
}

}  // namespace sonde::stem
