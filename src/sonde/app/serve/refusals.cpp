// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/refusals.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "sonde/engine/base/log.h"

namespace sonde::serve {
namespace {
constexpr double quiet_s = 10;
constexpr std::size_t longest_line = 400;  // one of each reason is kept
}  // namespace

std::string printable(std::string_view text, std::size_t longest) {
  std::string safe(text.substr(0, longest));
  for (char& c : safe)
    if (c < ' ' || c > '~') c = '?';
  return text.size() > longest ? safe + "..." : safe;
}

void Refusals::note(Reason reason, const std::string& text) {
  std::string line = text.substr(0, longest_line);
  {
    const std::lock_guard lock(mutex_);
    ++count_;
    const double now_s = clock_();
    Kind& kind = kinds_[static_cast<std::size_t>(reason)];
    if (kind.noted && now_s - kind.last_s < quiet_s) {
      ++kind.left_out;
      kind.newest = std::move(line);
      return;
    }
    if (kind.left_out > 0) line += fmt::format(" (and {} like it before)", kind.left_out);
    kind = {true, now_s, 0, ""};
  }
  log_warning(line);
}

void Refusals::flush(bool all) {
  std::vector<std::string> lines;
  {
    const std::lock_guard lock(mutex_);
    const double now_s = clock_();
    for (Kind& kind : kinds_) {
      if (kind.left_out == 0 || (!all && now_s - kind.last_s < quiet_s)) continue;
      lines.push_back(kind.left_out == 1 ? kind.newest
                                         : fmt::format("{} (and {} like it before)", kind.newest, kind.left_out - 1));
      kind = {true, now_s, 0, ""};
    }
  }
  for (const std::string& line : lines) log_warning(line);
}

std::uint64_t Refusals::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

}  // namespace sonde::serve
