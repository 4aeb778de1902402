// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <string>

namespace sonde {

/// What the operating system says of memory, in bytes.
struct HostMemory {
  std::size_t available = 0;                                          ///< MemAvailable of /proc/meminfo
  std::size_t group_limit = std::numeric_limits<std::size_t>::max();  ///< smallest cgroup limit above this process
  std::size_t group_used = 0;  ///< use of the cgroup with that limit, caches left out
};

/// Asks now; understands control groups of version 1 and 2. `root` stands in for "/" in tests.
[[nodiscard]] HostMemory host_memory(const std::string& root = "");

/// min(available, group_limit - group_used).
[[nodiscard]] std::size_t usable_bytes(const HostMemory& memory);

/// Resident set of this process: now, its anonymous part now, and the peak since the start.
struct ResidentMemory {
  std::size_t now = 0, anonymous = 0, peak = 0;
};
[[nodiscard]] ResidentMemory resident_memory();

}  // namespace sonde
