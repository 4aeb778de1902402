// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/load/pass.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/sampling.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/stem/load/batch_feed.h"
#include "sonde/instruments/stem/load/device_pass.h"
#include "sonde/instruments/stem/load/frame_worker.h"

namespace sonde::stem {
namespace {

Array zeros(Shape shape, DType dtype) { return Array::zeros(Device::cpu(), shape, dtype); }

/// Adds sums over positions to those of the result; for floats in the order of the shares.
template <class In, class Acc>
void join(const PixelSums<In, Acc>& sums, PassResult& result) {
  auto* input = static_cast<cpu::sum_of<In>*>(result.input_sum.data());
  for (std::size_t i = 0; i < sums.input.size(); ++i) input[i] += sums.input[i];
  const auto join_pattern = [&](const auto& values) {
    using Sum = typename std::decay_t<decltype(values)>::value_type;
    auto* sum = static_cast<Sum*>(result.moments.pattern_sum.data());
    for (std::size_t i = 0; i < values.size(); ++i) sum[i] += values[i];
  };
  if (sums.binned.empty())
    join_pattern(sums.input);
  else
    join_pattern(sums.binned);
  result.masked += sums.masked;
}

template <class In, class Acc>
void join(const FrameWorker<In, Acc>& worker, PassResult& result, bool plain) {
  for (std::size_t i = 0; i < worker.sentinels_per_pixel.size(); ++i)
    result.sentinels_per_pixel[i] += worker.sentinels_per_pixel[i];

  auto* nonzero = static_cast<std::uint64_t*>(result.moments.nonzero.data());
  for (std::size_t i = 0; i < worker.nonzero.size(); ++i) nonzero[i] += worker.nonzero[i];
  const auto join_largest = [&](const auto& values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (result.moments.pattern_max.dtype() == DType::f32) {
        float& most = static_cast<float*>(result.moments.pattern_max.data())[i];
        most = std::max(most, static_cast<float>(values[i]));
      } else {
        std::uint64_t& most = static_cast<std::uint64_t*>(result.moments.pattern_max.data())[i];
        most = std::max(most, static_cast<std::uint64_t>(values[i]));
      }
    }
  };
  if (plain)
    join_largest(worker.largest_in);
  else
    join_largest(worker.largest_acc);

  result.largest = std::max(result.largest, worker.largest);
  result.suspects_largest = std::max(result.suspects_largest, worker.suspects_largest);
  result.clipped += worker.clipped;
  result.clipped_counts += worker.clipped_counts;
  result.sentinels += worker.sentinels;
  result.sentinel_frames += worker.sentinel_frames;
  result.masked_sentinels += worker.masked_sentinels;
  result.saturated += worker.saturated;
  result.frames += worker.frames;
  result.seconds.add(worker.seconds);
}

/// Shares of the scan whose sums of floats are kept apart: enough for many cores, few enough for a large detector. A
/// function of sizes, because the rounding depends on it.
std::size_t shares_of_floats(const PassSettings& settings) {
  const DetectorGrid& detector = settings.detector;
  constexpr std::size_t most_bytes = std::size_t{64} << 20;
  const std::size_t bytes = 8 * static_cast<std::size_t>(detector.pixels() + detector.out_pixels());
  return std::clamp<std::size_t>(most_bytes / bytes, 2, 32);
}

template <class In, class Acc>
PassResult run(Source& source, const PassSettings& settings, Array& destination) {
  const Stopwatch watch;
  const DetectorGrid& detector = settings.detector;
  const ScanGrid& scan = settings.scan;
  const bool counts = std::is_integral_v<In>;
  const DType sum_type = counts ? DType::u64 : DType::f64;

  PassResult result;
  const Index positions = scan.positions();
  result.moments.total = zeros({positions}, sum_type);
  result.moments.moment_row = zeros({positions}, sum_type);
  result.moments.moment_col = zeros({positions}, sum_type);
  result.moments.pattern_sum = zeros({detector.out_rows, detector.out_cols}, sum_type);
  result.moments.pattern_max = zeros({detector.out_rows, detector.out_cols}, counts ? DType::u64 : DType::f32);
  if (!counts)
    std::fill_n(static_cast<float*>(result.moments.pattern_max.data()), detector.out_pixels(),
                -std::numeric_limits<float>::infinity());
  result.moments.nonzero = zeros({detector.out_rows, detector.out_cols}, DType::u64);
  result.input_sum = zeros({detector.rows, detector.cols}, sum_type);
  result.sentinels_per_pixel.resize(static_cast<std::size_t>(detector.pixels()));
  result.valid.resize(static_cast<std::size_t>(positions));

  PassShared shared;
  shared.source = &source;
  shared.settings = &settings;
  shared.destination = &destination;
  shared.result = &result;
  for (Index pixel = 0; pixel < detector.pixels(); ++pixel)
    if (mask_bit::is_bad(settings.mask_bits[static_cast<std::size_t>(pixel)])) shared.bad_pixels.push_back(pixel);
  if (settings.mode == BinMode::mean)
    for (const std::uint32_t good : detector.good_per_bin(settings.mask_bits))
      shared.mean_scale.push_back(good == 0 ? 0.0f : 1.0f / static_cast<float>(good));

  const Schedule schedule = make_schedule(scan, source, settings.batch_bytes);
  PerWorker<FrameWorker<In, Acc>> workers([&] { return FrameWorker<In, Acc>(shared); });
  std::vector<PixelSums<In, Acc>> sums(counts ? static_cast<std::size_t>(worker_limit()) : shares_of_floats(settings),
                                       PixelSums<In, Acc>(settings));

  BatchFeed feed(source, schedule);
  ProgressMeter progress(settings.stage, positions, "positions");

  while (const auto batch = feed.next()) {
    check_interrupt();
    const std::span<const Index> order = std::span(schedule.order)
                                             .subspan(static_cast<std::size_t>(batch->plan->first),
                                                      static_cast<std::size_t>(batch->plan->last - batch->plan->first));
    // Pieces of work: positions of one tile, so that a cache line of a plane has one writer.
    constexpr Index tile = FrameWorker<In, Acc>::tile_positions;
    std::vector<std::size_t> starts = {0};
    for (std::size_t i = 1; i < order.size(); ++i)
      if (order[i] / tile != order[i - 1] / tile) starts.push_back(i);
    starts.push_back(order.size());
    const std::size_t pieces = starts.size() - 1;
    const auto load = [&](std::size_t piece, Worker& worker, PixelSums<In, Acc>& into) {
      workers[worker].load(batch->raw, order.subspan(starts[piece], starts[piece + 1] - starts[piece]), into);
    };
    const auto share_count = static_cast<Index>(sums.size());
    if (counts)
      parallel_for(static_cast<Index>(pieces), 1, [&](Index first, Index last, Worker& worker) {
        for (Index piece = first; piece < last; ++piece)
          load(static_cast<std::size_t>(piece), worker, sums[static_cast<std::size_t>(worker.index)]);
      });
    else
      parallel_for(share_count, 1, [&](Index first, Index last, Worker& worker) {
        for (Index share = first; share < last; ++share)
          for (std::size_t piece = 0; piece < pieces; ++piece)
            if (order[starts[piece]] / tile % share_count == share)
              load(piece, worker, sums[static_cast<std::size_t>(share)]);
      });
    result.seconds.read += batch->read_s;
    result.stored_bytes += batch->plan->bytes;
    progress.advance(static_cast<Index>(order.size()));
  }

  const bool plain = is_plain(settings);
  for (const auto& worker : workers) join(*worker, result, plain);
  for (const auto& each : sums) join(each, result);
  if (plain)  // S of the stored detector is that of the resident one, where suspects hold zeros
    for (const Index pixel : settings.suspects)
      static_cast<cpu::sum_of<In>*>(result.moments.pattern_sum.data())[pixel] = 0;
  result.overflow = shared.overflow;
  result.content_hash = feed.content_hash();
  std::sort(result.failed.begin(), result.failed.end(),
            [](const FailedFrame& a, const FailedFrame& b) { return a.frame < b.frame; });
  result.seconds.wall = watch.seconds();
  return result;
}

/// Sums of bins stay exact in 32 bits when the largest possible value times the frames and pixels summed does.
bool wide_sums(const PassSettings& settings, DType stored) {
  const auto members =
      static_cast<double>(settings.detector.bin * settings.detector.bin * settings.scan.bin * settings.scan.bin);
  return members * static_cast<double>(max_value(stored)) >= 4294967296.0;
}

template <class In>
PassResult run_counts(Source& source, const PassSettings& settings, Array& destination) {
  if (wide_sums(settings, dtype_of<In>)) return run<In, std::uint64_t>(source, settings, destination);
  return run<In, std::uint32_t>(source, settings, destination);
}

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
  result.sum = zeros({detector.rows, detector.cols}, dtype_of<Sum>);
  for (const auto& share : shares) {
    auto* sum = static_cast<Sum*>(result.sum.data());
    for (std::size_t pixel = 0; pixel < pixels; ++pixel) sum[pixel] += share->sum[pixel];
    result.largest = std::max(result.largest, static_cast<double>(share->largest));
    result.frames += share->frames;
  }
  return result;
}

}  // namespace

std::string failure_reason(const Error& error) {
  std::string reason = error.message();
  for (const std::string& activity : error.activities()) reason += ", " + activity;
  return reason;
}

void StageSeconds::add(const StageSeconds& other) {
  validate += other.validate;
  index += other.index;
  read += other.read;
  decode += other.decode;
  mask += other.mask;
  moments += other.moments;
  bin += other.bin;
  place += other.place;
  wall += other.wall;
}

PassResult run_pass(Source& source, const PassSettings& settings, Array& destination) {
  switch (source.acquisition().stored) {
    case DType::u8:
      return run_counts<std::uint8_t>(source, settings, destination);
    case DType::u16:
      return run_counts<std::uint16_t>(source, settings, destination);
    case DType::u32:
      return run<std::uint32_t, std::uint64_t>(source, settings, destination);
    case DType::f32:
      return run<float, double>(source, settings, destination);
    default:
      throw Error(ErrorKind::internal, "the loading pass was given elements it has no loops for");
  }
}

PassSettings part_of(PassSettings settings, const ScanRegion& part) {
  ScanGrid& scan = settings.scan;
  const ScanRegion all = scan.region;
  scan.region = {
      all.row_first + part.row_first * scan.bin, std::min(all.row_first + part.row_last * scan.bin, all.row_last),
      all.col_first + part.col_first * scan.bin, std::min(all.col_first + part.col_last * scan.bin, all.col_last)};
  scan.out_rows = part.row_last - part.row_first;
  scan.out_cols = part.col_last - part.col_first;
  return settings;
}

Choice<std::string> pass_way(Device device, const Source& source, const PassSettings& settings) {
  if (device.is_cpu()) return {"decoded and summed on the CPU", "the data set is there"};
  if (const std::string why = why_not_on_gpu(source, settings); !why.empty())
    return {"decoded and summed on the CPU, then copied to " + device.name(), why};
  if (const std::string why = why_decoded_on_cpu(source); !why.empty())
    return {"decoded on the CPU, summed on " + device.name(), why};
  return {"decoded and summed on " + device.name(), "the data set is there"};
}

PassResult run_pass(Stream& stream, Source& source, const PassSettings& settings, Array& destination) {
  if (stream.device().is_cpu()) return run_pass(source, settings, destination);
  if (why_not_on_gpu(source, settings).empty()) return run_device_pass(stream, source, settings, destination);
  const DetectorGrid& grid = settings.detector;
  const Index positions = settings.scan.positions();
  Array host;
  if (settings.destination == Destination::frames)
    host = make_frames(Device::cpu(), positions, grid.out_rows, grid.out_cols, settings.out);
  else if (settings.destination == Destination::planes)
    host = make_planes(Device::cpu(), positions, grid.out_rows, grid.out_cols, settings.out);
  PassResult result = run_pass(source, settings, host);
  stream.copy(destination.data(), host.data(), host.allocated_bytes());  // one layout on every device
  stream.synchronise();
  return result;
}

std::size_t pass_bytes(const PassSettings& settings, DType stored, std::size_t largest_batch_bytes,
                       std::size_t scan_bytes, int workers) {
  const auto pixels = static_cast<std::size_t>(settings.detector.pixels());
  const auto out_pixels = static_cast<std::size_t>(settings.detector.out_pixels());
  const auto positions = static_cast<std::size_t>(settings.scan.positions());
  const std::size_t sums = 8 * (pixels + 3 * out_pixels) + 4 * pixels + positions * (3 * 8 + 1);
  const std::size_t schedule = 3 * 8 * positions;
  const std::size_t scratch = 4 * pixels * size_bytes(stored)               // a group of frames
                              + (8 + 4) * pixels                            // S and sentinels
                              + (4 * 8 + 8 + 8 + 4) * out_pixels            // accumulator, sum, largest, nonzero
                              + 64 * out_pixels * size_bytes(settings.out)  // a tile
                              + pixels * size_bytes(stored);                // decoding
  const std::size_t shares = is_float(stored) ? shares_of_floats(settings) * 8 * (pixels + out_pixels) : 0;
  const std::size_t ring = std::min(BatchFeed::ring_buffers * largest_batch_bytes, scan_bytes);
  return ring + sums + schedule + shares + static_cast<std::size_t>(workers) * scratch;
}

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
