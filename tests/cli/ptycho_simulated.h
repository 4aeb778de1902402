// SPDX-License-Identifier: Apache-2.0
// A measurement whose truth lies in its file, made by `sonde ptycho simulate`.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/cli/program.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde::testing {

/// A folder for scan.h5 and what is made from it.
class OnSimulatedScan : public ::testing::Test {
 protected:
  /// scan.h5: patterns of 32 x 32 pixels. `more` has at least the shape and the step of the scan.
  [[nodiscard]] Ended simulate(std::vector<std::string> more) const {
    more.insert(more.begin(), {"ptycho", "simulate", "-o", file("scan.h5"), "--detector-px", "32"});
    return run(more);
  }
  /// Python on a file of the folder, open for reading and writing as f; further lines of `code` begin with two spaces.
  /// What it prints.
  std::string change(const std::string& name, const std::string& code) const {
    return python("import sys, h5py, numpy as np\nwith h5py.File(sys.argv[1], 'r+') as f:\n  " + code + "\n",
                  file(name));
  }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

  TemporaryFolder folder_;
};

}  // namespace sonde::testing
