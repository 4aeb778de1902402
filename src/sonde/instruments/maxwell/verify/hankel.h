// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>

namespace sonde::maxwell {

/// Hankel functions of the second kind: waves that leave a line source for the time factor exp(+j w t).
struct Hankel {
  std::complex<double> h0, h1;  ///< H0^(2) and H1^(2); dH0/dz = -H1
};

/// At z != 0 off the negative real axis. Power series up to |z| = 12 (DLMF 10.2.2, 10.8), asymptotic series above (DLMF
/// 10.17.6): to about 1e-10 of the larger of |H0(z)| and 1e-1 exp(|Im z|).
[[nodiscard]] Hankel hankel_second_kind(std::complex<double> z);

}  // namespace sonde::maxwell
