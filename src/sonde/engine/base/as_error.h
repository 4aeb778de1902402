// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

#include "sonde/engine/base/error.h"

namespace sonde {

/// Any exception as an Error, so that a program, a server and a rank tell it in the same words: an Error as it is,
/// memory that the system refused as `budget`, with `memory_hint`, everything else as `internal`. `thrown` must not be
/// empty.
[[nodiscard]] Error as_error(const std::exception_ptr& thrown,
                             const std::string& memory_hint = "lower " + setting("memory") + ", or free some");

}  // namespace sonde
