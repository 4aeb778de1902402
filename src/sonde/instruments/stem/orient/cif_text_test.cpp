// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/cif_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using ::testing::ElementsAre;

TEST(CifText, ReadsValuesInEveryFormOfTheStandard) {
  const auto blocks = parse_cif(
      "# a comment\r\ndata_first _A 'O5'b c' _b \"it's\" _c ? _d 4.078(3)\n_e\n;two\nlines; of text\n;\n_f after\n",
      "x.cif");
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_EQ(blocks[0].name, "first");
  EXPECT_EQ(blocks[0].first({"_a"}), "O5'b c");
  EXPECT_EQ(blocks[0].first({"_b"}), "it's");
  EXPECT_EQ(blocks[0].first({"_c"}), "");
  EXPECT_EQ(blocks[0].first({"_c", "_d"}), "4.078(3)");
  EXPECT_EQ(blocks[0].first({"_e"}), "two\nlines; of text");
  EXPECT_EQ(blocks[0].first({"_f"}), "after");
}

TEST(CifText, DealsTheValuesOfALoopToItsColumns) {
  const auto blocks = parse_cif("DATA_a\nLOOP_\n_x\n_y\n1 'x, y'\n2\n;\nz\n;\nloop_ _z 3 4 data_b _x 5\n", "x.cif");
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_THAT(*blocks[0].column({"_x"}), ElementsAre("1", "2"));
  EXPECT_THAT(*blocks[0].column({"_y"}), ElementsAre("x, y", "z"));
  EXPECT_THAT(*blocks[0].column({"_w", "_z"}), ElementsAre("3", "4"));
  EXPECT_EQ(blocks[0].column({"_w"}), nullptr);
  EXPECT_EQ(blocks[1].first({"_x"}), "5");
}

TEST(CifText, NamesTheLineOfWhatIsNotCif) {
  const auto refusal = [](const std::string& text) {
    return error_of(ErrorKind::bad_file, [&] { (void)parse_cif(text, "x.cif"); });
  };
  EXPECT_EQ(refusal("\nhello"), "error: x.cif: line 2: expected data_, which begins a block of a CIF file");
  EXPECT_EQ(refusal("data_a\n_x 'open\n"), "error: x.cif: line 2: a quoted value has no end");
  EXPECT_EQ(refusal("data_a\n_x\n;open\n"), "error: x.cif: line 3: the text that begins here with ; has no end");
  EXPECT_EQ(refusal("data_a _x _y 1"), "error: x.cif: line 1: _x has no value");
  EXPECT_EQ(refusal("data_a 7"), "error: x.cif: line 1: \"7\" is a value without a tag");
  EXPECT_EQ(refusal("data_a loop_ 7"), "error: x.cif: line 1: loop_ without a tag");
  EXPECT_EQ(refusal("data_a loop_ _x _y 1 2 3"),
            "error: x.cif: line 1: a loop of 2 tags has 3 values; expected a multiple");
}

}  // namespace
}  // namespace sonde::stem
