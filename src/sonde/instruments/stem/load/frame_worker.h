// SPDX-License-Identifier: Apache-2.0
// Private to the room: what one worker does with the frames of its scan positions.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <span>
#include <type_traits>
#include <vector>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/correct/bad_pixels.h"
#include "sonde/instruments/stem/layout/transpose.h"
#include "sonde/instruments/stem/load/frame_kernels.h"
#include "sonde/instruments/stem/load/pass.h"

namespace sonde::stem {

/// What all workers of one pass share; written before the workers start, but for the atomic and the list.
struct PassShared {
  const Source* source = nullptr;
  const PassSettings* settings = nullptr;
  std::vector<Index> bad_pixels;  ///< of the stored detector
  std::vector<float> mean_scale;  ///< (out pixel) one over the number of good pixels, for BinMode::mean
  Array* destination = nullptr;
  PassResult* result = nullptr;  ///< per-position outputs: every position belongs to one worker
  std::atomic<bool> overflow{false};
  std::mutex failed_mutex;
};

/// Adds the time since the last mark to a stage.
class StageClock {
 public:
  void mark(double& stage) {
    const double now = watch_.seconds();
    stage += now - last_;
    last_ = now;
  }

 private:
  Stopwatch watch_;
  double last_ = 0;
};

/// Whether stored frames are resident frames, so that nothing is summed in bins.
[[nodiscard]] inline bool is_plain(const PassSettings& settings) {
  const DetectorGrid& detector = settings.detector;
  return detector.bin == 1 && settings.scan.bin == 1 && settings.mode == BinMode::sum &&
         detector.out_pixels() == detector.pixels();
}

/// Sums over positions. For counts each worker has its own. Sums of floats depend on the order of addition, so these
/// belong to a share of the scan, whose positions are added in their order by whichever worker has the share.
template <class In, class Acc>
struct alignas(64) PixelSums {  // on cache lines of their own
  explicit PixelSums(const PassSettings& settings)
      : input(static_cast<std::size_t>(settings.detector.pixels())),
        binned(is_plain(settings) ? 0 : static_cast<std::size_t>(settings.detector.out_pixels())) {}

  std::vector<cpu::sum_of<In>> input;    // S of the stored detector
  std::vector<cpu::sum_of<Acc>> binned;  // of the resident one, where frames are summed in bins
  LedgerSum masked;                      // values of masked pixels
};

/// Scratch of one worker and what it counts. In: stored type u8, u16, u32 or f32. Positions whose frames are summed in
/// bins go through an accumulator of type Acc (u32, u64 or f64); without binning frames go straight from In to the
/// resident type.
template <class In, class Acc>
class FrameWorker {
 public:
  /// Frames whose sums over positions are taken together. Four frames of 192 x 192 u16 and those sums (0.8 MiB) stay in
  /// a second-level cache of 1 MiB; eight do not.
  static constexpr int group_size = 4;
  static constexpr Index tile_positions = 64;  // positions that share a cache line of a u8 plane

  explicit FrameWorker(PassShared& shared)
      : shared_(shared),
        settings_(*shared.settings),
        in_kernels_(cpu::frame_kernels<In>()),
        acc_kernels_(cpu::frame_kernels<Acc>()),
        plain_(stem::is_plain(settings_)) {
    const DetectorGrid& detector = settings_.detector;
    // A comparison finds no NaN, and a median may not see a sentinel.
    sentinels_first_ =
        !std::is_integral_v<In> || (shared.source->acquisition().sentinel && !settings_.interpolations.empty());
    in_.resize(static_cast<std::size_t>(group_size * detector.pixels()));
    sentinels_per_pixel.resize(static_cast<std::size_t>(detector.pixels()));
    column_sums_.resize(static_cast<std::size_t>(std::max(detector.cols, detector.out_cols)));
    acc_column_sums_.resize(column_sums_.size());
    const auto out_count = static_cast<std::size_t>(detector.out_pixels());
    nonzero.resize(out_count);
    if (plain_) {
      largest_in.assign(out_count, least<In>());
    } else {
      acc_.resize(group_size * out_count);
      largest_acc.assign(out_count, least<Acc>());
    }
    if (settings_.destination == Destination::planes)
      tile_.resize(out_count * tile_positions * size_bytes(settings_.out));
  }

  /// Loads positions order[0..n), ascending and of one 64-position tile, from a batch that holds all their frames.
  void load(const RawBatch& batch, std::span<const Index> positions, PixelSums<In, Acc>& sums) {
    sums_ = &sums;
    StageClock clock;
    for (std::size_t begin = 0; begin < positions.size(); begin += group_size) {
      const auto group = positions.subspan(begin, std::min<std::size_t>(group_size, positions.size() - begin));
      group_searched_ = sentinels_first_;
      for (std::size_t k = 0; k < group.size(); ++k) {
        const bool valid =
            plain_ ? load_position(batch, group[k], in_.data() + static_cast<Index>(k) * pixels(), clock)
                   : sum_position(batch, group[k], acc_.data() + static_cast<Index>(k) * out_pixels(), clock);
        shared_.result->valid[static_cast<std::size_t>(group[k])] = valid ? 1 : 0;
      }
      const auto first_slot = static_cast<Index>(begin);
      if (plain_)
        finish(in_kernels_, in_.data(), group, first_slot, {sums.input.data(), largest_in.data(), column_sums_.data()},
               clock);
      else
        finish(acc_kernels_, acc_.data(), group, first_slot,
               {sums.binned.data(), largest_acc.data(), acc_column_sums_.data()}, clock);
    }
    flush_input_sum(clock);
    if (settings_.destination == Destination::planes && !shared_.overflow.load(std::memory_order_relaxed)) {
      for (std::size_t i = 0; i < positions.size();) {
        std::size_t end = i + 1;
        while (end < positions.size() && positions[end] == positions[end - 1] + 1) ++end;
        switch (settings_.out) {
          case DType::u8:
            place<std::uint8_t>(i, end, positions[i]);
            break;
          case DType::u16:
            place<std::uint16_t>(i, end, positions[i]);
            break;
          case DType::u32:
            place<std::uint32_t>(i, end, positions[i]);
            break;
          default:
            place<float>(i, end, positions[i]);
        }
        i = end;
      }
      clock.mark(seconds.place);
    }
  }

  // What does not depend on the order of frames, joined by the pass when all batches are done.
  std::vector<std::uint32_t> sentinels_per_pixel;
  std::vector<std::uint32_t> nonzero;
  std::vector<In> largest_in;    // plain
  std::vector<Acc> largest_acc;  // binned
  double largest = 0, suspects_largest = 0;
  std::uint64_t clipped = 0, sentinels = 0, sentinel_frames = 0, masked_sentinels = 0, saturated = 0, frames = 0;
  LedgerSum clipped_counts;
  StageSeconds seconds;

 private:
  /// What every value is at least; of floats some pixels have only negative ones.
  template <class T>
  static constexpr T least() {
    return std::is_integral_v<T> ? T(0) : -std::numeric_limits<T>::infinity();
  }
  [[nodiscard]] Index pixels() const { return settings_.detector.pixels(); }
  [[nodiscard]] Index out_pixels() const { return settings_.detector.out_pixels(); }

  /// Slots [begin, end) of the tile become consecutive positions of all planes.
  template <class T>
  void place(std::size_t begin, std::size_t end, Index first_position) {
    const Index n = settings_.detector.out_pixels();
    const auto* slots = reinterpret_cast<const T*>(tile_.data()) + static_cast<Index>(begin) * n;
    place_frames<T, T>(View<const T, 2>(slots, static_cast<Index>(end - begin), n),
                       shared_.destination->template view<T, 2>(), first_position);
  }

  /// Decodes one stored frame, counts and zeroes what is not data. False when the frame is broken and stands as zeros.
  bool load_frame(const RawBatch& batch, Index frame, In* to, StageClock& clock) {
    const auto count = static_cast<std::size_t>(pixels());
    const auto elements = std::as_writable_bytes(std::span(to, count));
    ++frames;
    bool good = true;
    try {
      shared_.source->decode(batch, frame, scratch_, elements);
    } catch (Error& error) {
      if (settings_.on_error == OnError::fail) {
        if (error.hint().empty())
          error.hint(setting("on_error", "zero") +
                     " leaves broken frames out; `sonde stem validate --decode` lists all of them");
        throw;
      }
      std::memset(to, 0, elements.size());
      const std::lock_guard lock(shared_.failed_mutex);
      shared_.result->failed.push_back({frame, failure_reason(error)});
      good = false;
    }
    clock.mark(seconds.decode);

    take_masked(to);
    if constexpr (std::is_integral_v<In>) {
      const auto& sentinel = shared_.source->acquisition().sentinel;
      // Their values are judged after the pass; "no data" is not a value.
      for (const Index pixel : settings_.suspects) {
        if (sentinel && to[pixel] == static_cast<In>(*sentinel)) continue;
        sums_->input[static_cast<std::size_t>(pixel)] += to[pixel];
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

  /// The one stored frame of a position; zeros when it has none.
  bool load_position(const RawBatch& batch, Index position, In* to, StageClock& clock) {
    settings_.scan.frames_of(position, stored_frames_);
    if (!stored_frames_.empty()) return load_frame(batch, stored_frames_.front(), to, clock);
    std::memset(to, 0, static_cast<std::size_t>(pixels()) * sizeof(In));
    return false;
  }

  /// All stored frames of a position, summed into its bins.
  bool sum_position(const RawBatch& batch, Index position, Acc* to, StageClock& clock) {
    const DetectorGrid& detector = settings_.detector;
    std::memset(to, 0, static_cast<std::size_t>(out_pixels()) * sizeof(Acc));
    settings_.scan.frames_of(position, stored_frames_);
    bool valid = false;
    for (const Index stored : stored_frames_) {
      if (waiting_ == group_size) flush_input_sum(clock);
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
      const auto& saturation = shared_.source->acquisition().saturation;
      if (saturation && static_cast<double>(most) > static_cast<double>(*saturation)) count_saturated(frame);
      clock.mark(seconds.bin);
    }
    return valid;
  }

  /// S of stored frames that went into bins is taken for a group at a time.
  void flush_input_sum(StageClock& clock) {
    in_kernels_.add_sum(in_.data(), waiting_, pixels(), sums_->input.data());
    waiting_ = 0;
    clock.mark(seconds.moments);
  }

  void count_saturated(const In* frame) {
    const std::uint64_t limit = *shared_.source->acquisition().saturation;
    if constexpr (std::is_integral_v<In>)
      if (limit < std::numeric_limits<In>::max())
        saturated += static_cast<std::uint64_t>(in_kernels_.count_above(frame, pixels(), static_cast<In>(limit)));
  }

  /// Where the sums of resident frames of T go.
  template <class T>
  struct Totals {
    cpu::sum_of<T>* sum;
    T* largest;
    cpu::sum_of<T>* column_sums;
  };

  /// A group of finished resident frames, one after another: their elements in the resident type at their places, their
  /// moments, and their part in the sums over positions.
  template <class T>
  void finish(const cpu::FrameKernels<T>& kernels, T* group, std::span<const Index> positions, Index first_slot,
              const Totals<T>& totals, StageClock& clock) {
    const DetectorGrid& detector = settings_.detector;
    using Sum = cpu::sum_of<T>;
    Moments& moments = shared_.result->moments;
    T group_most = 0;
    for (std::size_t k = 0; k < positions.size(); ++k) {
      T* frame = group + static_cast<Index>(k) * out_pixels();
      const T most = store(kernels, frame, target(positions[k], first_slot + static_cast<Index>(k)));
      group_most = std::max(group_most, most);
      clock.mark(seconds.place);
      const auto sums = kernels.moments(frame, detector.out_rows, detector.out_cols, most, totals.column_sums);
      static_cast<Sum*>(moments.total.data())[positions[k]] = sums.total;
      static_cast<Sum*>(moments.moment_row.data())[positions[k]] = sums.moment_row;
      static_cast<Sum*>(moments.moment_col.data())[positions[k]] = sums.moment_col;
      clock.mark(seconds.moments);
    }
    kernels.add_statistics(group, static_cast<int>(positions.size()), out_pixels(), group_most, totals.sum,
                           totals.largest, nonzero.data());
    clock.mark(seconds.moments);
  }

  /// The elements of one resident frame in the resident type; returns the largest before conversion.
  template <class T>
  T convert(const cpu::FrameKernels<T>& kernels, const T* frame, void* to) {
    const Index n = out_pixels();
    switch (settings_.out) {
      case DType::u8:
        return kernels.store_u8(frame, n, static_cast<std::uint8_t*>(to));
      case DType::u16:
        return kernels.store_u16(frame, n, static_cast<std::uint16_t*>(to));
      case DType::u32:
        return kernels.store_u32(frame, n, static_cast<std::uint32_t*>(to));
      default:
        return kernels.store_f32(frame, n, static_cast<float*>(to));
    }
  }

  /// Converts one resident frame and returns its largest value; counts what is saturated, clipped or too large.
  template <class T>
  T store(const cpu::FrameKernels<T>& kernels, T* frame, void* to) {
    const Index n = out_pixels();
    T most = convert(kernels, frame, to);
    if constexpr (std::is_same_v<T, In>)
      if (plain_ && may_hold_sentinels(most, group_searched_)) {
        clear_sentinels(frame);
        most = convert(kernels, frame, to);
      }
    if (settings_.out == DType::f32 && settings_.mode == BinMode::mean)
      for (Index i = 0; i < n; ++i) static_cast<float*>(to)[i] *= shared_.mean_scale[static_cast<std::size_t>(i)];
    largest = std::max(largest, static_cast<double>(most));
    const auto& saturation = shared_.source->acquisition().saturation;
    if constexpr (std::is_same_v<T, In>)
      if (plain_ && saturation && static_cast<double>(most) > static_cast<double>(*saturation)) count_saturated(frame);
    if (settings_.out != DType::f32 && static_cast<double>(most) > static_cast<double>(max_value(settings_.out))) {
      if (settings_.saturate)
        count_clipped(kernels, frame);
      else
        shared_.overflow.store(true, std::memory_order_relaxed);
    }
    return most;
  }

  template <class T>
  void count_clipped(const cpu::FrameKernels<T>& kernels, const T* frame) {
    const Index n = out_pixels();
    const T limit = static_cast<T>(max_value(settings_.out));
    clipped += static_cast<std::uint64_t>(kernels.count_above(frame, n, limit));
    cpu::sum_of<T> excess = 0;
    for (Index i = 0; i < n; ++i) excess += frame[i] > limit ? static_cast<T>(frame[i] - limit) : T(0);
    clipped_counts += excess;
  }

  /// Where the resident elements of a position are written: its frame, a slot of the tile, or scratch that is thrown
  /// away.
  [[nodiscard]] void* target(Index position, Index slot) {
    const std::size_t frame_bytes =
        static_cast<std::size_t>(settings_.detector.out_pixels()) * size_bytes(settings_.out);
    switch (settings_.destination) {
      case Destination::frames:
        return static_cast<std::byte*>(shared_.destination->data()) + static_cast<std::size_t>(position) * frame_bytes;
      case Destination::planes:
        return tile_.data() + static_cast<std::size_t>(slot) * frame_bytes;
      case Destination::none:
        break;
    }
    tile_.resize(frame_bytes);
    return tile_.data();
  }

  PassShared& shared_;
  const PassSettings& settings_;
  const cpu::FrameKernels<In>& in_kernels_;
  const cpu::FrameKernels<Acc>& acc_kernels_;
  const bool plain_;
  PixelSums<In, Acc>* sums_ = nullptr;  // where the positions being loaded are added
  bool sentinels_first_ = false;        // look for sentinels before anything else reads a frame
  bool group_searched_ = false;         // and did so in the frames of this group
  DecodeScratch scratch_;
  std::vector<In> in_;           // a group of stored frames
  int waiting_ = 0;              // of them already in bins, but not yet in input_sum
  std::vector<Acc> acc_;         // a group of resident frames being summed
  std::vector<std::byte> tile_;  // resident frames of one tile of positions, to be transposed
  std::vector<cpu::sum_of<In>> column_sums_;
  std::vector<cpu::sum_of<Acc>> acc_column_sums_;
  std::vector<Index> stored_frames_;
  std::vector<std::uint64_t> neighbour_counts_;
};

}  // namespace sonde::stem
