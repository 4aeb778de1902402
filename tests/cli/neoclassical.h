// SPDX-License-Identifier: Apache-2.0
// `sonde neoclassical` in a folder of its own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/cli/instrument_program.h"

namespace sonde::testing {

class Neoclassical : public InstrumentProgram {
 protected:
  Neoclassical() : InstrumentProgram("neoclassical") {}

  static std::vector<std::string> with_grid(std::vector<std::string> words, const std::string& theta,
                                            const std::string& zeta, const std::string& xi) {
    for (const auto& [key, value] : {std::pair{"n_theta", theta}, std::pair{"n_zeta", zeta}, std::pair{"n_xi", xi}}) {
      words.emplace_back("--set");
      words.push_back(std::string("grid.") + key + "=" + value);
    }
    return words;
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }
};

}  // namespace sonde::testing
