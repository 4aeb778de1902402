// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "sonde/engine/base/error.h"

namespace sonde::hdf5 {

/// What is wrong with a file, thrown by the structures below, which do not know whose file it is; reading() adds the
/// name and makes it an Error.
struct Fault {
  ErrorKind kind;
  std::string what, remedy;
};

/// The file contradicts itself or its size.
[[noreturn]] inline void damaged(const std::string& what, const std::string& remedy = "copy the file again") {
  throw Fault{ErrorKind::bad_file, "damaged: " + what, remedy};
}

/// The file is right, but this part of the format is not read here.
[[noreturn]] inline void unsupported(const std::string& what, const std::string& remedy) {
  throw Fault{ErrorKind::not_supported, what, remedy};
}

/// Runs `body`; a Fault becomes the Error "<file>: <what>", or "<file>: damaged: <object>: <what>".
template <class Body>
auto reading(const std::string& file, const std::string& object, Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (const Fault& fault) {
    constexpr std::string_view mark = "damaged: ";
    const bool marked = fault.what.starts_with(mark);
    throw Error(fault.kind, fmt::format("{}: {}{}{}{}", file, marked ? mark : "", object, object.empty() ? "" : ": ",
                                        fault.what.substr(marked ? mark.size() : 0)))
        .hint(fault.remedy);
  }
}
template <class Body>
auto reading(const std::string& file, Body&& body) -> decltype(body()) {
  return reading(file, "", std::forward<Body>(body));
}

}  // namespace sonde::hdf5
