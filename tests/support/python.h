// SPDX-License-Identifier: Apache-2.0
// Debian's Python with NumPy and h5py as an independent reader and writer of files.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>

#include "tests/support/files.h"

namespace sonde::testing {

/// Runs `script` with `argument` as sys.argv[1] and returns what it prints, standard error included. The test fails
/// when the script does.
inline std::string python(const std::string& script, const std::string& argument) {
  const TemporaryFolder folder;
  const std::string path = folder.file("script.py");
  std::ofstream(path) << script;
  std::FILE* pipe = popen(("/usr/bin/python3 '" + path + "' '" + argument + "' 2>&1").c_str(), "r");
  if (pipe == nullptr) {
    ADD_FAILURE() << "cannot start /usr/bin/python3";
    return "";
  }
  std::string output;
  std::array<char, 4096> part{};
  for (std::size_t got = 0; (got = std::fread(part.data(), 1, part.size(), pipe)) > 0;) output.append(part.data(), got);
  EXPECT_EQ(pclose(pipe), 0) << output;
  return output;
}

}  // namespace sonde::testing
