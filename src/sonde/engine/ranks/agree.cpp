// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/ranks/agree.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

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
  std::array<std::int64_t, 2> asked{};  // to stop, and of these by SIGTERM
  try {
    check_interrupt();
  } catch (const Error& error) {
    own = error;
  }
  if (own) asked = {1, own->kind() == ErrorKind::terminated ? 1 : 0};
  ranks.all_reduce(std::span<std::int64_t>(asked));
  if (asked[0] == 0) return;
  if (own) throw Error(*own);
  throw Error(asked[1] > 0 ? ErrorKind::terminated : ErrorKind::interrupted, "another process was asked to stop");
}

std::vector<std::string> gather_lines(const Ranks& ranks, const std::vector<std::string>& lines) {
  std::vector<std::int64_t> letters;
  for (const std::string& line : lines) {
    letters.insert(letters.end(), line.begin(), line.end());
    letters.push_back('\n');
  }
  std::vector<std::string> made;
  std::string line;
  for (const std::int64_t letter : ranks.gather(std::span<const std::int64_t>(letters)))
    if (letter == '\n')
      made.push_back(std::exchange(line, {}));
    else
      line.push_back(static_cast<char>(letter));
  return made;
}

}  // namespace sonde
