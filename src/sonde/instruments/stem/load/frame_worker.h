// SPDX-License-Identifier: Apache-2.0
// Private to the room: what one worker does with the frames of its scan positions.
#pragma once

#include <algorithm>
#include <atomic>
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

/// Scratch and private sums of one worker. In: stored type u8, u16, u32 or f32. Positions whose frames are summed in
/// bins go through an accumulator of type Acc (u32, u64 or f64); without binning frames go straight from In to the
/// resident type.
template <class In, class Acc>
class FrameWorker {
 public:
  static constexpr int group_size = 8;  // frames whose statistics are taken together, so that the sums are touched once
  static constexpr Index tile_positions = 64;  // positions that share a cache line of a u8 plane

  explicit FrameWorker(PassShared& shared)
      : shared_(shared),
        settings_(*shared.settings),
        in_kernels_(cpu::frame_kernels<In>()),
        acc_kernels_(cpu::frame_kernels<Acc>()) {
    const DetectorGrid& detector = settings_.detector;
    plain_ = detector.bin == 1 && settings_.scan.bin == 1 && settings_.mode == BinMode::sum &&
             detector.out_pixels() == detector.pixels();
    in_.resize(static_cast<std::size_t>(group_size * detector.pixels()));
    input_sum.resize(static_cast<std::size_t>(detector.pixels()));
    sentinels_per_pixel.resize(input_sum.size());
    column_sums_.resize(static_cast<std::size_t>(std::max(detector.cols, detector.out_cols)));
    acc_column_sums_.resize(column_sums_.size());
    const auto out_pixels = static_cast<std::size_t>(detector.out_pixels());
    nonzero.resize(out_pixels);
    if (plain_) {
      largest_in.resize(out_pixels);
    } else {
      acc_.resize(out_pixels);
      out_sum.resize(out_pixels);
      largest_acc.resize(out_pixels);
    }
    if (settings_.destination == Destination::planes)
      tile_.resize(out_pixels * tile_positions * size_bytes(settings_.out));
  }

  /// Loads positions order[0..n), ascending and of one 64-position tile, from a batch that holds all their frames.
  void load(const RawBatch& batch, std::span<const Index> positions) {
    StageClock clock;
    if (plain_)
      load_plain(batch, positions, clock);
    else
      for (std::size_t i = 0; i < positions.size(); ++i) load_binned(batch, positions[i], static_cast<Index>(i), clock);
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

  /// Whether stored frames are resident frames, so that nothing is summed in bins.
  [[nodiscard]] bool is_plain() const { return plain_; }

  // Private sums, joined by the pass when all batches are done.
  std::vector<cpu::sum_of<In>> input_sum;
  std::vector<std::uint32_t> sentinels_per_pixel;
  std::vector<std::uint32_t> nonzero;
  std::vector<In> largest_in;             // plain
  std::vector<cpu::sum_of<Acc>> out_sum;  // binned
  std::vector<Acc> largest_acc;           // binned
  double largest = 0, suspects_largest = 0;
  std::uint64_t clipped = 0, sentinels = 0, masked_sentinels = 0, saturated = 0, frames = 0;
  StageSeconds seconds;

 private:
  [[nodiscard]] Index pixels() const { return settings_.detector.pixels(); }

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
    } catch (const Error& error) {
      if (settings_.on_error == OnError::fail) throw;
      std::memset(to, 0, elements.size());
      const std::lock_guard lock(shared_.failed_mutex);
      shared_.result->failed.push_back({frame, error.message()});
      good = false;
    }
    clock.mark(seconds.decode);

    const auto& sentinel = shared_.source->acquisition().sentinel;
    if constexpr (std::is_integral_v<In>) {
      if (sentinel) {
        for (const Index pixel : shared_.bad_pixels)
          masked_sentinels += to[pixel] == static_cast<In>(*sentinel) ? 1 : 0;
      }
    }
    for (const Index pixel : shared_.bad_pixels) to[pixel] = 0;
    if constexpr (std::is_integral_v<In>) {
      // Their values are judged after the pass; "no data" is not a value.
      for (const Index pixel : settings_.suspects) {
        if (sentinel && to[pixel] == static_cast<In>(*sentinel)) continue;
        input_sum[static_cast<std::size_t>(pixel)] += to[pixel];
        suspects_largest = std::max(suspects_largest, static_cast<double>(to[pixel]));
        to[pixel] = 0;
      }
    }
    if (sentinel || !std::is_integral_v<In>) {
      const In value = static_cast<In>(sentinel.value_or(0));  // floats: NaN, whatever the value
      sentinels +=
          static_cast<std::uint64_t>(in_kernels_.clear_sentinels(to, pixels(), value, sentinels_per_pixel.data()));
    }
    if constexpr (std::is_integral_v<In>)  // bad pixels are found in counts only
      for (const Interpolation& each : settings_.interpolations) to[each.pixel] = median(to, each.neighbours);
    clock.mark(seconds.mask);
    return good;
  }

  [[nodiscard]] In median(const In* frame, const std::vector<Index>& neighbours) {
    neighbour_counts_.clear();
    for (const Index pixel : neighbours) neighbour_counts_.push_back(static_cast<std::uint64_t>(frame[pixel]));
    return static_cast<In>(rounded_median(neighbour_counts_));
  }

  void load_plain(const RawBatch& batch, std::span<const Index> positions, StageClock& clock) {
    for (std::size_t begin = 0; begin < positions.size(); begin += group_size) {
      const int count = static_cast<int>(std::min<std::size_t>(group_size, positions.size() - begin));
      for (int k = 0; k < count; ++k) {
        In* frame = in_.data() + k * pixels();
        const Index position = positions[begin + static_cast<std::size_t>(k)];
        settings_.scan.frames_of(position, stored_frames_);
        bool valid = false;
        if (stored_frames_.empty())
          std::memset(frame, 0, static_cast<std::size_t>(pixels()) * sizeof(In));
        else
          valid = load_frame(batch, stored_frames_.front(), frame, clock);
        shared_.result->valid[static_cast<std::size_t>(position)] = valid ? 1 : 0;
      }
      in_kernels_.add_statistics(in_.data(), count, pixels(), input_sum.data(), largest_in.data(), nonzero.data());
      clock.mark(seconds.moments);
      for (int k = 0; k < count; ++k) {
        const In* frame = in_.data() + k * pixels();
        const std::size_t slot = begin + static_cast<std::size_t>(k);
        finish(in_kernels_, frame, positions[slot], static_cast<Index>(slot), column_sums_.data(), clock);
      }
    }
  }

  void load_binned(const RawBatch& batch, Index position, Index slot, StageClock& clock) {
    const DetectorGrid& detector = settings_.detector;
    std::memset(acc_.data(), 0, acc_.size() * sizeof(Acc));
    settings_.scan.frames_of(position, stored_frames_);
    bool valid = false;
    for (std::size_t begin = 0; begin < stored_frames_.size(); begin += group_size) {
      const int count = static_cast<int>(std::min<std::size_t>(group_size, stored_frames_.size() - begin));
      for (int k = 0; k < count; ++k) {
        In* frame = in_.data() + k * pixels();
        valid |= load_frame(batch, stored_frames_[begin + static_cast<std::size_t>(k)], frame, clock);
        if (shared_.source->acquisition().saturation) count_saturated(frame);
        if constexpr (std::is_same_v<Acc, std::uint32_t>)
          in_kernels_.bin_add_u32(frame, detector.rows, detector.cols, detector.bin, detector.out_rows,
                                  detector.out_cols, acc_.data());
        else
          in_kernels_.bin_add_wide(frame, detector.rows, detector.cols, detector.bin, detector.out_rows,
                                   detector.out_cols, acc_.data());
        clock.mark(seconds.bin);
      }
      in_kernels_.add_sum(in_.data(), count, pixels(), input_sum.data());
      clock.mark(seconds.moments);
    }
    shared_.result->valid[static_cast<std::size_t>(position)] = valid ? 1 : 0;
    acc_kernels_.add_statistics(acc_.data(), 1, detector.out_pixels(), out_sum.data(), largest_acc.data(),
                                nonzero.data());
    finish(acc_kernels_, acc_.data(), position, slot, acc_column_sums_.data(), clock);
  }

  void count_saturated(const In* frame) {
    const std::uint64_t limit = *shared_.source->acquisition().saturation;
    if constexpr (std::is_integral_v<In>)
      if (limit < std::numeric_limits<In>::max())
        saturated += static_cast<std::uint64_t>(in_kernels_.count_above(frame, pixels(), static_cast<In>(limit)));
  }

  /// Moments of a finished resident frame, and its elements in the resident type at their place.
  template <class T>
  void finish(const cpu::FrameKernels<T>& kernels, const T* frame, Index position, Index slot,
              cpu::sum_of<T>* column_sums, StageClock& clock) {
    const DetectorGrid& detector = settings_.detector;
    using Sum = cpu::sum_of<T>;
    const auto sums = kernels.moments(frame, detector.out_rows, detector.out_cols, column_sums);
    Moments& moments = shared_.result->moments;
    static_cast<Sum*>(moments.total.data())[position] = sums.total;
    static_cast<Sum*>(moments.moment_row.data())[position] = sums.moment_row;
    static_cast<Sum*>(moments.moment_col.data())[position] = sums.moment_col;
    clock.mark(seconds.moments);

    const Index n = detector.out_pixels();
    T most = 0;
    void* to = target(position, slot);
    switch (settings_.out) {
      case DType::u8:
        most = kernels.store_u8(frame, n, static_cast<std::uint8_t*>(to));
        break;
      case DType::u16:
        most = kernels.store_u16(frame, n, static_cast<std::uint16_t*>(to));
        break;
      case DType::u32:
        most = kernels.store_u32(frame, n, static_cast<std::uint32_t*>(to));
        break;
      default:
        most = kernels.store_f32(frame, n, static_cast<float*>(to));
        if (settings_.mode == BinMode::mean)
          for (Index i = 0; i < n; ++i) static_cast<float*>(to)[i] *= shared_.mean_scale[static_cast<std::size_t>(i)];
    }
    largest = std::max(largest, static_cast<double>(most));
    if (plain_ && shared_.source->acquisition().saturation &&
        static_cast<double>(most) > static_cast<double>(*shared_.source->acquisition().saturation))
      if constexpr (std::is_same_v<T, In>) count_saturated(frame);
    if (settings_.out != DType::f32 && static_cast<double>(most) > static_cast<double>(max_value(settings_.out))) {
      if (settings_.saturate)
        clipped += static_cast<std::uint64_t>(kernels.count_above(frame, n, static_cast<T>(max_value(settings_.out))));
      else
        shared_.overflow.store(true, std::memory_order_relaxed);
    }
    clock.mark(seconds.place);
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
  bool plain_ = true;
  DecodeScratch scratch_;
  std::vector<In> in_;           // a group of stored frames
  std::vector<Acc> acc_;         // the resident frame being summed
  std::vector<std::byte> tile_;  // resident frames of one tile of positions, to be transposed
  std::vector<cpu::sum_of<In>> column_sums_;
  std::vector<cpu::sum_of<Acc>> acc_column_sums_;
  std::vector<Index> stored_frames_;
  std::vector<std::uint64_t> neighbour_counts_;
};

}  // namespace sonde::stem
