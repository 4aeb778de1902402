// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/memory/store.h"
#include "sonde/instruments/ptycho/model/metrics.h"

namespace sonde::ptycho {

/// Where the zero spatial frequency lies in the frames that come in: at index [0, 0], or at floor(N / 2).
enum class ZeroFrequency { corner, centre };

/// How measured amplitudes sqrt(I) are kept: in the precision that computes (f32, f64), as the counts themselves with
/// the root taken on every use (exact, and as small as the counter's type), or rounded to 16 bits.
enum class AmplitudeStorage { f64, f32, f16, bf16, counts };

/// How patterns are kept, and what their frames mean.
struct MeasurementOptions {
  ZeroFrequency zero = ZeroFrequency::centre;
  std::vector<std::uint8_t> mask{};  ///< (Ny, Nx), 1 where a pixel was measured; empty: everywhere
  AmplitudeStorage storage = AmplitudeStorage::f32;
  std::optional<Tier> tier{};            ///< empty: the nearest that has room
  std::optional<TierBudgets> budgets{};  ///< empty: the host's memory, whatever it holds
};

/// Diffraction patterns as the engines read them: amplitudes with the zero frequency at [0, 0], and which pixels were
/// measured. Immutable once they are complete, in the host's memory or in a file; several threads use one.
class Measurement {
 public:
  /// Room for `count` frames of a detector, whose counts are of type `counted` (unsigned or floating). `counts` storage
  /// keeps unsigned frames of up to 16 bits; others take f32. Throws Error(bad_input) for a mask of another size, and
  /// what Store throws.
  Measurement(Index count, Index rows, Index cols, DType counted, const MeasurementOptions& options);
  /// The next frames, (n, Ny, Nx) in counts, until all are there; all threads.
  void add(const Array& frames);
  /// Throws Error(bad_input) for negative, infinite and not-a-number counts in measured pixels (how many, and where the
  /// first is), and when no frame has a count.
  void complete();

  /// All frames at once: `frames` is (J, Ny, Nx).
  Measurement(const Array& frames, ZeroFrequency zero, std::span<const std::uint8_t> mask, AmplitudeStorage storage);

  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  [[nodiscard]] Index pixels() const { return rows_ * cols_; }
  [[nodiscard]] AmplitudeStorage storage() const { return storage_; }
  [[nodiscard]] const Choice<Tier>& tier() const { return store_.tier(); }
  [[nodiscard]] std::size_t bytes() const { return store_.stored_bytes(); }

  /// For those who decode themselves: the type of what is kept, amplitudes as f64 or f32, the bits of f16 or bf16 as
  /// u16, counts as u8 or u16; and the pixels() elements of a frame, copied.
  [[nodiscard]] DType stored_type() const;
  void copy_stored(Index frame, std::byte* to) const;
  /// sqrt(I) of frame j: where it is kept when that is possible, else decoded into `room` (pixels() elements).
  template <class Real>
  [[nodiscard]] const Real* amplitudes(Index frame, Real* room) const;
  /// A hint: the amplitudes of these frames are asked for next. From a file they are read meanwhile.
  void will_read(std::span<const Index> frames) const { store_.will_read(frames); }
  /// 1 for measured pixels, 0 for the others, in the order of the amplitudes; nullptr when all are measured.
  template <class Real>
  [[nodiscard]] const Real* weights() const;

  /// Sums over the measured pixels of each frame.
  [[nodiscard]] const std::vector<CountSums>& sums() const { return sums_; }
  /// Mean over the frames that have counts.
  [[nodiscard]] double mean_counts() const { return mean_counts_; }
  /// Where this is a part of a measurement: the mean of the whole.
  void take_mean(double mean_counts) { mean_counts_ = mean_counts; }
  /// Frames without a single count.
  [[nodiscard]] std::vector<Index> empty_frames() const;

 private:
  template <class Count>
  void add_counts(View<const Count, 3> frames);

  Index count_, rows_, cols_;
  ZeroFrequency zero_;
  AmplitudeStorage storage_;
  std::vector<float> weights_f32_;
  std::vector<double> weights_f64_;
  std::vector<CountSums> sums_;
  double mean_counts_ = 0;
  Index added_ = 0, bad_ = 0, first_bad_ = 0;  // frames, pixels, the place of the first in the order of the file
  mutable Stream stream_;
  mutable Store store_;  // a frame per slot; calls for different slots may come at the same time
};

}  // namespace sonde::ptycho
