// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/moment.h"

#include <fmt/chrono.h>
#include <unistd.h>

namespace sonde {

std::string utc_text(std::time_t time) { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time)); }

std::string utc_now() { return utc_text(std::time(nullptr)); }

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? name : "";
}

}  // namespace sonde
