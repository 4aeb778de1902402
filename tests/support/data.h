// SPDX-License-Identifier: Apache-2.0
// Files made by other people's instruments: read from SONDE_TEST_DATA, else ../shared/data beside the checkout.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/places.h"

namespace sonde::testing {

/// The folder of test data, or an empty path. With SONDE_REQUIRE_DATA=1 its absence fails the test that asks.
inline std::filesystem::path test_data() {
  const char* folder = std::getenv("SONDE_TEST_DATA");
  const std::filesystem::path path = folder != nullptr ? folder : source_folder() + "/../shared/data";
  if (std::filesystem::is_directory(path)) return path;
  const char* required = std::getenv("SONDE_REQUIRE_DATA");
  if (required != nullptr && std::string(required) == "1")
    ADD_FAILURE() << "test data required, but " << path << " is not there";
  return {};
}

}  // namespace sonde::testing

/// First line of a test that reads foreign files: `SONDE_NEED_DATA(data);` defines the folder, or skips the test with
/// the words that `./dev test` counts.
#define SONDE_NEED_DATA(name)                                       \
  const std::filesystem::path name = ::sonde::testing::test_data(); \
  if (name.empty()) GTEST_SKIP() << "no test data"
