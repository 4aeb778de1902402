// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/reconstruct/change.h"

#include <algorithm>
#include <vector>

#include "sonde/engine/device/parallel.h"

namespace sonde::ptycho {
namespace {

/// Elements of a piece that one thread looks at: the same for any number of threads, so that sums are too.
constexpr Index piece_size = 8192;

}  // namespace

template <class Real>
double relative_change(const Array& now, const Array& before) {
  const auto *a = static_cast<const Real*>(now.data()), *b = static_cast<const Real*>(before.data());
  struct Sums {
    double change = 0, power = 0;
  };
  const Index count = now.count();
  std::vector<Sums> pieces(static_cast<std::size_t>((count + piece_size - 1) / piece_size));
  parallel_for(static_cast<Index>(pieces.size()), 1, [&](Index first, Index last, Worker&) {
    for (Index p = first; p < last; ++p) {
      // Lanes of their own, because one sum after the other takes four times as long.
      constexpr Index lanes = 8;
      double change[lanes] = {}, power[lanes] = {};
      const Index end = 2 * std::min(count, (p + 1) * piece_size);
      for (Index i = 2 * p * piece_size; i < end; i += lanes)
        for (Index k = 0; k < std::min(lanes, end - i); ++k) {
          const double was = static_cast<double>(b[i + k]), moved = static_cast<double>(a[i + k]) - was;
          change[k] += moved * moved;
          power[k] += was * was;
        }
      Sums& sums = pieces[static_cast<std::size_t>(p)];
      for (Index k = 0; k < lanes; ++k) {
        sums.change += change[k];
        sums.power += power[k];
      }
    }
  });
  Sums total;
  for (const Sums& sums : pieces) {
    total.change += sums.change;
    total.power += sums.power;
  }
  return total.power > 0 ? total.change / total.power : 0;
}

template <class Real>
double object_change(const Array& now, const Array& before, const Share* share) {
  if (share == nullptr) return relative_change<Real>(now, before);
  const auto [change, power] = share->template change<Real>(now, before);
  return power > 0 ? change / power : 0;
}

template double relative_change<float>(const Array&, const Array&);
template double relative_change<double>(const Array&, const Array&);
template double object_change<float>(const Array&, const Array&, const Share*);
template double object_change<double>(const Array&, const Array&, const Share*);

}  // namespace sonde::ptycho
