// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/options/tables_page.h"

#include <gtest/gtest.h>

#include "sonde/engine/options/example_tables.h"
#include "tests/support/errors.h"

namespace sonde {
namespace {

TablesGuide example_guide() {
  return {.about = {{"geometry", "Where it is."}, {"engine", "What works."}},
          .about_kind = [](const std::string&, const std::string& kind) { return "The " + kind + " one."; },
          .comment_column = 20};
}

std::string commented(const TablesGuide& guide) {
  testing::ExampleRun known, unset;
  Tables tables = known.tables(), defaults = unset.tables();
  tables.append("engine", "fast", "name");
  tables.assign_text("geometry.turned=true");
  tables.assign_text("engine.0.gain=0.25");
  return commented_tables(tables, defaults, guide, {"geometry.step"});
}

TEST(CommentedTables, HaveEveryKeyAndItsMeaningAndThoseThatNobodySetBehindAMark) {
  EXPECT_EQ(commented(example_guide()),
            "\n# ---- Where it is.\n[geometry]\n"
            "# energy_keV = 200.0 # energy of the beam, keV\n"
            "# shape = \"\"         # rows and columns\n"
            "turned = true        # exchange rows and columns\n"
            "# notes = []         # anything\n"
            "# step =             # FILL IN: of the scan\n"
            "\n# ---- What works.\n\n[[engine]]\n"
            "name = \"fast\"        # The fast one.\n"
            "# iterations = 100   # how many\n"
            "gain = 0.25          # of each step\n"
            "\n# [[engine]]\n"
            "# name = \"slow\"      # The slow one.\n"
            "# iterations = 100   # how many\n");
}

TEST(CommentedTables, NameKindsOfAListThatIsReplaced) {
  TablesGuide guide = example_guide();
  guide.named_only["engine"] = "\n# There are:\n";
  const std::string text = commented(guide);
  EXPECT_EQ(text.substr(text.find("\n# There are")),
            "\n# There are:\n#   fast         The fast one.\n"
            "#   slow         The slow one.\n");
}

TEST(TablesInMarkdown, HaveASectionForEachKind) {
  testing::ExampleRun run;
  Tables unset = run.tables();
  const std::string text = tables_markdown(unset, example_guide());
  EXPECT_EQ(text.substr(0, 31), "\n## [geometry]\n\nWhere it is.\n\n|");
  EXPECT_NE(text.find("\n## [[engine]]\n\nWhat works.\n\n### name = \"fast\"\n\nThe fast one.\n\n|"),
            std::string::npos);
}

TEST(TablesInMarkdown, OfATableThatIsNotExplainedAreAMistakeOfTheProgram) {
  testing::ExampleRun run;
  Tables unset = run.tables();
  EXPECT_EQ(testing::error_of(ErrorKind::internal, [&] { (void)tables_markdown(unset, {}); }),
            "error: nothing is said about [geometry]");
}

}  // namespace
}  // namespace sonde
