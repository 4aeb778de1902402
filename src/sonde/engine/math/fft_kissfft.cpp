// SPDX-License-Identifier: Apache-2.0
// The permissive choice: rows, then columns, each a one-dimensional transform.
#include <kissfft/kissfft.hh>

#include <algorithm>
#include <vector>

#include "sonde/engine/math/fft_plans.h"

namespace sonde {

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
cpu::FftPlans<Real>::FftPlans(const FftKey& key, const std::string&) : tables_(std::make_unique<Tables>(key)) {}
template <class Real>
cpu::FftPlans<Real>::~FftPlans() = default;

template <class Real>
const std::string& cpu::FftPlans<Real>::wisdom() const {
  static const std::string none;
  return none;
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

template class cpu::FftPlans<float>;
template class cpu::FftPlans<double>;

const char* fft_library() { return "kissfft"; }
std::string fft_wisdom() { return ""; }
bool import_fft_wisdom(const std::string& text) { return text.empty(); }
void forget_fft_wisdom() {}

}  // namespace sonde
