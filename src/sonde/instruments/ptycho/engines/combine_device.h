// SPDX-License-Identifier: Apache-2.0
// Private to the room: sums and combinations of whole arrays by the threads of a GPU (engine/device/team.h). Sums are
// in double precision, of strips first and then of all, in an order that depends only on the size.
#pragma once

#include "sonde/instruments/ptycho/model/sums_device.h"

namespace sonde::ptycho::device {

/// Re <a, a>, Re <a, b> and Re <b, b> of each strip.
template <class Real>
struct Products {
  const Complex<Real>*a = nullptr, *b = nullptr;
  Index count = 0;
  double* partial = nullptr;  // (strips, 3)

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    for (Index piece = block.index(); piece < strips_of(count); piece += block.count()) {
      double found[3];
      block.template sums<3>(lesser(strip, count - piece * strip), found, [&](Index i, double(&sums)[3]) {
        const Complex<Real> x = a[piece * strip + i], y = b[piece * strip + i];
        const auto xr = static_cast<double>(x.re), xi = static_cast<double>(x.im);
        const auto yr = static_cast<double>(y.re), yi = static_cast<double>(y.im);
        sums[0] += xr * xr + xi * xi;
        sums[1] += xr * yr + xi * yi;
        sums[2] += yr * yr + yi * yi;
      });
      block.once([&] {
        for (int k = 0; k < 3; ++k) partial[piece * 3 + k] = found[k];
      });
    }
  }
};

/// The sums of all strips. One thread block.
template <int Count>
struct SumOfStrips {
  const double* partial = nullptr;  // (strips, Count)
  Index strips = 0;
  double* total = nullptr;  // Count

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    if (block.index() != 0) return;
    double found[Count];
    block.template sums<Count>(strips, found, [&](Index i, double(&sums)[Count]) {
      for (int k = 0; k < Count; ++k) sums[k] += partial[i * Count + k];
    });
    block.once([&] {
      for (int k = 0; k < Count; ++k) total[k] = found[k];
    });
  }
};

/// to = keep to + fresh from.
template <class Real>
struct Combine {
  Real keep = 0, fresh = 1;
  const Complex<Real>* from = nullptr;
  Complex<Real>* to = nullptr;
  Index count = 0;

  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    for (Index piece = block.index(); piece < strips_of(count); piece += block.count())
      block.each(lesser(strip, count - piece * strip), [&](Index i) {
        const Index at = piece * strip + i;
        const Complex<Real> old = to[at], add = from[at];
        to[at] = {keep * old.re + fresh * add.re, keep * old.im + fresh * add.im};
      });
  }
};

}  // namespace sonde::ptycho::device
