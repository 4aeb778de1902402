// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/options/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/base/text.h"
#include "sonde/engine/options/example_options.h"

namespace sonde {
namespace {

using testing::ExampleOptions;
using ::testing::HasSubstr;

struct Help : ::testing::Test {
  ExampleOptions options;
  Fields fields{options};
};

TEST_F(Help, UsageShowsPositionalArguments) { EXPECT_EQ(usage_arguments(fields), "INPUT [MORE...]"); }

TEST_F(Help, TextNamesFlagUnitLimitsAndDefault) {
  const std::string text = help_text(fields);
  EXPECT_THAT(text, HasSubstr("  --frames N                how many frames (1 to 1000000000; default 100 frames)\n"));
  EXPECT_THAT(text, HasSubstr("  --voltage X               acceleration voltage (in kV; 1 to 2000)\n"));
  EXPECT_THAT(text, HasSubstr("  --edge keep|drop          incomplete edge bins (default keep)\n"));
  EXPECT_THAT(text, HasSubstr("  -d, --detector TEXT       virtual detector (default BF; may be repeated)\n"));
  EXPECT_THAT(text, HasSubstr("  --[no-]hot-pixels         leave hot pixels out (default true)\n"));
  EXPECT_THAT(text, HasSubstr("  --centre, --center ROW,COL\n                            centre of the pattern\n"));
}

TEST_F(Help, TextGroupsByHeading) {
  EXPECT_THAT(help_text(fields), HasSubstr("\nCommon settings:\n  --memory SIZE             limit of the memory\n"
                                           "  --dry-run                 print what would be done\n"));
}

TEST_F(Help, LinesKeepWithinTheColumns) {
  for (const std::string& line : split(help_text(fields, 60), '\n')) EXPECT_LE(line.size(), 60u) << line;
}

TEST_F(Help, MarkdownEscapesTheBarOfATable) {
  EXPECT_THAT(help_markdown(fields), HasSubstr("| `--det-bin N\\|auto` | `1` |  | sum N x N detector pixels |\n"));
  EXPECT_THAT(help_markdown(fields), HasSubstr("### Common settings\n"));
}

}  // namespace
}  // namespace sonde
