// SPDX-License-Identifier: Apache-2.0
// Private to the room: what transforms of lines do on a GPU beside cuFFT (engine/device/run_body.h), and on the CPU in
// tests; the order and the roots of cosine transforms are those of both.
#pragma once

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/host_device.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/device/team.h"

namespace sonde::device {

/// A complex number as kernels have it.
template <class Real>
struct Pair {
  Real re, im;
};

/// (a + ib) times (c + id).
template <class Real>
[[nodiscard]] SONDE_HOST_DEVICE Pair<Real> product(Pair<Real> a, Pair<Real> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/// Which element of the line is the i-th of its real transform: the even ones, then the odd ones backwards.
[[nodiscard]] SONDE_HOST_DEVICE inline Index folded(Index i, Index length) {
  return i < (length + 1) / 2 ? 2 * i : 2 * (length - 1 - i) + 1;
}

/// Elements out(k) and out(N - k) of DCT-II from frequency k of the folded line; `root` is exp(-i pi k / (2 N)). Of
/// k = 0 and k = N / 2 only the first counts.
template <class Real>
[[nodiscard]] SONDE_HOST_DEVICE Pair<Real> cosines_of(Pair<Real> frequency, Pair<Real> root) {
  const Pair<Real> turned = product(frequency, root);
  return {2 * turned.re, -2 * turned.im};
}

/// The way back: frequency k of N times the folded line, times 2.
template <class Real>
[[nodiscard]] SONDE_HOST_DEVICE Pair<Real> frequency_of(Real at_k, Real at_mirror, Pair<Real> root) {
  return product(Pair<Real>{at_k, -at_mirror}, Pair<Real>{root.re, -root.im});
}

constexpr Index piece = 4096;  // elements of a thread block at a time
[[nodiscard]] SONDE_HOST_DEVICE inline Index pieces_of(Index elements) { return (elements + piece - 1) / piece; }

/// body(line, element) for all of (lines, length).
template <class Block, class Body>
SONDE_DEVICE void each_of(Block& block, Index lines, Index length, Body&& body) {
  const Index count = lines * length;
  for (Index p = block.index(); p < pieces_of(count); p += block.count()) {
    const Index left = count - p * piece;
    block.each(left < piece ? left : piece, [&](Index i) {
      const Index at = p * piece + i;
      body(at / length, at % length);
    });
  }
}

template <class T>
struct CopyLines {
  View<const T, 2> from;
  View<T, 2> to;
  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    each_of(block, to.extent[0], to.extent[1], [&](Index b, Index i) { to(b, i) = from(b, i); });
  }
};

/// Lines into the order of their real transforms.
template <class Real>
struct FoldLines {
  View<const Real, 2> from;
  View<Real, 2> to;
  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Index n = to.extent[1];
    each_of(block, to.extent[0], n, [&](Index b, Index i) { to(b, i) = from(b, folded(i, n)); });
  }
};

template <class Real>
struct UnfoldLines {
  View<const Real, 2> from;
  View<Real, 2> to;
  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Index n = to.extent[1];
    each_of(block, to.extent[0], n, [&](Index b, Index i) { to(b, folded(i, n)) = from(b, i); });
  }
};

template <class Real>
struct CosinesOfFrequencies {
  View<const Pair<Real>, 2> from;  // (batch, N / 2 + 1)
  View<const Pair<Real>, 1> roots;
  View<Real, 2> to;  // (batch, N)
  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Index n = to.extent[1];
    each_of(block, from.extent[0], from.extent[1], [&](Index b, Index k) {
      const Pair<Real> both = cosines_of(from(b, k), roots(k));
      to(b, k) = both.re;
      if (k > 0 && 2 * k < n) to(b, n - k) = both.im;
    });
  }
};

template <class Real>
struct FrequenciesOfCosines {
  View<const Real, 2> from;  // (batch, N)
  View<const Pair<Real>, 1> roots;
  View<Pair<Real>, 2> to;  // (batch, N / 2 + 1)
  template <class Block>
  SONDE_DEVICE void operator()(Block& block) const {
    const Index n = from.extent[1];
    each_of(block, to.extent[0], to.extent[1],
            [&](Index b, Index k) { to(b, k) = frequency_of(from(b, k), k > 0 ? from(b, n - k) : Real(0), roots(k)); });
  }
};

}  // namespace sonde::device
