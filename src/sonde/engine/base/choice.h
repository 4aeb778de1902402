// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace sonde {

/// A value that was chosen automatically, with the reason in words a user understands. Reports list every choice.
template <class T>
struct Choice {
  T value;
  std::string because;
};

}  // namespace sonde
