// SPDX-License-Identifier: Apache-2.0
// Batches of lines in several layouts, for the tests of their transforms.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <ostream>
#include <random>
#include <type_traits>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/math/fft1d.h"

namespace sonde::testing {

/// How the lines of a batch are located in memory: one after the other, with gaps between lines, or as the columns of a
/// matrix.
enum class Lines { contiguous, gaps, columns };
inline const std::vector<Lines> all_lines{Lines::contiguous, Lines::gaps, Lines::columns};

struct LineCase {
  Index batch = 1, length = 1;
  friend void PrintTo(const LineCase& one, std::ostream* out) { *out << one.batch << " lines of " << one.length; }
};
/// One element, small primes, odd and even, products, a prime that libraries treat in their own way, more lines than go
/// together.
inline const std::vector<LineCase> line_cases{{1, 1}, {3, 2},  {2, 3},   {4, 5},  {1, 7},   {5, 8},
                                              {9, 9}, {2, 12}, {17, 16}, {3, 35}, {2, 101}, {1, 360}};

inline double number(std::mt19937& generator) { return std::normal_distribution<double>()(generator); }
template <class T>
std::vector<T> random_lines(const LineCase& of, Index length, unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::vector<T> values(static_cast<std::size_t>(of.batch * length));
  for (T& value : values)
    if constexpr (std::is_floating_point_v<T>)
      value = static_cast<T>(number(generator));
    else
      value = T(static_cast<typename T::value_type>(number(generator)),
                static_cast<typename T::value_type>(number(generator)));
  return values;
}

/// A batch in one of the layouts on a device.
template <class T>
class Batch {
 public:
  Batch(Device device, Lines lines, Index batch, Index length) : lines_(lines), batch_(batch), length_(length) {
    memory_ = Array::zeros(device, lines == Lines::columns ? Shape{length, batch} : Shape{batch, length + gap()},
                           dtype_of<T>);
  }
  [[nodiscard]] View<T, 2> view() {
    View<T, 2> view(static_cast<T*>(memory_.data()), batch_, length_);
    if (lines_ == Lines::columns) {
      view.stride[0] = 1;
      view.stride[1] = batch_;
    } else {
      view.stride[0] = length_ + gap();
    }
    return view;
  }
  void set(const std::vector<T>& values, Stream& stream) {
    Array host = memory_.copy_to(Device::cpu(), stream);
    for (Index b = 0; b < batch_; ++b)
      for (Index i = 0; i < length_; ++i)
        static_cast<T*>(host.data())[place(b, i)] = values[static_cast<std::size_t>(b * length_ + i)];
    memory_ = host.copy_to(memory_.device(), stream);
  }
  [[nodiscard]] std::vector<T> get(Stream& stream) const {
    const Array host = memory_.copy_to(Device::cpu(), stream);
    std::vector<T> values;
    for (Index b = 0; b < batch_; ++b)
      for (Index i = 0; i < length_; ++i) values.push_back(static_cast<const T*>(host.data())[place(b, i)]);
    return values;
  }

 private:
  [[nodiscard]] Index gap() const { return lines_ == Lines::gaps ? 3 : 0; }
  [[nodiscard]] Index place(Index b, Index i) const {
    return lines_ == Lines::columns ? i * batch_ + b : b * (length_ + gap()) + i;
  }
  Lines lines_;
  Index batch_, length_;
  Array memory_;
};

/// transform(stream, in, out) of a batch from one layout to the same, for instance [&](Stream&, View<const float, 2>,
/// View<float, 2>).
template <class To, class From, class Transform>
std::vector<To> through(Device device, Lines lines, Index batch, Index length, const std::vector<From>& values,
                        Index length_out, Transform&& transform) {
  Stream stream(device);
  Batch<From> in(device, lines, batch, length);
  Batch<To> out(device, lines, batch, length_out);
  in.set(values, stream);
  transform(stream, View<const From, 2>(in.view()), out.view());
  stream.synchronise();
  EXPECT_EQ(in.get(stream), values) << "a transform keeps its input";
  return out.get(stream);
}

/// Rounding of a transform grows with its depth: eps log2 N of the root mean square of the results, sqrt(N) for numbers
/// of size 1, and 8 for its tail and for the roots, which have errors of their own.
template <class Real>
double line_tolerance(Index length) {
  const auto n = static_cast<double>(length);
  return 8 * std::numeric_limits<Real>::epsilon() * std::log2(n + 2) * std::sqrt(2 * n);
}

}  // namespace sonde::testing
