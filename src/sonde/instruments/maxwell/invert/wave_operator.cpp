// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/wave_operator.h"

#include "sonde/engine/base/error.h"

namespace sonde::maxwell {

ModelChange WaveOperator::gauss_newton(const Model&, std::span<const ShotSignals>, const ModelChange&,
                                       const ShotWeighting&) {
  throw Error(ErrorKind::not_supported, "these waves have no product with the matrix of Gauss and Newton")
      .hint("take the optimiser lbfgs");
}

}  // namespace sonde::maxwell
