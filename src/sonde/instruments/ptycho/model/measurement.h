// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/index.h"
#include "sonde/instruments/ptycho/model/metrics.h"

namespace sonde::ptycho {

/// Where the zero spatial frequency lies in the frames that come in: at index [0, 0], or at floor(N / 2).
enum class ZeroFrequency { corner, centre };

/// How measured amplitudes sqrt(I) are kept: in the precision that computes (f32, f64), as the counts themselves with
/// the root taken on every use (exact, and as small as the counter's type), or rounded to 16 bits.
enum class AmplitudeStorage { f64, f32, f16, bf16, counts };

/// Diffraction patterns as the engines read them: amplitudes with the zero frequency at [0, 0], and which pixels were
/// measured. Immutable, on the host.
class Measurement {
 public:
  /// `frames` is (J, Ny, Nx) of any unsigned or floating type, in counts. `mask` is (Ny, Nx), 1 where a pixel was
  /// measured; empty: everywhere. `counts` storage keeps unsigned frames of up to 16 bits; others take f32.
  /// Throws Error(bad_input) for negative, infinite and not-a-number counts in measured pixels (how many, and where
  /// the first is), for a mask of another size, and when no frame has a count.
  Measurement(const Array& frames, ZeroFrequency zero, std::span<const std::uint8_t> mask, AmplitudeStorage storage);

  [[nodiscard]] Index count() const { return stored_.shape()[0]; }
  [[nodiscard]] Index rows() const { return stored_.shape()[1]; }
  [[nodiscard]] Index cols() const { return stored_.shape()[2]; }
  [[nodiscard]] Index pixels() const { return rows() * cols(); }
  [[nodiscard]] AmplitudeStorage storage() const { return storage_; }
  [[nodiscard]] std::size_t bytes() const { return stored_.allocated_bytes(); }

  /// For those who decode themselves: the type of what is kept, amplitudes as f64 or f32, the bits of f16 or bf16 as
  /// u16, counts as u8 or u16; and the pixels() elements of a frame, copied.
  [[nodiscard]] DType stored_type() const { return stored_.dtype(); }
  void copy_stored(Index frame, std::byte* to) const;
  /// sqrt(I) of frame j: where it is kept when the storage is Real, else decoded into `room` (pixels() elements).
  template <class Real>
  [[nodiscard]] const Real* amplitudes(Index frame, Real* room) const;
  /// 1 for measured pixels, 0 for the others, in the order of the amplitudes; nullptr when all are measured.
  template <class Real>
  [[nodiscard]] const Real* weights() const;

  /// Sums over the measured pixels of each frame.
  [[nodiscard]] const std::vector<CountSums>& sums() const { return sums_; }
  /// Mean over the frames that have counts.
  [[nodiscard]] double mean_counts() const { return mean_counts_; }
  /// Frames without a single count.
  [[nodiscard]] std::vector<Index> empty_frames() const;

 private:
  AmplitudeStorage storage_;
  Array stored_;  // (J, Ny, Nx): f64, f32, u16 (f16, bf16 bits, counts) or u8 (counts)
  std::vector<float> weights_f32_;
  std::vector<double> weights_f64_;
  std::vector<CountSums> sums_;
  double mean_counts_ = 0;
};

}  // namespace sonde::ptycho
