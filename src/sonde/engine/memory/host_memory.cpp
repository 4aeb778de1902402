// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/memory/host_memory.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <optional>
#include <vector>

#include "sonde/engine/base/text.h"

namespace sonde {
namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

/// "Key:  123 kB" lines of /proc files, in bytes.
std::map<std::string, std::size_t> read_sizes(const std::string& path) {
  std::map<std::string, std::size_t> sizes;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || !line.ends_with("kB")) continue;
    const std::string_view digits = trim(std::string_view(line).substr(colon + 1, line.size() - colon - 3));
    std::size_t kib = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), kib);
    sizes[line.substr(0, colon)] = kib * 1024;
  }
  return sizes;
}

std::optional<std::size_t> read_number(const std::string& path) {
  std::ifstream file(path);
  std::size_t value = 0;
  if (file >> value) return value;
  return std::nullopt;  // absent, or the word "max"
}

/// Page cache is counted as used by the group but is given up when memory is needed.
std::size_t read_reclaimable(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string name;
  for (std::size_t value = 0; file >> name >> value;)
    if (name == key) return value;
  return 0;
}

void tighten(HostMemory& memory, std::optional<std::size_t> limit, std::optional<std::size_t> used,
             std::size_t reclaimable) {
  // Version 1 writes "no limit" as a number near 2^63.
  if (!limit || !used || *limit > (no_limit >> 2)) return;
  const std::size_t held = *used - std::min(*used, reclaimable);
  const std::size_t room = *limit - std::min(*limit, held);
  const std::size_t room_before =
      memory.group_limit == no_limit ? no_limit : memory.group_limit - std::min(memory.group_limit, memory.group_used);
  if (room >= room_before) return;
  memory.group_limit = *limit;
  memory.group_used = held;
}

}  // namespace

HostMemory host_memory(const std::string& root) {
  HostMemory memory;
  memory.available = read_sizes(root + "/proc/meminfo")["MemAvailable"];

  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::vector<std::string> fields = split(line, ':');  // "0::/user.slice" or "9:memory:/user.slice"
    if (fields.size() < 3) continue;
    const bool version_2 = fields[0] == "0" && fields[1].empty();
    if (!version_2 && fields[1].find("memory") == std::string::npos) continue;
    const std::string base = root + (version_2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
    // A limit set on any group above holds too. Inside a container the path may name groups that are not visible here.
    std::string group = fields[2] == "/" ? "" : fields[2];
    for (;;) {
      const std::string folder = base + group;
      if (version_2)
        tighten(memory, read_number(folder + "/memory.max"), read_number(folder + "/memory.current"),
                read_reclaimable(folder + "/memory.stat", "inactive_file"));
      else
        tighten(memory, read_number(folder + "/memory.limit_in_bytes"), read_number(folder + "/memory.usage_in_bytes"),
                read_reclaimable(folder + "/memory.stat", "total_inactive_file"));
      if (group.empty()) break;
      group.resize(group.find_last_of('/'));
    }
  }
  return memory;
}

std::size_t usable_bytes(const HostMemory& memory) {
  const std::size_t room =
      memory.group_limit == no_limit ? no_limit : memory.group_limit - std::min(memory.group_limit, memory.group_used);
  return std::min(memory.available, room);
}

ResidentMemory resident_memory() {
  std::map<std::string, std::size_t> sizes = read_sizes("/proc/self/status");
  return {sizes["VmRSS"], sizes["RssAnon"], sizes["VmHWM"]};
}

}  // namespace sonde
