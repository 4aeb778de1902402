// SPDX-License-Identifier: Apache-2.0
// Uses the installed instrument: exit status 0 when electrons of 200 keV have their wavelength.
#include <cmath>
#include <cstdio>

#include "sonde/engine/math/wavelength.h"

int main() {
  const double wavelength = sonde::electron_wavelength(200);
  std::printf("%.8f A\n", wavelength);
  return std::abs(wavelength - 0.02507934) < 1e-8 ? 0 : 1;
}
