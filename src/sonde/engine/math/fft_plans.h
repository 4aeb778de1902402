// SPDX-License-Identifier: Apache-2.0
// Private to the room: what a Fourier library has to provide. cpu:: is fft_fftw.cpp or fft_kissfft.cpp, whichever is
// built; cuda:: is fft_cuda.cu.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "sonde/engine/math/fft.h"

namespace sonde {

/// Tables of roots for both directions of so many elements along all axes, roughly: libraries do not say.
template <class Real>
[[nodiscard]] std::size_t fft_table_bytes(Index elements) {
  return static_cast<std::size_t>(4 * elements) * sizeof(std::complex<Real>);
}

}  // namespace sonde

namespace sonde::cpu {

/// Both directions of one shape.
template <class Real>
class FftPlans {
 public:
  FftPlans(const FftKey& key, const std::string& wisdom);
  FftPlans(const FftPlans&) = delete;
  FftPlans& operator=(const FftPlans&) = delete;
  ~FftPlans();
  [[nodiscard]] const std::string& wisdom() const;
  /// One transform in place. Thread-safe.
  void run(std::complex<Real>* data, FftDirection direction) const;

 private:
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

/// Both directions of one line of real numbers, from one array to another: `length` numbers to length / 2 + 1 complex
/// ones and back, on 16-byte boundaries. What is read may be overwritten. Thread-safe.
template <class Real>
class RealFftPlans {
 public:
  RealFftPlans(Index length, FftEffort effort, const std::string& wisdom);
  RealFftPlans(const RealFftPlans&) = delete;
  RealFftPlans& operator=(const RealFftPlans&) = delete;
  ~RealFftPlans();
  [[nodiscard]] const std::string& wisdom() const;
  void forward(Real* in, std::complex<Real>* out) const;
  void inverse(std::complex<Real>* in, Real* out) const;

 private:
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

}  // namespace sonde::cpu

namespace sonde::cuda {

/// A plan of cuFFT and its workspace, which comes from the device's Pool, like all memory.
class CufftPlan {
 public:
  /// `kind` is a cufftType.
  CufftPlan(Device device, const std::vector<Index>& extents, int kind, Index batch);
  CufftPlan(const CufftPlan&) = delete;
  CufftPlan& operator=(const CufftPlan&) = delete;
  ~CufftPlan();
  /// What cuFFT's functions take, set to the stream.
  [[nodiscard]] int handle(Stream& stream) const;
  [[nodiscard]] std::size_t workspace_bytes() const { return workspace_bytes_; }

 private:
  Device device_;
  int handle_ = 0;
  void* workspace_ = nullptr;
  std::size_t workspace_bytes_ = 0;
};

template <class Real>
class FftPlans {
 public:
  explicit FftPlans(const FftKey& key);
  /// The whole batch.
  void run(Stream& stream, const std::complex<Real>* in, std::complex<Real>* out, FftDirection direction) const;
  [[nodiscard]] std::size_t workspace_bytes() const { return plan_.workspace_bytes(); }

 private:
  CufftPlan plan_;
};

/// Contiguous batches of real lines; the inverse overwrites what it reads.
template <class Real>
class RealFftPlans {
 public:
  RealFftPlans(Device device, Index length, Index batch);
  void forward(Stream& stream, const Real* in, std::complex<Real>* out) const;
  void inverse(Stream& stream, std::complex<Real>* in, Real* out) const;
  [[nodiscard]] std::size_t workspace_bytes() const { return forward_.workspace_bytes() + inverse_.workspace_bytes(); }

 private:
  CufftPlan forward_, inverse_;
};

}  // namespace sonde::cuda
