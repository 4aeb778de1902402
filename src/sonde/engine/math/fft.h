// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <string>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/device/stream.h"

namespace sonde {

/// How much time preparing may take to find a fast plan on the CPU: quick decides by rules (milliseconds), measured
/// tries plans (seconds for large shapes; worth it for thousands of transforms). What is computed differs by rounding
/// only. A quick plan depends only on its key. A measured one is that of the first measurement of its key in this
/// process, or of an earlier one that was made known (Fft2d::wisdom(), import_fft_wisdom()); a later measurement may
/// choose another. Plans of other keys change neither. A GPU's library knows its plans.
enum class FftEffort { quick, measured };

/// The sign of the exponent: forward is exp(-2 pi i k n / N), inverse exp(+2 pi i k n / N).
enum class FftDirection { forward, inverse };

/// All that a plan depends on besides the element type.
struct FftKey {
  Index rows = 1, cols = 1;
  Index batch = 1;
  FftEffort effort = FftEffort::quick;
  Device device = Device::cpu();
  friend bool operator==(const FftKey&, const FftKey&) = default;
};

/// Two-dimensional transforms of one shape, in float or double:
///   out(k, l) = sum over r, c of in(r, c) exp(-+2 pi i (k r / rows + l c / cols)).
/// Neither direction scales: forward and then inverse multiplies by rows * cols, and the caller folds 1 / (rows cols),
/// or a root of it twice, into a pass of its own. 5 N log2 N operations for N = rows * cols.
/// On the CPU running allocates nothing with FFTW, a column per call with kissfft (`-DSONDE_FFT`), and several threads
/// may run one plan on different data. On a GPU the workspace is allocated here, so a plan serves one stream at a time.
template <class Real>
class Fft2d {
 public:
  using Complex = std::complex<Real>;

  /// Plans take turns at being prepared by themselves; on the CPU those of equal key and wisdom share their tables,
  /// which FFTW's part of the engine keeps for a while when the last of them ends (PlanCache, 32 MiB for each type).
  /// `wisdom` is that of an equal plan, whose rounding this one gets; texts of other libraries count for nothing.
  /// Throws Error(bad_input) for extents below 1, and for 2^31 or more rows or columns.
  static Fft2d prepare(const FftKey& key, const std::string& wisdom = {});
  Fft2d(Fft2d&&) noexcept;
  Fft2d& operator=(Fft2d&&) noexcept;
  ~Fft2d();

  [[nodiscard]] const FftKey& key() const { return key_; }
  /// Roughly what the plan holds, the workspace of a GPU included.
  [[nodiscard]] std::size_t bytes() const;
  /// What a measured plan was found to be, as a text for prepare(); empty for quick ones, on a GPU and with kissfft,
  /// whose plans depend on nothing else. A checkpoint keeps it, so that a resumed run has the same bits.
  [[nodiscard]] std::string wisdom() const;

  /// One transform of rows * cols elements in place, on the calling thread only: for the bodies of parallel_for, with
  /// data of each worker that stay in its cache. On the CPU only. `data` lies on a 16-byte boundary, better on 64;
  /// an odd number of float elements may lie anywhere, as the second of several one after the other does.
  void transform(Complex* data, FftDirection direction) const;

  /// The whole batch, in order with the stream; on the CPU its transforms run in parallel. `in` and `out` are
  /// contiguous (batch, rows, cols) on 16-byte boundaries, as memory of Array and std::vector is; they are the same or
  /// do not overlap. Throws Error(bad_input) otherwise.
  void transform(Stream& stream, View<const Complex, 3> in, View<Complex, 3> out, FftDirection direction) const;

 private:
  struct Plans;
  Fft2d(const FftKey& key, std::unique_ptr<Plans> plans);
  void check(const Stream& stream, View<const Complex, 3> in, View<const Complex, 3> out) const;

  FftKey key_;
  std::unique_ptr<Plans> plans_;
};

/// The smallest product of 2, 3, 5 and 7 that is not below `n`: sizes that every library transforms fast. `n` >= 1.
[[nodiscard]] Index next_fast_size(Index n);

/// What this process knows of measured plans, as a text; empty with kissfft, which measures nothing. See
/// io/fft_wisdom.h for the user's cache of it.
[[nodiscard]] std::string fft_wisdom();

/// Makes earlier measurements known, of keys that this process knows nothing of: what it has measured itself stays, so
/// that its plans do not change in between. False, and nothing learnt, when the text comes from another library or
/// version or is damaged.
bool import_fft_wisdom(const std::string& text);

/// Measured plans are measured anew from now on.
void forget_fft_wisdom();

/// How many plans this process has made on the CPU; those that were kept from before are not made again.
[[nodiscard]] Index fft_plans_made();

/// Which library transforms on the CPU: "fftw" or "kissfft".
[[nodiscard]] const char* fft_library();

}  // namespace sonde
