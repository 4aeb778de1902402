// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/ranks/agree.h"

#include <cstdint>
#include <optional>
#include <span>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"

namespace sonde {

bool any_of(const Ranks& ranks, bool here) {
  std::int64_t said = here ? 1 : 0;
  ranks.all_reduce(std::span<std::int64_t>(&said, 1));
  return said > 0;
}

void check_interrupt(const Ranks& ranks) {
  std::optional<Error> own;
  try {
    check_interrupt();
  } catch (const Error& error) {
    own = error;
  }
  if (!any_of(ranks, own.has_value())) return;
  if (own) throw Error(*own);
  throw Error(ErrorKind::interrupted, "another process was asked to stop");
}

}  // namespace sonde
