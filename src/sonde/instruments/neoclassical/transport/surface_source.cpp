// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/surface_source.h"

namespace sonde::neoclassical {

std::optional<double> u2_between(const FrequentD11& often, const FrequentD11& oftener) {
  const double u2 = 1.5 * (oftener.D11 * oftener.nu_hat - often.D11 * often.nu_hat) /
                    (oftener.nu_hat * oftener.nu_hat - often.nu_hat * often.nu_hat);
  const double highest = 1.5 * oftener.D11 / oftener.nu_hat;  // c > 0: what is not Pfirsch and Schlueter's dissipates
  if (!(u2 >= 0.9 * highest && u2 <= 1.1 * highest)) return std::nullopt;
  return u2;
}

}  // namespace sonde::neoclassical
