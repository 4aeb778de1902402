// SPDX-License-Identifier: Apache-2.0
// `sonde neoclassical` in a folder of its own.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/report/json.h"
#include "tests/cli/program.h"
#include "tests/support/files.h"

namespace sonde::testing {

/// Commands whose files lie in a folder that is gone afterwards.
class Neoclassical : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

  /// `sonde neoclassical ...`.
  static Ended command(std::vector<std::string> words) {
    words.insert(words.begin(), "neoclassical");
    return run(words);
  }
  static Value results(std::vector<std::string> words) {
    words.emplace_back("--json");
    const Ended ended = command(words);
    EXPECT_EQ(ended.status, 0) << ended.err;
    return parse_json(ended.out, "output");
  }
  static std::vector<std::string> with_grid(std::vector<std::string> words, const std::string& theta,
                                            const std::string& zeta, const std::string& xi) {
    for (const auto& [key, value] : {std::pair{"n_theta", theta}, std::pair{"n_zeta", zeta}, std::pair{"n_xi", xi}}) {
      words.emplace_back("--set");
      words.push_back(std::string("grid.") + key + "=" + value);
    }
    return words;
  }
  struct Wrong {
    std::vector<std::string> words;
    int status;
    std::string text;  ///< of the message
  };
  /// The command ends so, and leaves the folder as it was.
  void expect_refused(const Wrong& wrong) const {
    SCOPED_TRACE(wrong.words[0] + " " + wrong.words[1] + ": " + wrong.text);
    const std::vector<std::string> before = names_in(folder_.path());
    const Ended ended = command(wrong.words);
    EXPECT_EQ(ended.status, wrong.status) << ended.err;
    EXPECT_THAT(ended.err, ::testing::HasSubstr(wrong.text));
    EXPECT_EQ(names_in(folder_.path()), before);
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(file(name)) << text; }

  TemporaryFolder folder_;
};

}  // namespace sonde::testing
