// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/setting.h"

#include <gtest/gtest.h>

#include <string>

#include "sonde/engine/base/error.h"

namespace sonde {
namespace {

TEST(Setting, IsWrittenAsTheDoorWritesIt) {
  const std::string text = "give " + setting("det_bin", "auto") + ", more " + setting("memory") + " or " +
                           setting("truth", false) + "; " + setting("threads", "4") + ", " + setting("data.crop", "64");
  EXPECT_EQ(spelled(text, Spelling::keys),
            "give det_bin = \"auto\", more memory or truth = false; threads = 4, data.crop = 64");
  EXPECT_EQ(spelled(text, Spelling::flags),
            "give --det-bin auto, more --memory or --no-truth; --threads 4, data.crop = 64");
  EXPECT_EQ(spelled(text, Spelling::python),
            "give det_bin=\"auto\", more memory or truth=False; threads=4, data.crop = 64");
}

TEST(Setting, TextWithoutAnyIsNotChanged) {
  EXPECT_EQ(spelled("a -- b --c", Spelling::keys), "a -- b --c");
  EXPECT_EQ(spelled("cut in a setting \x1d"
                    "det",
                    Spelling::keys),
            "cut in a setting ");
}

TEST(Setting, ABridgeRenamesWhatItsReaderHas) {
  const auto renamed = [](std::string_view key) {
    return key == "mask_file" ? std::optional<std::string>("data.mask") : std::nullopt;
  };
  const std::string text =
      with_renamed_settings("name it as " + setting("mask_file") + ", or give a smaller " + setting("scan_region"),
                            renamed, "sonde stem convert");
  EXPECT_EQ(spelled(text, Spelling::flags),
            "name it as data.mask, or give a smaller scan_region of `sonde stem convert`");
}

TEST(Setting, AnErrorIsReadInKeysUnlessADoorAsks) {
  Error problem(ErrorKind::bad_input, setting("det_bin") + ": 3 does not divide 512");
  problem.hint("give " + setting("edge", "keep"));
  const Error error = Error::several("two problems", {problem, problem});
  EXPECT_STREQ(problem.what(), "error: det_bin: 3 does not divide 512\nhint: give edge = \"keep\"");
  EXPECT_EQ(problem.message(), "det_bin: 3 does not divide 512");
  const Error told = error.spelled(Spelling::flags);
  EXPECT_EQ(told.problems().front().message(), "--det-bin: 3 does not divide 512");
  EXPECT_EQ(told.problems().front().hint(), "give --edge keep");
  EXPECT_NE(std::string(told.what()).find("hint: give --edge keep"), std::string::npos) << told.what();
  EXPECT_EQ(told.spelled(Spelling::keys).problems().front().message(), problem.message());
}

}  // namespace
}  // namespace sonde
