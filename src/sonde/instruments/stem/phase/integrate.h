// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/phase/vector_field.h"

namespace sonde::stem {

/// How a field g is integrated to the image whose gradient is nearest to it. Lengths are those of the field's steps.
enum class IntegralMethod {
  dct,      ///< exact least squares between neighbours, by cosine transforms
  fourier,  ///< the integral of integrated differential phase contrast, on a padded field
  cg,       ///< the least squares of dct where positions are missing, by conjugate gradients
  ricom,    ///< the kernel sum of riCOM, ricom.h
  none,     ///< only the field
};

/// The image that minimises, over all pairs of neighbours i and i + 1 at a distance d along either axis,
///   sum |(phi(i+1) - phi(i)) / d - (g(i) + g(i+1)) / 2|^2 + regularise sum |phi|^2:
/// its normal equations are the Laplacian with free borders, which cosine transforms solve exactly. The field need not
/// be periodic; the error is of second order in the step. The mean is 0. Missing vectors are filled first (filled()).
[[nodiscard]] std::vector<double> integrate_cosine(const VectorField& gradient, double regularise = 0);

struct FourierSettings {
  double padding = 2;                           ///< of each side, with zeros; 1: the field is taken as periodic
  std::optional<double> highpass{}, lowpass{};  ///< frequencies of Butterworth's filters, 1 / length
  Index order = 2;                              ///< of these: 1 / (1 + (Q / Q_c)^(2 order))
  double regularise = 0;                        ///< added to |Q|^2
};

/// phi^(Q) = W(Q) Q.g^(Q) / (2 pi i (|Q|^2 + regularise)), phi^(0) = 0, with W = [1 - lowpass(Q; highpass)]
/// lowpass(Q; lowpass) and nothing at the last frequency of even sizes. For a field that is not periodic the padding
/// leaves an error of some per cent. Missing vectors are filled first.
[[nodiscard]] std::vector<double> integrate_fourier(const VectorField& gradient, const FourierSettings& settings = {});

/// What the iteration gave; `values` are NaN where the position is missing.
struct ConjugateIntegral {
  std::vector<double> values;
  Index iterations = 0;
  double residual = 0;  ///< of the normal equations, relative to their right-hand side
  bool converged = false;
  Index regions = 0;  ///< parts of the scan without a connection: their means are 0 each, and do not compare
};

struct ConjugateSettings2d {
  double regularise = 0;
  bool weigh_counts = true;  ///< pairs by 2 / (1 / counts(i) + 1 / counts(i+1)), in units of the mean count
  Index iterations = 200;
  double tolerance = 1e-6;
};

/// The sum of integrate_cosine() over pairs of which both positions are valid, by conjugate gradients, preconditioned
/// with its solution: without missing positions and weights one iteration.
[[nodiscard]] ConjugateIntegral integrate_conjugate(const VectorField& gradient,
                                                    const ConjugateSettings2d& settings = {});

}  // namespace sonde::stem
