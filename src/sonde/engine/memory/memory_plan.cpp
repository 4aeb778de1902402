// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/memory/memory_plan.h"

#include <fmt/format.h>

#include <utility>

#include "sonde/engine/base/text.h"

namespace sonde {
namespace {

std::string row(const std::string& what, std::size_t bytes, const std::string& how) {
  return fmt::format("  {:<20} {:>10}{}{}", what, format_bytes(static_cast<double>(bytes)), how.empty() ? "" : "  ",
                     how);
}

}  // namespace

std::size_t MemoryPlan::add(std::string what, std::size_t bytes, std::string how) {
  lines.push_back({std::move(what), bytes, std::move(how)});
  return bytes;
}

std::string MemoryPlan::text() const {
  std::string text;
  for (const Line& line : lines) text += row(line.what, line.bytes, line.how) + "\n";
  if (disk_bytes > 0) text += row("on the disk", disk_bytes, "beside the memory") + "\n";
  return text + row("peak", peak_bytes,
                    head_room_percent > 0
                        ? fmt::format("{} with {} % of head-room", format_bytes(static_cast<double>(needed_bytes())),
                                      head_room_percent)
                        : "");
}

}  // namespace sonde
