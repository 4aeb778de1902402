// SPDX-License-Identifier: Apache-2.0
// Private to the room: what one worker does with the frames of its scan positions before operations see them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/correct/bad_pixels.h"
#include "sonde/instruments/stem/pass/batch_feed.h"
#include "sonde/instruments/stem/pass/frame_kernels.h"
#include "sonde/instruments/stem/pass/list_maker.h"
#include "sonde/instruments/stem/pass/operation_set.h"
#include "sonde/instruments/stem/pass/pass.h"

namespace sonde::stem {

/// What all workers of one pass share; written before the workers start, but for the list.
struct PassShared {
  const Source* source = nullptr;
  const PassSettings* settings = nullptr;
  OperationSet* operations = nullptr;
  std::vector<Index> bad_pixels;     ///< of the stored detector
  std::vector<std::uint32_t> fates;  ///< ElectronFate of every stored pixel, where no frames are made
  std::size_t tile_frames = 4;
  PassResult* result = nullptr;  ///< per-position outputs: every position belongs to one worker
  std::mutex failed_mutex;
};

/// Sums over positions on the stored detector. For counts each worker has its own. Sums of floats depend on the order
/// of addition, so these belong to a share of the scan, whose positions are added in their order by whichever worker
/// has the share.
template <class In>
struct alignas(64) StoredSums {  // on cache lines of their own
  explicit StoredSums(const PassSettings& settings)
      : input(settings.sum_stored ? static_cast<std::size_t>(settings.detector.pixels()) : 0),
        suspects(settings.suspects.size()) {}

  std::vector<cpu::sum_of<In>> input;     // S, where it is asked for
  std::vector<cpu::sum_of<In>> suspects;  // and that of suspects, which are zero in `input`
  LedgerSum masked;                       // values of masked pixels
};

/// Scratch of one worker and what it counts. In: stored type u8, u16, u32 or f32. Positions whose frames are summed in
/// bins go through an accumulator of type Acc (u32, u64 or f64); without binning operations see the stored type.
template <class In, class Acc>
class FrameCleaner {
 public:
  /// Stored frames whose sum over positions is taken together where bins are summed.
  static constexpr int stored_together = 4;

  explicit FrameCleaner(PassShared& shared)
      : shared_(shared),
        settings_(*shared.settings),
        in_kernels_(cpu::frame_kernels<In>()),
        acc_kernels_(cpu::frame_kernels<Acc>()),
        plain_(is_plain(settings_)) {
    // A comparison finds no NaN, and a median may not see a sentinel.
    sentinels_first_ =
        !std::is_integral_v<In> || (shared.source->acquisition().sentinel && !settings_.interpolations.empty());
    const bool by_events = shared.result->by_events;
    if (by_events) lists_.emplace(shared.fates, out_pixels(), settings_.suspects.size());
    const std::size_t tile = by_events ? static_cast<std::size_t>(block_positions) : shared.tile_frames;
    if (!by_events) in_.resize((plain_ ? tile : stored_together) * static_cast<std::size_t>(pixels()));
    if (!by_events && !plain_) acc_.resize(tile * static_cast<std::size_t>(out_pixels()));
    present_.resize(tile);
    largest_.resize(tile);
    places_.resize(tile);
    sentinels_per_pixel.resize(static_cast<std::size_t>(pixels()));
    operation_s.resize(shared.operations->size());
  }

  /// Loads positions, all of one block of 64, from a batch that holds all their frames, and hands them to the
  /// operations with the states of this worker or share.
  void load(const TimedBatch& batch, std::span<const Index> positions, StoredSums<In>& sums, std::size_t worker,
            std::size_t share) {
    sums_ = &sums;
    if constexpr (std::is_integral_v<In>)
      if (lists_) return load_lists(batch, positions, worker, share);
    StageClock clock;
    for (std::size_t begin = 0; begin < positions.size(); begin += shared_.tile_frames) {
      const auto tile = positions.subspan(begin, std::min(shared_.tile_frames, positions.size() - begin));
      if (shared_.operations->copy()) shared_.operations->place_copies(tile, worker, share, places_);
      for (std::size_t k = 0; k < tile.size(); ++k) {
        const bool valid = plain_ ? load_position(batch, tile[k], k, clock) : sum_position(batch, tile[k], k, clock);
        present_[k] = shared_.result->valid[static_cast<std::size_t>(tile[k])] = valid ? 1 : 0;
        largest = std::max(largest, largest_[k]);
      }
      if (plain_ && settings_.sum_stored) {
        in_kernels_.add_sum(in_.data(), static_cast<int>(tile.size()), pixels(), sums.input.data());
        clock.mark(seconds.moments);
      }
      shared_.operations->take({.shape = &shared_.operations->shape(),
                                .frames = plain_ ? static_cast<const void*>(in_.data()) : acc_.data(),
                                .positions = tile,
                                .present = std::span(present_).first(tile.size()),
                                .largest = std::span(largest_).first(tile.size()),
                                .ends_block = begin + tile.size() == positions.size()},
                               worker, share, clock, operation_s);
    }
    flush_input_sum(clock);
  }

  // What does not depend on the order of frames, joined by the pass when all batches are done.
  std::vector<std::uint32_t> sentinels_per_pixel;
  double largest = 0, suspects_largest = 0;
  std::uint64_t sentinels = 0, sentinel_frames = 0, masked_sentinels = 0, saturated = 0, frames = 0;
  StageSeconds seconds;
  std::vector<double> operation_s;

 private:
  [[nodiscard]] Index pixels() const { return settings_.detector.pixels(); }
  [[nodiscard]] Index out_pixels() const { return settings_.detector.out_pixels(); }

  /// Calls body(), which takes one stored frame. False when it throws that the frame is broken, and that is accepted.
  template <class Body>
  bool take_frame(Index frame, Body&& body) {
    ++frames;
    try {
      body();
    } catch (Error& error) {
      if (settings_.on_error == OnError::fail) {
        if (error.hint().empty())
          error.hint(setting("on_error", "zero") +
                     " leaves broken frames out; `sonde stem validate --decode` lists all of them");
        throw;
      }
      const std::lock_guard lock(shared_.failed_mutex);
      shared_.result->failed.push_back({frame, failure_reason(error)});
      return false;
    }
    return true;
  }

  /// load() of frames that are lists.
  void load_lists(const TimedBatch& batch, std::span<const Index> positions, std::size_t worker, std::size_t share) {
    constexpr std::size_t most_entries = std::size_t{1} << 16;  // of a tile: they stay in the second-level cache
    StageClock clock;
    for (std::size_t begin = 0; begin < positions.size();) {
      lists_->begin();
      std::size_t k = 0;
      for (; begin + k < positions.size() && (k == 0 || lists_->entries() < most_entries); ++k) {
        const Index position = positions[begin + k];
        bool valid = false;
        find_frames(batch, position);
        for (const Index stored : stored_frames_) {
          if (!shared_.source->has_frame(stored)) continue;
          valid |= take_frame(stored, [&] {
            sums_->masked += lists_->add(shared_.source->events(batch.holding(stored), stored),
                                         settings_.sum_stored ? sums_->input.data() : nullptr, sums_->suspects.data());
          });
        }
        present_[k] = shared_.result->valid[static_cast<std::size_t>(position)] = valid ? 1 : 0;
        largest_[k] = lists_->end();
        largest = std::max(largest, largest_[k]);
      }
      suspects_largest = lists_->suspects_largest;
      clock.mark(seconds.decode);
      const SparseFrames lists = lists_->lists();
      shared_.operations->take({.shape = &shared_.operations->shape(),
                                .frames = nullptr,
                                .positions = positions.subspan(begin, k),
                                .present = std::span(present_).first(k),
                                .largest = std::span(largest_).first(k),
                                .ends_block = begin + k == positions.size(),
                                .lists = &lists},
                               worker, share, clock, operation_s);
      begin += k;
    }
  }

  /// Decodes one stored frame, counts and zeroes what is not data. False when the frame is absent, or broken and stands
  /// as zeros.
  bool load_frame(const TimedBatch& batch, Index frame, In* to, StageClock& clock) {
    const auto count = static_cast<std::size_t>(pixels());
    const auto elements = std::as_writable_bytes(std::span(to, count));
    const bool good = shared_.source->has_frame(frame) && take_frame(frame, [&] {
                        shared_.source->decode(batch.holding(frame), frame, scratch_, elements);
                      });
    if (!good) std::memset(to, 0, elements.size());
    clock.mark(seconds.decode);

    take_masked(to);
    if constexpr (std::is_integral_v<In>) {
      const auto& sentinel = shared_.source->acquisition().sentinel;
      // Their values are judged after the pass; "no data" is not a value.
      for (std::size_t i = 0; i < settings_.suspects.size(); ++i) {
        const Index pixel = settings_.suspects[i];
        if (sentinel && to[pixel] == static_cast<In>(*sentinel)) continue;
        sums_->suspects[i] += to[pixel];
        suspects_largest = std::max(suspects_largest, static_cast<double>(to[pixel]));
        to[pixel] = 0;
      }
    }
    if (sentinels_first_ && !settings_.keep_not_finite) clear_sentinels(to);
    if constexpr (std::is_integral_v<In>)  // bad pixels are found in counts only
      for (const Interpolation& each : settings_.interpolations) to[each.pixel] = median(to, each.neighbours);
    clock.mark(seconds.mask);
    return good;
  }

  /// Zeroes the pixels that the mask calls bad, and adds up what they held.
  void take_masked(In* frame) {
    cpu::sum_of<In> sum = 0;
    const auto take = [&](auto&& means_no_data) {
      for (const Index pixel : shared_.bad_pixels) {
        const bool no_data = means_no_data(frame[pixel]);
        masked_sentinels += no_data ? 1 : 0;
        sum += no_data ? In(0) : frame[pixel];
        frame[pixel] = 0;
      }
    };
    if constexpr (std::is_integral_v<In>) {
      const auto& sentinel = shared_.source->acquisition().sentinel;
      if (sentinel)
        take([value = static_cast<In>(*sentinel)](In element) { return element == value; });
      else
        take([](In) { return false; });
    } else {
      take([](In element) { return !std::isfinite(element); });
    }
    sums_->masked += sum;
  }

  void clear_sentinels(In* frame) {
    // Of floats whatever is not finite is no data, and no value of the file's.
    const In value = static_cast<In>(shared_.source->acquisition().sentinel.value_or(0));
    const auto found =
        static_cast<std::uint64_t>(in_kernels_.clear_sentinels(frame, pixels(), value, sentinels_per_pixel.data()));
    sentinels += found;
    sentinel_frames += found > 0 ? 1 : 0;
  }

  /// Whether a frame may still hold sentinels. Most scans have none in good pixels, and the largest value comes for
  /// free: only after the first suspicious frame does this worker look for them in every frame it loads.
  [[nodiscard]] bool may_hold_sentinels(In largest_value, bool searched) {
    if constexpr (std::is_integral_v<In>) {
      const auto& sentinel = shared_.source->acquisition().sentinel;
      if (searched || !sentinel || largest_value < static_cast<In>(*sentinel)) return false;
      sentinels_first_ = true;
      return true;
    } else {
      return false;
    }
  }

  /// Clears the sentinels of a frame that is already in its bins.
  void take_sentinels_from(In* frame, Acc* bins) {
    if constexpr (std::is_integral_v<In>) {
      const DetectorGrid& detector = settings_.detector;
      const In sentinel = static_cast<In>(*shared_.source->acquisition().sentinel);
      for (Index i = 0; i < pixels(); ++i) {
        const Index row = i / detector.cols / detector.bin, col = i % detector.cols / detector.bin;
        if (frame[i] == sentinel && row < detector.out_rows && col < detector.out_cols)
          bins[row * detector.out_cols + col] -= static_cast<Acc>(sentinel);
      }
      clear_sentinels(frame);
    }
  }

  [[nodiscard]] In median(const In* frame, const std::vector<Index>& neighbours) {
    neighbour_counts_.clear();
    for (const Index pixel : neighbours) neighbour_counts_.push_back(static_cast<std::uint64_t>(frame[pixel]));
    return static_cast<In>(rounded_median(neighbour_counts_));
  }

  /// A batch without a plan is of positions for which no frame has come.
  void find_frames(const TimedBatch& batch, Index position) {
    if (batch.plan == nullptr)
      stored_frames_.clear();
    else
      settings_.scan.frames_of(position, stored_frames_);
  }

  /// The one stored frame of a position; zeros when it has none.
  bool load_position(const TimedBatch& batch, Index position, std::size_t slot, StageClock& clock) {
    In* to = in_.data() + static_cast<Index>(slot) * pixels();
    find_frames(batch, position);
    const bool searched = sentinels_first_;
    bool valid = false;
    if (stored_frames_.empty())
      std::memset(to, 0, static_cast<std::size_t>(pixels()) * sizeof(In));
    else
      valid = load_frame(batch, stored_frames_.front(), to, clock);
    In most = look_at(in_kernels_, to, places_[slot]);
    if (may_hold_sentinels(most, searched)) {
      clear_sentinels(to);
      most = look_at(in_kernels_, to, places_[slot]);
    }
    count_saturated(to, most);
    largest_[slot] = static_cast<double>(most);
    clock.mark(seconds.place);
    return valid;
  }

  /// All stored frames of a position, summed into its bins.
  bool sum_position(const TimedBatch& batch, Index position, std::size_t slot, StageClock& clock) {
    const DetectorGrid& detector = settings_.detector;
    Acc* to = acc_.data() + static_cast<Index>(slot) * out_pixels();
    std::memset(to, 0, static_cast<std::size_t>(out_pixels()) * sizeof(Acc));
    find_frames(batch, position);
    bool valid = false;
    for (const Index stored : stored_frames_) {
      if (waiting_ == stored_together) flush_input_sum(clock);
      In* frame = in_.data() + waiting_++ * pixels();
      const bool searched = sentinels_first_;
      valid |= load_frame(batch, stored, frame, clock);
      const auto bin_add = [&](auto kernel) {
        return kernel(frame, detector.rows, detector.cols, detector.bin, detector.out_rows, detector.out_cols, to);
      };
      In most;
      if constexpr (std::is_same_v<Acc, std::uint32_t>)
        most = bin_add(in_kernels_.bin_add_u32);
      else
        most = bin_add(in_kernels_.bin_add_wide);
      if (may_hold_sentinels(most, searched)) take_sentinels_from(frame, to);
      count_saturated(frame, most);
      clock.mark(seconds.bin);
    }
    largest_[slot] = static_cast<double>(look_at(acc_kernels_, to, places_[slot]));
    clock.mark(seconds.place);
    return valid;
  }

  /// The largest value of a resident frame; copies it on the way where an operation asks for that.
  template <class T>
  T look_at(const cpu::FrameKernels<T>& kernels, const T* frame, void* place) const {
    const Index n = out_pixels();
    if (place == nullptr) return kernels.largest(frame, n);
    switch (*shared_.operations->copy()) {
      case DType::u8:
        return kernels.store_u8(frame, n, static_cast<std::uint8_t*>(place));
      case DType::u16:
        return kernels.store_u16(frame, n, static_cast<std::uint16_t*>(place));
      case DType::u32:
        return kernels.store_u32(frame, n, static_cast<std::uint32_t*>(place));
      default:
        return kernels.store_f32(frame, n, static_cast<float*>(place));
    }
  }

  /// S of stored frames that went into bins is taken for a few at a time.
  void flush_input_sum(StageClock& clock) {
    if (settings_.sum_stored) in_kernels_.add_sum(in_.data(), waiting_, pixels(), sums_->input.data());
    waiting_ = 0;
    clock.mark(seconds.moments);
  }

  /// `most` is the largest value of the frame.
  void count_saturated(const In* frame, In most) {
    if constexpr (std::is_integral_v<In>) {
      const auto& saturation = shared_.source->acquisition().saturation;
      if (saturation && most > *saturation)
        saturated += static_cast<std::uint64_t>(in_kernels_.count_above(frame, pixels(), static_cast<In>(*saturation)));
    }
  }

  PassShared& shared_;
  const PassSettings& settings_;
  const cpu::FrameKernels<In>& in_kernels_;
  const cpu::FrameKernels<Acc>& acc_kernels_;
  const bool plain_;
  StoredSums<In>* sums_ = nullptr;  // where the positions being loaded are added
  bool sentinels_first_ = false;    // look for sentinels before anything else reads a frame
  DecodeScratch scratch_;
  std::vector<In> in_;    // stored frames: a tile, or some that are summed in bins
  int waiting_ = 0;       // of them already in bins, but not yet in input_sum
  std::vector<Acc> acc_;  // a tile of frames being summed
  std::vector<std::uint8_t> present_;
  std::vector<double> largest_;
  std::vector<void*> places_;       // of the tile's copies; null for none
  std::optional<ListMaker> lists_;  // where no frames are made
  std::vector<Index> stored_frames_;
  std::vector<std::uint64_t> neighbour_counts_;
};

}  // namespace sonde::stem
