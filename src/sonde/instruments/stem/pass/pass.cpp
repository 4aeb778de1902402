// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/pass.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/stem/correct/mask_bit.h"
#include "sonde/instruments/stem/pass/arrival_feed.h"
#include "sonde/instruments/stem/pass/arrivals.h"
#include "sonde/instruments/stem/pass/batch_feed.h"
#include "sonde/instruments/stem/pass/frame_cleaner.h"

namespace sonde::stem {
namespace {

// Of a list of positions, which may be short, a worker takes so many: all cores have work.
constexpr Index few_positions = 4;

/// Frames that operations get together. They and the states of all operations, which are read and written once for
/// each tile, should stay in a second-level cache of 1 MiB with some room for decoding. A multiple of four, as kernels
/// take them.
std::size_t tile_frames_for(std::size_t frame_bytes, std::size_t state_bytes) {
  constexpr std::size_t cache_bytes = 832 << 10, least = 4, most = 16;
  const std::size_t room = cache_bytes > state_bytes ? cache_bytes - state_bytes : 0;
  return std::clamp(room / std::max<std::size_t>(1, frame_bytes) / 4 * 4, least, most);
}

/// Shares of the scan whose sums of floats are kept apart: enough for many cores, few enough for a large detector. A
/// function of sizes, because the rounding depends on it.
std::size_t shares_of_floats(const PassSettings& settings) {
  const DetectorGrid& detector = settings.detector;
  constexpr std::size_t most_bytes = std::size_t{64} << 20;
  const std::size_t bytes = 8 * static_cast<std::size_t>(detector.pixels() + detector.out_pixels());
  return std::clamp<std::size_t>(most_bytes / bytes, 2, 32);
}

/// Sums of bins stay exact in 32 bits when the largest possible value times the frames and pixels summed does.
bool wide_sums(const PassSettings& settings, DType stored) {
  const auto members =
      static_cast<double>(settings.detector.bin * settings.detector.bin * settings.scan.bin * settings.scan.bin);
  return members * static_cast<double>(max_value(stored)) >= 4294967296.0;
}

/// What sums of bins are taken in.
DType sum_type_of(const PassSettings& settings, DType stored) {
  if (is_float(stored)) return DType::f64;
  return stored == DType::u32 || wide_sums(settings, stored) ? DType::u64 : DType::u32;
}

PassShape shape_of(const PassSettings& settings, DType stored) {
  PassShape shape{settings.detector, settings.scan, is_plain(settings) ? stored : sum_type_of(settings, stored), {}};
  if (settings.mode == BinMode::mean)
    for (const std::uint32_t good : settings.detector.good_per_bin(settings.mask_bits))
      shape.mean_scale.push_back(good == 0 ? 0.0f : 1.0f / static_cast<float>(good));
  return shape;
}

/// Positions by the first of their frames, whatever batches they came in; those without a frame last.
std::vector<Index> in_stored_order(std::span<const Index> positions, const ScanGrid& scan) {
  std::vector<std::pair<Index, Index>> keys;
  std::vector<Index> frames, order;
  for (const Index position : positions) {
    scan.frames_of(position, frames);
    keys.emplace_back(frames.empty() ? std::numeric_limits<Index>::max() : frames.front(), position);
  }
  std::sort(keys.begin(), keys.end());
  for (const auto& [frame, position] : keys) order.push_back(position);
  return order;
}

/// Where pieces of work begin, and the end: positions of one block, so that a cache line of a plane has one writer.
std::vector<std::size_t> pieces_of(std::span<const Index> order, Index block) {
  std::vector<std::size_t> starts = {0};
  for (std::size_t i = 1; i < order.size(); ++i)
    if (order[i] / block != order[i - 1] / block) starts.push_back(i);
  starts.push_back(order.size());
  return starts;
}

template <class In, class Acc>
class Pass {
 public:
  Pass(Source& source, const PassSettings& settings, OperationSet& operations)
      : source_(source),
        settings_(settings),
        operations_(operations),
        by_share_(!std::is_integral_v<In> || operations.sums_of_floats()),
        share_count_(by_share_ ? shares_of_floats(settings) : 1),
        block_(settings.scan.only ? few_positions : block_positions) {
    const DetectorGrid& detector = settings.detector;
    const DType sum_type = std::is_integral_v<In> ? DType::u64 : DType::f64;
    result_.input_sum = Array::zeros(Device::cpu(), {detector.rows, detector.cols}, sum_type);
    result_.sentinels_per_pixel.resize(static_cast<std::size_t>(detector.pixels()));
    result_.valid.resize(static_cast<std::size_t>(settings.scan.positions()));
    result_.operation_s.resize(operations.size());

    shared_.source = &source;
    shared_.settings = &settings;
    shared_.operations = &operations;
    shared_.result = &result_;
    // Interpolated pixels depend on their neighbours, which frames have.
    result_.by_events = source.has_events() && operations.takes_lists() && settings.interpolations.empty() &&
                        detector.pixels() < Index{ElectronFate::suspect};
    if (result_.by_events) shared_.fates = ElectronFate::of_pixels(settings);
    shared_.tile_frames = tile_frames_for(
        static_cast<std::size_t>(detector.out_pixels()) * size_bytes(operations.shape().elements),
        operations.tile_bytes() + (settings.sum_stored ? 8 * static_cast<std::size_t>(detector.pixels()) : 0));
    for (Index pixel = 0; pixel < detector.pixels(); ++pixel)
      if (mask_bit::is_bad(settings.mask_bits[static_cast<std::size_t>(pixel)])) shared_.bad_pixels.push_back(pixel);
  }

  /// All frames of the scan, in the order of the file.
  PassResult run() {
    const Schedule schedule = make_schedule(settings_.scan, source_, settings_.batch_bytes);
    BatchFeed feed(source_, schedule);
    begin();
    while (const auto batch = feed.next()) {
      check_interrupt();
      take(*batch, std::span(schedule.order)
                       .subspan(static_cast<std::size_t>(batch->plan->first),
                                static_cast<std::size_t>(batch->plan->last - batch->plan->first)));
    }
    return end(feed.content_hash());
  }

  /// Frames as they come, and then the positions that got none.
  PassResult run(ArrivalFeed& feed) {
    begin();
    while (const auto batch = feed.next()) {
      check_interrupt();
      if (!batch->positions.empty()) take(batch->frames, batch->positions);
    }
    const TimedBatch nothing;
    const std::vector<Index> missing = feed.missing();
    for (std::size_t first = 0; first < missing.size(); first += missing_at_once) {
      check_interrupt();
      take(nothing, std::span(missing).subspan(first, std::min(missing_at_once, missing.size() - first)));
    }
    return end(feed.content_hash());
  }

 private:
  static constexpr std::size_t missing_at_once = 4096;

  void begin() {
    watch_ = {};
    const auto worker_count = static_cast<std::size_t>(worker_limit());
    operations_.make_states(worker_count, share_count_);
    workers_.emplace([&] { return FrameCleaner<In, Acc>(shared_); });
    sums_.assign(by_share_ ? share_count_ : worker_count, StoredSums<In>(settings_));
    if (!settings_.stage.empty()) progress_.emplace(settings_.stage, settings_.scan.positions(), "positions");
  }

  /// Positions whose frames are all in the batch, none twice.
  void take(const TimedBatch& batch, std::span<const Index> order) {
    if (by_share_)
      load_shares(batch, in_stored_order(order, settings_.scan));
    else
      load_pieces(batch, order);
    operations_.after_batch(order);
    result_.seconds.read += batch.read_s;
    if (batch.plan != nullptr) result_.stored_bytes += batch.plan->bytes;
    if (progress_) progress_->advance(static_cast<Index>(order.size()));
  }

  PassResult end(std::uint64_t content_hash) {
    for (const auto& worker : *workers_) join(*worker);
    for (const auto& each : sums_) join(each);
    operations_.finish();
    result_.content_hash = content_hash;
    std::sort(result_.failed.begin(), result_.failed.end(),
              [](const FailedFrame& a, const FailedFrame& b) { return a.frame < b.frame; });
    result_.seconds.wall = watch_.seconds();
    return std::move(result_);
  }

  /// Any worker takes any piece.
  void load_pieces(const TimedBatch& batch, std::span<const Index> order) {
    const std::vector<std::size_t> starts = pieces_of(order, block_);
    parallel_for(static_cast<Index>(starts.size()) - 1, 1, [&](Index first, Index last, Worker& worker) {
      const auto index = static_cast<std::size_t>(worker.index);
      for (auto piece = static_cast<std::size_t>(first); piece < static_cast<std::size_t>(last); ++piece)
        (*workers_)[worker].load(batch, order.subspan(starts[piece], starts[piece + 1] - starts[piece]), sums_[index],
                                 index, 0);
    });
  }

  /// A worker takes all positions of a share, in their order.
  void load_shares(const TimedBatch& batch, std::span<const Index> order) {
    const std::vector<std::size_t> starts = pieces_of(order, block_);
    const auto share_of = [&](std::size_t piece) {
      return static_cast<std::size_t>(order[starts[piece]] / block_) % share_count_;
    };
    parallel_for(static_cast<Index>(share_count_), 1, [&](Index first, Index last, Worker& worker) {
      for (auto share = static_cast<std::size_t>(first); share < static_cast<std::size_t>(last); ++share)
        for (std::size_t piece = 0; piece + 1 < starts.size(); ++piece)
          if (share_of(piece) == share)
            (*workers_)[worker].load(batch, order.subspan(starts[piece], starts[piece + 1] - starts[piece]),
                                     sums_[share], static_cast<std::size_t>(worker.index), share);
    });
  }

  void join(const FrameCleaner<In, Acc>& worker) {
    for (std::size_t i = 0; i < worker.sentinels_per_pixel.size(); ++i)
      result_.sentinels_per_pixel[i] += worker.sentinels_per_pixel[i];
    for (std::size_t i = 0; i < worker.operation_s.size(); ++i) result_.operation_s[i] += worker.operation_s[i];
    result_.largest = std::max(result_.largest, worker.largest);
    result_.suspects_largest = std::max(result_.suspects_largest, worker.suspects_largest);
    result_.sentinels += worker.sentinels;
    result_.sentinel_frames += worker.sentinel_frames;
    result_.masked_sentinels += worker.masked_sentinels;
    result_.saturated += worker.saturated;
    result_.frames += worker.frames;
    result_.seconds.add(worker.seconds);
  }

  /// Adds sums over positions; those of floats in the order of the shares.
  void join(const StoredSums<In>& sums) {
    auto* input = static_cast<cpu::sum_of<In>*>(result_.input_sum.data());
    for (std::size_t i = 0; i < sums.input.size(); ++i) input[i] += sums.input[i];
    for (std::size_t i = 0; i < sums.suspects.size(); ++i) input[settings_.suspects[i]] += sums.suspects[i];
    result_.masked += sums.masked;
  }

  Source& source_;
  const PassSettings& settings_;
  OperationSet& operations_;
  const bool by_share_;
  const std::size_t share_count_;
  const Index block_;  // positions of a piece of work
  PassShared shared_;
  PassResult result_;
  Stopwatch watch_;
  std::optional<PerWorker<FrameCleaner<In, Acc>>> workers_;
  std::vector<StoredSums<In>> sums_;
  std::optional<ProgressMeter> progress_;
};

}  // namespace

bool is_plain(const PassSettings& settings) {
  const DetectorGrid& detector = settings.detector;
  return detector.bin == 1 && settings.scan.bin == 1 && settings.mode == BinMode::sum &&
         detector.out_pixels() == detector.pixels();
}

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

namespace {

/// Body(pass) with the loops for a source's elements.
template <class Body>
PassResult with_pass(Source& source, const PassSettings& settings, std::span<Operation* const> operations,
                     const Body& body) {
  const DType stored = source.acquisition().stored;
  OperationSet set(operations, shape_of(settings, stored));
  const auto run = [&](auto in, auto sum) {
    Pass<decltype(in), decltype(sum)> pass(source, settings, set);
    return body(pass);
  };
  const bool wide = sum_type_of(settings, stored) == DType::u64;
  switch (stored) {
    case DType::u8:
      return wide ? run(std::uint8_t{}, std::uint64_t{}) : run(std::uint8_t{}, std::uint32_t{});
    case DType::u16:
      return wide ? run(std::uint16_t{}, std::uint64_t{}) : run(std::uint16_t{}, std::uint32_t{});
    case DType::u32:
      return run(std::uint32_t{}, std::uint64_t{});
    case DType::f32:
      return run(float{}, double{});
    default:
      throw Error(ErrorKind::internal, "the pass was given elements it has no loops for");
  }
}

}  // namespace

PassResult run_pass(Source& source, const PassSettings& settings, std::span<Operation* const> operations) {
  return with_pass(source, settings, operations, [](auto& pass) { return pass.run(); });
}

ArrivalResult run_pass(Source& source, Arrivals& arrivals, const PassSettings& settings,
                       std::span<Operation* const> operations) {
  ArrivalFeed feed(arrivals, settings.scan);
  PassResult result = with_pass(source, settings, operations, [&](auto& pass) { return pass.run(feed); });
  return {std::move(result), feed.counts()};
}

PassSettings only_at(PassSettings settings, std::vector<Index> positions) {
  settings.scan.only = std::move(positions);
  return settings;
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

std::size_t pass_bytes(const PassSettings& settings, DType stored, std::span<Operation* const> operations,
                       std::size_t largest_batch_bytes, std::size_t scan_bytes, int workers) {
  const auto pixels = static_cast<std::size_t>(settings.detector.pixels());
  const auto out_pixels = static_cast<std::size_t>(settings.detector.out_pixels());
  const auto positions = static_cast<std::size_t>(settings.scan.positions());
  const auto worker_count = static_cast<std::size_t>(workers);
  const PassShape shape = shape_of(settings, stored);
  const std::size_t shares = shares_of_floats(settings);
  const std::size_t stored_sum = settings.sum_stored ? 8 * pixels : 0;
  std::size_t shared = 0, states = 0, tile_bytes = stored_sum;
  bool by_share = is_float(stored);
  for (const Operation* operation : operations) {
    const Abilities abilities = operation->abilities(shape);
    shared += abilities.shared_bytes;
    states += abilities.state_bytes * (abilities.sums_of_floats ? shares : worker_count);
    tile_bytes += abilities.tile_bytes;
    by_share |= abilities.sums_of_floats;
  }
  states += stored_sum * (by_share ? shares : worker_count);
  const std::size_t tile = tile_frames_for(out_pixels * size_bytes(shape.elements), tile_bytes);
  const std::size_t frame = pixels * size_bytes(stored);
  const std::size_t frames =
      is_plain(settings) ? tile * frame : 4 * frame + tile * out_pixels * size_bytes(shape.elements);
  const std::size_t scratch = frames + 4 * pixels + frame;  // a tile, sentinels, decoding
  const std::size_t found = (8 + 8) * pixels + positions;   // S, sentinels, valid positions
  const std::size_t schedule = 3 * 8 * positions;
  const std::size_t ring = std::min(BatchFeed::ring_buffers * largest_batch_bytes, scan_bytes);
  return ring + found + schedule + shared + states + worker_count * scratch;
}

}  // namespace sonde::stem
