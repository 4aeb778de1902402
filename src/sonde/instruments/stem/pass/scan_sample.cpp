// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/scan_sample.h"

#include <algorithm>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/sampling.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/correct/mask_bit.h"
#include "sonde/instruments/stem/pass/frame_kernels.h"

namespace sonde::stem {
namespace {

/// Read one after the other, decoded and summed on all cores. A broken frame counts as zero: the pass itself reports
/// it.
template <class In>
ScanSample sample(Source& source, const PassSettings& settings, Index samples) {
  using Sum = cpu::sum_of<In>;
  const DetectorGrid& detector = settings.detector;
  const auto& kernels = cpu::frame_kernels<In>();
  const auto& sentinel = source.acquisition().sentinel;
  const auto pixels = static_cast<std::size_t>(detector.pixels());
  struct Share {
    std::vector<In> frame;
    std::vector<Sum> sum, bins;
    std::vector<std::uint32_t> ignored;
    DecodeScratch scratch;
    Sum largest = 0;
    Index frames = 0;
  };
  PerWorker<Share> shares([&] {
    Share share;
    share.frame.resize(pixels);
    share.sum.resize(pixels);
    share.bins.resize(static_cast<std::size_t>(detector.out_pixels()));
    share.ignored.resize(pixels);
    return share;
  });
  std::vector<std::size_t> bad;  // of few pixels: to look at all of them in each frame takes longer than to decode it
  for (std::size_t pixel = 0; pixel < pixels; ++pixel)
    if (mask_bit::is_bad(settings.mask_bits[pixel])) bad.push_back(pixel);
  const auto add = [&](const RawBatch& batch, Index stored, Share& share) {
    std::vector<In>& frame = share.frame;
    try {
      source.decode(batch, stored, share.scratch, std::as_writable_bytes(std::span(frame)));
    } catch (const Error&) {
      return;
    }
    ++share.frames;
    for (const std::size_t pixel : bad) frame[pixel] = In(0);
    if (sentinel || !std::is_integral_v<In>)
      kernels.clear_sentinels(frame.data(), detector.pixels(), static_cast<In>(sentinel.value_or(0)),
                              share.ignored.data());
    kernels.add_sum(frame.data(), 1, detector.pixels(), share.sum.data());
    for (const Index pixel : settings.suspects) frame[static_cast<std::size_t>(pixel)] = In(0);
    kernels.bin_add_wide(frame.data(), detector.rows, detector.cols, detector.bin, detector.out_rows, detector.out_cols,
                         share.bins.data());
  };

  struct Position {
    std::vector<std::pair<Index, RawBatch>> frames;  // that could be read
  };
  // Positions whose stored bytes are held at a time.
  const auto position_bytes = static_cast<Index>(pixels * sizeof(In)) * settings.scan.bin * settings.scan.bin;
  const Index together = std::clamp<Index>(static_cast<Index>(settings.batch_bytes) / position_bytes, 1, 16);
  std::vector<Position> held(static_cast<std::size_t>(std::min(samples, together)));
  const Index positions = settings.scan.positions();
  samples = std::min(samples, positions);
  std::vector<Index> frames;
  // Sums of floats are rounded in their order, so one worker adds them.
  const Index grain = std::is_integral_v<In> ? 1 : together;
  for (Index begin = 0; begin < samples; begin += together) {
    const Index count = std::min(together, samples - begin);
    for (Index i = 0; i < count; ++i) {
      Position& position = held[static_cast<std::size_t>(i)];
      position.frames.clear();
      settings.scan.frames_of(spread_sample(begin + i, samples, positions), frames);
      for (const Index stored : frames) try {
          position.frames.emplace_back(stored, RawBatch());
          source.read(stored, stored + 1, position.frames.back().second);
        } catch (const Error&) {
          position.frames.pop_back();
        }
    }
    parallel_for(count, grain, [&](Index first, Index last, Worker& worker) {
      Share& share = shares[worker];
      for (Index i = first; i < last; ++i) {
        std::fill(share.bins.begin(), share.bins.end(), Sum(0));
        for (const auto& [stored, batch] : held[static_cast<std::size_t>(i)].frames) add(batch, stored, share);
        for (const Sum bin : share.bins) share.largest = std::max(share.largest, bin);
      }
    });
  }

  ScanSample result;
  result.sum = Array::zeros(Device::cpu(), {detector.rows, detector.cols}, dtype_of<Sum>);
  for (const auto& share : shares) {
    auto* sum = static_cast<Sum*>(result.sum.data());
    for (std::size_t pixel = 0; pixel < pixels; ++pixel) sum[pixel] += share->sum[pixel];
    result.largest = std::max(result.largest, static_cast<double>(share->largest));
    result.frames += share->frames;
  }
  return result;
}

}  // namespace

ScanSample sample_scan(Source& source, const PassSettings& settings, Index samples) {
  switch (source.acquisition().stored) {
    case DType::u8:
      return sample<std::uint8_t>(source, settings, samples);
    case DType::u16:
      return sample<std::uint16_t>(source, settings, samples);
    case DType::u32:
      return sample<std::uint32_t>(source, settings, samples);
    default:
      return sample<float>(source, settings, samples);
  }
}

}  // namespace sonde::stem
