// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/base/printable.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(Printable, LeavesOrdinaryTextAlone) {
  const std::string text = "scan \xc3\xa9 \xe2\x88\x92 \xf0\x9f\x94\xac C:\\data 100 %";
  EXPECT_EQ(printable(text), text);
}

TEST(Printable, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(printable("name\nerror: forged\r\t\x7f"), "name\\nerror: forged\\x0d\\t\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u{9b}31m");  // CSI in one character
  EXPECT_EQ(printable("gpj\xe2\x80\xae"
                      "exe"),
            "gpj\\u{202e}exe");  // text from right to left
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Printable, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("\xc3("), "\\xc3(");
  EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80");           // a long form of 0
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair of UTF-16
  EXPECT_EQ(printable("\xe2\x88"), "\\xe2\\x88");           // cut off
}

TEST(Printable, CutsTheMiddleOfLongText) {
  const std::string text = std::string(600, 'a') + std::string(600, 'z');
  EXPECT_EQ(printable(text, 100), std::string(50, 'a') + " ... " + std::string(50, 'z'));
}

TEST(Printable, CutsBetweenCharacters) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "\xe2\x88\x92";
  const std::string cut = printable(text, 100);
  EXPECT_EQ(printable(cut, 1000), cut);
}

TEST(Printable, LinesOfOurOwnStay) { EXPECT_EQ(printable_lines("one\n\ttwo\x1b\n"), "one\n\ttwo\\x1b\n"); }

}  // namespace
}  // namespace sonde
