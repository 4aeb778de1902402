// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/verify/verify.h"

#include <array>

#include "sonde/instruments/maxwell/verify/checks.h"

namespace sonde::maxwell {

std::span<const VerifyCheck> verify_checks() {
  static constexpr std::array<VerifyCheck, 17> checks{{
      {"energy", "energy and symmetry of the curls in a closed box", check_energy},
      {"cavity", "lowest mode of a closed box", check_cavity},
      {"reciprocity", "source and receiver swapped in a lossy heterogeneous medium", check_reciprocity},
      {"line_source", "line source in a uniform medium against Hankel functions", check_line_source},
      {"accuracy", "grids that are chosen for an accuracy: predicted and measured phase velocity", check_accuracy},
      {"dipole", "dipole in a uniform medium against its closed form", check_dipole},
      {"layer", "half-space and lossy layer against Fresnel's coefficients", check_layer},
      {"absorption", "what absorbing layers reflect and keep", check_absorption},
      {"debye", "velocity and attenuation in water against its permittivity", check_debye},
      {"transpose", "the derivative of records, its transpose and its limit", check_transpose},
      {"reference",
       "the derivative of the plain loops by all inputs, initial fields and Debye poles among them, its "
       "transpose and its limit",
       check_reference},
      {"curvature", "Hessian and Gauss and Newton's matrix of a misfit, and its Taylor series", check_curvature},
      {"compression", "gradients from fields in bf16 and at intervals", check_compression},
      {"storage", "gradients from memory, disk and fields that are computed again: the same bits", check_storage},
      {"determinism", "records and gradients with several threads and shots in flight: the same bits",
       check_determinism},
      {check_of_ranks, "shots and grids that several processes share, against one", check_ranks},
      {"inversion", "inversions of ground that is known", check_inversion},
  }};
  return checks;
}

}  // namespace sonde::maxwell
