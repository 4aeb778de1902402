// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <fstream>
#include <string>

namespace sonde::testing {

/// A line of /proc/self/status, in bytes.
inline std::size_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key + ":")) return 1024 * std::stoull(line.substr(key.size() + 1));
  return 0;
}

/// The largest anonymous memory so far: the kernel keeps the peak of all resident pages; pages of files (program and
/// libraries; what is tested maps no others) are taken off.
inline std::size_t peak_anonymous() { return status_bytes("VmHWM") - status_bytes("RssFile"); }

}  // namespace sonde::testing
