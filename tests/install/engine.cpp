// SPDX-License-Identifier: Apache-2.0
// Uses the installed engine: exit status 0 when a parallel sum is right.
#include <atomic>
#include <cstdio>

#include "sonde/engine/base/version.h"
#include "sonde/engine/device/device.h"
#include "sonde/engine/device/parallel.h"

int main() {
  std::atomic<sonde::Index> sum{0};
  sonde::parallel_for(1000, 10, [&](sonde::Index first, sonde::Index last, sonde::Worker&) {
    for (sonde::Index i = first; i < last; ++i) sum += i;
  });
  std::printf("sonde %s on %s: %lld\n", sonde::build_info().version.data(), sonde::Device::cpu().name().c_str(),
              static_cast<long long>(sum));
  return sum == 499500 ? 0 : 1;
}
