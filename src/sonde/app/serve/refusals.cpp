// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/refusals.h"

#include <fmt/format.h>

#include "sonde/engine/base/log.h"

namespace sonde::serve {
namespace {
constexpr double quiet_s = 10;
}  // namespace

std::string printable(std::string_view text, std::size_t longest) {
  std::string safe(text.substr(0, longest));
  for (char& c : safe)
    if (c < ' ' || c > '~') c = '?';
  return text.size() > longest ? safe + "..." : safe;
}

void Refusals::note(std::string_view reason, const std::string& text) {
  std::string line = text;
  {
    const std::lock_guard lock(mutex_);
    ++count_;
    const double now_s = clock_();
    const auto [kind, first] = kinds_.try_emplace(std::string(reason));
    if (!first && now_s - kind->second.last_s < quiet_s) {
      ++kind->second.left_out;
      return;
    }
    if (kind->second.left_out > 0) line += fmt::format(" (and {} like it before)", kind->second.left_out);
    kind->second = {now_s, 0};
  }
  log_warning(line);
}

std::uint64_t Refusals::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

}  // namespace sonde::serve
