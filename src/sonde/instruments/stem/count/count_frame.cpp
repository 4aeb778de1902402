// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/count/count_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <type_traits>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/stem/count/count_kernels.h"

namespace sonde::stem {
namespace {

constexpr float below_all = -std::numeric_limits<float>::infinity();

/// v > limit and v > this are the same for every float v.
float not_above(double limit) {
  const auto near = static_cast<float>(limit);
  return static_cast<double>(near) > limit ? std::nextafter(near, below_all) : near;
}

/// find_maxima() for one column at an edge.
template <class T>
bool is_maximum(const T* above, const T* middle, const T* below, Index col, Index cols, T low) {
  const T value = middle[col];
  if (!(value > low) || !(value > above[col]) || value < below[col]) return false;
  if (col > 0 && !(value > middle[col - 1] && value > below[col - 1] && value > above[col - 1])) return false;
  return col + 1 == cols || (value >= middle[col + 1] && value >= below[col + 1] && value >= above[col + 1]);
}

void require_length(const char* what, std::size_t found, Index rows, Index cols) {
  if (found != 0 && found != static_cast<std::size_t>(rows * cols))
    throw Error(ErrorKind::bad_input, fmt::format("{} of {} pixels, but frames of {} x {}", what, found, rows, cols));
}

}  // namespace

CountRule::CountRule(Index rows, Index cols, FrameCorrection correction, const CountLimits& limits)
    : rows_(rows), cols_(cols), limits_(limits), dark_(std::move(correction.dark)), gain_(std::move(correction.gain)) {
  require_length("a dark image", dark_.size(), rows, cols);
  require_length("a gain image", gain_.size(), rows, cols);
  require_length("a mask", correction.good.size(), rows, cols);
  const auto& good = correction.good;
  const bool bad = std::find(good.begin(), good.end(), std::uint8_t{0}) != good.end();
  // Bad pixels of a pass are zero: never above a background of zero or more, nor above an electron beside them.
  if (dark_.empty() && gain_.empty() && !(bad && limits.background < 0)) return;
  const auto pixels = static_cast<std::size_t>(rows * cols);
  dark_.resize(pixels, 0);
  if (gain_.empty()) gain_.assign(pixels, 1);
  for (std::size_t i = 0; i < good.size(); ++i)
    if (good[i] == 0) {  // (0 - infinity) * 1
      dark_[i] = std::numeric_limits<float>::infinity();
      gain_[i] = 1;
    }
}

std::size_t CountRule::bytes() const { return sizeof(float) * (dark_.capacity() + gain_.capacity()); }

CountRule::Scratch::Scratch(const CountRule& rule)
    : rows_(static_cast<std::size_t>(4 * rule.cols())),
      zeros_(static_cast<std::size_t>(rule.cols())),
      maxima_(static_cast<std::size_t>((rule.cols() + 7) / 8)) {
  std::fill(rows_.end() - rule.cols(), rows_.end(), below_all);
}

std::size_t CountRule::Scratch::bytes(Index cols) {
  return static_cast<std::size_t>(cols) * (4 * sizeof(float) + sizeof(std::uint16_t) + 1) + 8;
}

template <class T>
void CountRule::correct(const T* frame, Index row, float* out) const {
  const Index first = row * cols_;
  if (!dark_.empty()) {
    cpu::correct_row(frame + first, dark_.data() + first, gain_.data() + first, cols_, out);
    return;
  }
  for (Index c = 0; c < cols_; ++c) out[c] = static_cast<float>(frame[first + c]);
}

template <class T>
Index CountRule::take_row(const T* above, const T* middle, const T* below, Index row, T low, Scratch& scratch,
                          std::vector<std::uint32_t>& events) const {
  auto* maxima = reinterpret_cast<std::uint8_t*>(scratch.maxima_.data());
  cpu::find_maxima(above, middle, below, cols_, low, maxima);
  for (const Index edge : {Index{0}, cols_ - 1})
    maxima[edge] = is_maximum(above, middle, below, edge, cols_, low) ? 1 : 0;
  Index xrays = 0;
  for (std::size_t word = 0; word < scratch.maxima_.size(); ++word) {
    for (std::uint64_t bits = scratch.maxima_[word]; bits != 0; bits &= bits - 1) {
      const auto byte = static_cast<Index>(std::countr_zero(bits)) / 8;
      const Index col = 8 * static_cast<Index>(word) + byte;
      if (static_cast<double>(middle[col]) < limits_.xray)
        events.push_back(static_cast<std::uint32_t>(row * cols_ + col));
      else
        ++xrays;
    }
  }
  return xrays;
}

template <class T>
Index CountRule::count_plain(const T* frame, const T* lowest, T low, Scratch& scratch,
                             std::vector<std::uint32_t>& events) const {
  Index xrays = 0;
  for (Index row = 0; row < rows_; ++row) {
    const T* middle = frame + row * cols_;
    const T* above = row > 0 ? middle - cols_ : lowest;
    const T* below = row + 1 < rows_ ? middle + cols_ : lowest;
    xrays += take_row(above, middle, below, row, low, scratch, events);
  }
  return xrays;
}

template <class T>
Index CountRule::count(const T* frame, double largest, Scratch& scratch, std::vector<std::uint32_t>& events) const {
  const float* lowest = scratch.rows_.data() + 3 * cols_;
  if (dark_.empty()) {
    if (static_cast<double>(static_cast<float>(largest)) <= limits_.background) return 0;
    if constexpr (std::is_same_v<T, std::uint8_t> || std::is_same_v<T, std::uint16_t>) {
      if (limits_.background >= 0)
        return count_plain(frame, reinterpret_cast<const T*>(scratch.zeros_.data()),
                           static_cast<T>(std::floor(limits_.background)), scratch, events);
    }
    if constexpr (std::is_same_v<T, float>)
      return count_plain(frame, lowest, not_above(limits_.background), scratch, events);
  }
  const float low = not_above(limits_.background);
  std::array<float*, 3> rows = {scratch.rows_.data(), scratch.rows_.data() + cols_, scratch.rows_.data() + 2 * cols_};
  Index xrays = 0;
  correct(frame, 0, rows[1]);
  for (Index row = 0; row < rows_; ++row) {
    const bool last = row + 1 == rows_;
    if (!last) correct(frame, row + 1, rows[2]);
    xrays += take_row(row > 0 ? rows[0] : lowest, rows[1], last ? lowest : rows[2], row, low, scratch, events);
    std::rotate(rows.begin(), rows.begin() + 1, rows.end());
  }
  return xrays;
}

#define SONDE_COUNT(T)                                                                            \
  template Index CountRule::count(const T*, double, Scratch&, std::vector<std::uint32_t>&) const; \
  template void CountRule::correct(const T*, Index, float*) const;
SONDE_COUNT(std::uint8_t)
SONDE_COUNT(std::uint16_t)
SONDE_COUNT(std::uint32_t)
SONDE_COUNT(std::uint64_t)
SONDE_COUNT(float)
SONDE_COUNT(double)

}  // namespace sonde::stem
