// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/samples.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/separate/run/passes.h"

namespace sonde::separate {
namespace {

View<const float, 2> part(View<const float, 2> of, Index first, Index count) {
  of.data += first * of.stride[1];
  of.extent[1] = count;
  return of;
}

}  // namespace

Array separate_samples(View<const float, 2> samples, const SeparationSettings& settings, const Config& config,
                       Network& network) {
  const Index channels = samples.extent[0], all = samples.extent[1];
  if (channels != config.audio_channels || all == 0)
    throw Error(ErrorKind::bad_input, fmt::format("samples: {} x {}, expected {} channels with at least one sample",
                                                  channels, all, config.audio_channels));
  DemixSettings joining = demix_settings(config, settings);
  check(joining);
  if (config.normalize) {
    MonoSpread spread;
    for (Index done = 0; done < all; done += samples_at_once)
      spread.add(part(samples, done, std::min(samples_at_once, all - done)));
    joining.mean = spread.mean(), joining.deviation = spread.deviation();
  }
  ProgressMeter meter("separating", chunk_count(joining, all) * settings.shifts, "chunks");
  TimedNetwork timed(config, settings.tta, network, meter);
  SeparationSettings at_once = settings;
  at_once.preview = at_once.quality = false;  // nothing of it is seen before the end
  const std::vector<Pass> passes = passes_of(config, at_once);
  const auto call = [&timed](View<const float, 2> chunk, View<float, 3> stems) { timed(chunk, stems); };
  Array made = Array::zeros(Device::cpu(), {joining.stems, channels, all}, DType::f32);
  const View<float, 3> sums = made.view<float, 3>();
  for (const Pass& pass : passes) {
    timed.change(pass.changes);
    Index at = shift_of(all, settings.shifts, pass.shift);
    const auto add = [&](View<const float, 2>, View<const float, 3> stems) {
      for (Index s = 0; s < joining.stems; ++s) {
        for (Index c = 0; c < channels; ++c) {
          for (Index i = 0; i < stems.extent[2]; ++i) sums(s, c, (at + i) % all) += stems(s, c, i);
        }
      }
      at += stems.extent[2];
    };
    Demixer demixer(joining, call, add);
    const Index first = at;
    for (Index done = 0; done < all;) {
      const Index from = (first + done) % all, count = std::min({samples_at_once, all - done, all - from});
      demixer.push(part(samples, from, count));
      done += count;
    }
    demixer.finish();
  }
  const double scale = 1 / static_cast<double>(settings.shifts);
  if (settings.shifts > 1) {
    for (Index i = 0; i < sums.count(); ++i)
      sums.data[i] = static_cast<float>(scale * static_cast<double>(sums.data[i]));
  }
  return made;
}

Array resampled(View<const float, 2> samples, Index rate, Index to_rate, Index channels, ResampleQuality quality) {
  const Index from = samples.extent[0], all = samples.extent[1];
  if (from != channels && from != 1)
    throw Error(ErrorKind::bad_input, fmt::format("samples: {} channels; expected 1 or {}", from, channels));
  for (Index c = 0; c < from; ++c) {
    for (Index i = 0; i < all; ++i) {
      if (!std::isfinite(samples(c, i)))
        throw Error(ErrorKind::bad_input, fmt::format("samples: channel {} has {} at sample {}", c, samples(c, i), i))
            .hint("replace it, or leave it out");
    }
  }
  const auto source = [&](Index c, Index i) { return samples(std::min(c, from - 1), i); };
  if (rate == to_rate) {
    Array same(Device::cpu(), {channels, all}, DType::f32);
    const View<float, 2> to = same.view<float, 2>();
    for (Index c = 0; c < channels; ++c) {
      for (Index i = 0; i < all; ++i) to(c, i) = source(c, i);
    }
    return same;
  }
  Resampler resampler(rate, to_rate, channels, quality);
  std::vector<float> joined, ready;
  for (Index done = 0; done < all; done += samples_at_once) {
    const Index count = std::min(samples_at_once, all - done);
    joined.resize(static_cast<std::size_t>(channels * count));
    for (Index i = 0; i < count; ++i) {
      for (Index c = 0; c < channels; ++c) joined[static_cast<std::size_t>(i * channels + c)] = source(c, done + i);
    }
    resampler.process(joined, ready);
  }
  resampler.process({}, ready);
  const Index count = static_cast<Index>(ready.size()) / channels;
  Array made(Device::cpu(), {channels, count}, DType::f32);
  const View<float, 2> to = made.view<float, 2>();
  for (Index i = 0; i < count; ++i) {
    for (Index c = 0; c < channels; ++c) to(c, i) = ready[static_cast<std::size_t>(i * channels + c)];
  }
  return made;
}

}  // namespace sonde::separate
