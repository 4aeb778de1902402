// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "sonde/engine/base/error.h"

namespace sonde::testing {

/// Runs body, expects an Error of this kind, and returns its whole text as the program shows it, settings as flags
/// (empty when there was none).
template <class Body>
std::string error_of(ErrorKind kind, Body&& body) {
  try {
    std::forward<Body>(body)();
  } catch (const Error& error) {
    EXPECT_EQ(exit_status(error.kind()), exit_status(kind)) << error.what();
    return error.spelled(Spelling::flags).what();
  }
  ADD_FAILURE() << "no Error was thrown";
  return "";
}

}  // namespace sonde::testing
