// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/verbs/noted_network.h"

#include "sonde/engine/memory/host_memory.h"

namespace sonde::separate {

Value memory_now() {
  Value now;
  now["held_bytes"] = resident_memory().now;
  now["free_bytes"] = usable_bytes(host_memory());
  return now;
}

void NotedNetwork::run(View<const float, 2> samples, View<float, 3> stems) {
  const bool is_first = !begins_s_;
  if (is_first) begins_s_ = since_.seconds();
  network_.run(samples, stems);
  if (is_first) memory_ = memory_now();
}

}  // namespace sonde::separate
