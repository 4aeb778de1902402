// SPDX-License-Identifier: Apache-2.0
// Private to the room: what a Fourier library has to provide. cpu:: is fft_fftw.cpp or fft_kissfft.cpp, whichever is
// built; cuda:: is fft_cuda.cu.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <string>

#include "sonde/engine/math/fft.h"

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

}  // namespace sonde::cpu

namespace sonde::cuda {

template <class Real>
class FftPlans {
 public:
  explicit FftPlans(const FftKey& key);
  FftPlans(const FftPlans&) = delete;
  FftPlans& operator=(const FftPlans&) = delete;
  ~FftPlans();
  /// The whole batch.
  void run(Stream& stream, const std::complex<Real>* in, std::complex<Real>* out, FftDirection direction) const;
  [[nodiscard]] std::size_t workspace_bytes() const { return workspace_bytes_; }

 private:
  Device device_;
  int handle_ = 0;
  void* workspace_ = nullptr;
  std::size_t workspace_bytes_ = 0;
};

}  // namespace sonde::cuda
