// SPDX-License-Identifier: Apache-2.0
// Uses the installed instrument: exit status 0 when a mask is put in order.
#include <cstdio>

#include "sonde/instruments/stem/image/mask.h"

int main() {
  const sonde::stem::Mask mask = sonde::stem::make_mask(4, 4, {9, 5, 6, 5});
  std::printf("%lld pixels\n", static_cast<long long>(mask.area()));
  return mask.pixels == std::vector<sonde::Index>{5, 6, 9} ? 0 : 1;
}
