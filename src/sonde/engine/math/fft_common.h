// SPDX-License-Identifier: Apache-2.0
// Private to the room: what both libraries share. Included by fft_fftw.cpp or fft_kissfft.cpp, whichever is built.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/fft.h"

namespace sonde {

inline void check_fft_extents(Index batch, Index rows, Index cols) {
  constexpr Index most = std::numeric_limits<std::int32_t>::max();
  if (batch < 1 || rows < 1 || cols < 1 || rows > most || cols > most)
    throw Error(ErrorKind::bad_input, fmt::format("no Fourier transform of {} x {} x {} elements", batch, rows, cols));
}

template <class Real>
Fft2d<Real>::Fft2d(Index batch, Index rows, Index cols, std::unique_ptr<Plans> plans)
    : batch_(batch), rows_(rows), cols_(cols), plans_(std::move(plans)) {}
template <class Real>
Fft2d<Real>::Fft2d(Fft2d&&) noexcept = default;
template <class Real>
Fft2d<Real>& Fft2d<Real>::operator=(Fft2d&&) noexcept = default;
template <class Real>
Fft2d<Real>::~Fft2d() = default;

template <class Real>
void Fft2d<Real>::bring(View<const Complex, 3> in, View<Complex, 3> out) const {
  const auto fits = [&](const auto& view) {
    return view.extent[0] == batch_ && view.extent[1] == rows_ && view.extent[2] == cols_ && view.contiguous() &&
           reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0;
  };
  if (!fits(in) || !fits(out))
    throw Error(ErrorKind::bad_input,
                fmt::format("a Fourier transform prepared for contiguous {} x {} x {} was given {} x {} x {}", batch_,
                            rows_, cols_, in.extent[0], in.extent[1], in.extent[2]));
  const Index count = in.count();
  if (in.data == out.data) return;
  if (in.data < out.data + count && out.data < in.data + count)
    throw Error(ErrorKind::bad_input, "input and output of a Fourier transform overlap");
  const Index piece = rows_ * cols_;
  parallel_for(batch_, 1, [&](Index first, Index last, Worker&) {
    std::copy(in.data + first * piece, in.data + last * piece, out.data + first * piece);
  });
}

}  // namespace sonde
