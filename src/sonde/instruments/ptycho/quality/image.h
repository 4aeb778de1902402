// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/instruments/ptycho/model/state.h"
#include "sonde/instruments/ptycho/scan/placement.h"

namespace sonde::ptycho {

/// A plain image of real numbers, for assessments.
struct Image {
  Index rows = 0, cols = 0;
  std::vector<double> values{};

  double& operator()(Index row, Index col) { return values[static_cast<std::size_t>(row * cols + col)]; }
  double operator()(Index row, Index col) const { return values[static_cast<std::size_t>(row * cols + col)]; }
};

/// (S, Y, X) complex of either precision in double precision.
[[nodiscard]] Array in_double_precision(const Array& complex);

/// A part of one slice of (S, Y, X) complex128. Throws Error(bad_input) when the box is empty or reaches beyond it.
[[nodiscard]] View<const complex128, 2> part(const Array& slices, Index slice, const Box& box);

/// The phase that a wave gets on its way through all slices, in the box, rad: the phases of a potential added; of
/// transmissions the angle of each in (-pi, pi], added.
[[nodiscard]] Image phase_image(const State& state, const Box& box);

/// Mean |grad phase| in rad per pixel, by differences of neighbours that are wrapped to (-pi, pi].
[[nodiscard]] double phase_roughness(const Image& phase);

/// A difference of phases as the one between -pi and pi that differs from it by whole turns.
[[nodiscard]] double wrapped(double phase);

}  // namespace sonde::ptycho
