// SPDX-License-Identifier: Apache-2.0
// The permissive choice: rows, then columns, each a one-dimensional transform.
#include <kissfft/kissfft.hh>

#include <algorithm>
#include <atomic>
#include <complex>
#include <string>
#include <vector>

#include "sonde/engine/math/fft_plans.h"

namespace sonde {
namespace {
const std::string no_wisdom;
std::atomic<Index> plans_made = 0;  // tables take no longer than a transform, so that none are kept
}  // namespace

/// Tables for rows and columns. The library's objects hold scratch, so every call works with a copy.
template <class Real>
struct cpu::FftPlans<Real>::Tables {
  struct Direction {
    kissfft<Real> row, col;
  };
  Index rows, cols;
  Direction forward, inverse;

  explicit Tables(const FftKey& key)
      : rows(key.rows), cols(key.cols), forward(direction(false)), inverse(direction(true)) {}

  [[nodiscard]] Direction direction(bool backward) const {
    return {kissfft<Real>(static_cast<std::size_t>(cols), backward),
            kissfft<Real>(static_cast<std::size_t>(rows), backward)};
  }
};

template <class Real>
cpu::FftPlans<Real>::FftPlans(const FftKey& key, const std::string&) : tables_(std::make_unique<Tables>(key)) {
  ++plans_made;
}
template <class Real>
cpu::FftPlans<Real>::~FftPlans() = default;

template <class Real>
const std::string& cpu::FftPlans<Real>::wisdom() const {
  return no_wisdom;
}

template <class Real>
void cpu::FftPlans<Real>::run(std::complex<Real>* data, FftDirection direction) const {
  const Index rows = tables_->rows, cols = tables_->cols;
  auto plan = direction == FftDirection::forward ? tables_->forward : tables_->inverse;
  std::vector<std::complex<Real>> from(static_cast<std::size_t>(std::max(rows, cols))), to(from.size());
  for (Index row = 0; row < rows; ++row) {
    std::copy(data + row * cols, data + (row + 1) * cols, from.begin());
    plan.row.transform(from.data(), data + row * cols);
  }
  for (Index col = 0; col < cols; ++col) {
    for (Index row = 0; row < rows; ++row) from[static_cast<std::size_t>(row)] = data[row * cols + col];
    plan.col.transform(from.data(), to.data());
    for (Index row = 0; row < rows; ++row) data[row * cols + col] = to[static_cast<std::size_t>(row)];
  }
}

/// By a complex transform: the library's own real one is of even lengths only, and forward.
template <class Real>
struct cpu::RealFftPlans<Real>::Tables {
  std::size_t length;
  kissfft<Real> forward, inverse;
  explicit Tables(Index of) : length(static_cast<std::size_t>(of)), forward(length, false), inverse(length, true) {}
};

template <class Real>
cpu::RealFftPlans<Real>::RealFftPlans(Index length, FftEffort, const std::string&)
    : tables_(std::make_unique<Tables>(length)) {
  ++plans_made;
}
template <class Real>
cpu::RealFftPlans<Real>::~RealFftPlans() = default;

template <class Real>
const std::string& cpu::RealFftPlans<Real>::wisdom() const {
  return no_wisdom;
}

template <class Real>
void cpu::RealFftPlans<Real>::forward(Real* in, std::complex<Real>* out) const {
  const std::size_t n = tables_->length;
  const std::vector<std::complex<Real>> from(in, in + n);
  std::vector<std::complex<Real>> to(n);
  kissfft<Real>(tables_->forward).transform(from.data(), to.data());
  std::copy_n(to.begin(), n / 2 + 1, out);
}

template <class Real>
void cpu::RealFftPlans<Real>::inverse(std::complex<Real>* in, Real* out) const {
  const std::size_t n = tables_->length;
  std::vector<std::complex<Real>> from(in, in + n / 2 + 1), to(n);
  // Of real lines both are real; what else is there counts for nothing.
  from.front().imag(0);
  if (n % 2 == 0) from.back().imag(0);
  for (std::size_t k = from.size(); k < n; ++k) from.push_back(std::conj(in[n - k]));
  kissfft<Real>(tables_->inverse).transform(from.data(), to.data());
  std::transform(to.begin(), to.end(), out, [](const std::complex<Real>& value) { return value.real(); });
}

template class cpu::FftPlans<float>;
template class cpu::FftPlans<double>;
template class cpu::RealFftPlans<float>;
template class cpu::RealFftPlans<double>;

Index fft_plans_made() { return plans_made; }

const char* fft_library() { return "kissfft"; }
std::string fft_wisdom() { return ""; }
bool import_fft_wisdom(const std::string& text) { return text.empty(); }
void forget_fft_wisdom() {}

}  // namespace sonde
