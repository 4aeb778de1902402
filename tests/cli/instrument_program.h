// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/report/json.h"
#include "tests/cli/program.h"
#include "tests/support/files.h"

namespace sonde::testing {

/// Commands of one instrument whose files are in a folder that is removed afterwards.
class InstrumentProgram : public ::testing::Test {
 protected:
  explicit InstrumentProgram(std::string instrument) : instrument_(std::move(instrument)) {}

  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] std::vector<std::string> names() const { return names_in(folder_.path()); }

  /// `sonde INSTRUMENT ...`.
  [[nodiscard]] Ended command(std::vector<std::string> words) const {
    words.insert(words.begin(), instrument_);
    return run(words);
  }
  [[nodiscard]] Value results(std::vector<std::string> words) const {
    words.emplace_back("--json");
    const Ended ended = command(words);
    EXPECT_EQ(ended.status, 0) << ended.err;
    return parse_json(ended.out, "output");
  }
  struct Wrong {
    std::vector<std::string> words;
    int status;
    std::string text;  ///< of the message
  };
  /// The command ends so, and leaves the folder as it was.
  void expect_refused(const Wrong& wrong) const {
    SCOPED_TRACE(wrong.words[0] + " " + wrong.words[1] + ": " + wrong.text);
    const std::vector<std::string> before = names();
    const Ended ended = command(wrong.words);
    EXPECT_EQ(ended.status, wrong.status) << ended.err;
    EXPECT_THAT(ended.err, ::testing::HasSubstr(wrong.text));
    EXPECT_EQ(names(), before);
  }

  TemporaryFolder folder_;

 private:
  std::string instrument_;
};

}  // namespace sonde::testing
