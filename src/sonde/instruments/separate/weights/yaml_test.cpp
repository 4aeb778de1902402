// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/weights/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/errors.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;
using ::testing::HasSubstr;

std::string yaml_failure(const std::string& text) {
  return error_of(ErrorKind::bad_file, [&] { static_cast<void>(read_yaml(text, "config.yaml")); });
}

TEST(YamlReading, GivesTextsListsAndMapsWithTheirLines) {
  const Yaml root = read_yaml("audio:\n  rate: 44100  # Hz\nnames: ['a', b]\n", "config.yaml");
  ASSERT_NE(root.find("audio"), nullptr);
  const Yaml* rate = root.find("audio")->find("rate");
  ASSERT_NE(rate, nullptr);
  EXPECT_EQ(rate->text, "44100");
  EXPECT_EQ(rate->line, 2);
  ASSERT_EQ(root.find("names")->items.size(), 2u);
  EXPECT_EQ(root.find("names")->items[1].text, "b");
}

TEST(YamlReading, TakesListsAtTheIndentationOfTheirKey) {
  const Yaml root = read_yaml("model:\n  scale:\n  - 2\n  - 3\n  act: gelu\n", "config.yaml");
  ASSERT_EQ(root.find("model")->find("scale")->items.size(), 2u);
  EXPECT_EQ(root.find("model")->find("scale")->items[1].text, "3");
}

TEST(YamlReading, TakesTuplesOfPythonAsLists) {
  const Yaml root = read_yaml("a: !!python/tuple\n- 0.2\n- 0.02\nb: !!python/list [1]\n", "config.yaml");
  EXPECT_EQ(root.find("a")->items.size(), 2u);
  EXPECT_EQ(root.find("b")->items.size(), 1u);
}

TEST(YamlReading, TakesEachFormOfNothingAsNothing) {
  const Yaml root = read_yaml("a: null\nb: ~\nc:\nd: 'null'\n", "config.yaml");
  for (const char* key : {"a", "b", "c", "not there"}) EXPECT_EQ(root.find(key), nullptr) << key;
  EXPECT_NE(root.find("d"), nullptr);
}

TEST(YamlReading, TakesAnEmptyTextAsNothing) { EXPECT_EQ(read_yaml("", "config.yaml").kind, Yaml::Kind::null); }

TEST(YamlFault, OtherTagsOfPythonAreNamedWithTheirLine) {
  EXPECT_EQ(yaml_failure("a: 1\nb: !!python/object/apply:os.system ['touch canary']\n"),
            "error: config.yaml, line 2: the tag !!python/object/apply:os.system; expected data only\n"
            "hint: only !!python/tuple and !!python/list are read; nothing of a file is executed");
}

TEST(YamlFault, AKeyGivenTwiceIsNamed) {
  EXPECT_EQ(yaml_failure("audio:\n  n_fft: 1\n  hop: 2\n  n_fft: 3\n"),
            "error: config.yaml, line 4: the key \"n_fft\" is given twice");
}

TEST(YamlFault, AnchorsAndAliasesAreRefused) {
  EXPECT_EQ(yaml_failure("a: &x [1]\nb: *x\n"), "error: config.yaml, line 1: anchors and aliases are not supported");
}

TEST(YamlFault, BillionLaughsAreRefusedAtOnce) {
  std::string text = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c < 'k'; ++c)
    text += std::string(1, c) + ": &" + c + " [*" + static_cast<char>(c - 1) + ",*" + static_cast<char>(c - 1) + "]\n";
  EXPECT_THAT(yaml_failure(text), HasSubstr("line 1: anchors"));
}

TEST(YamlFault, DeepNestingIsRefused) {
  for (const char* open : {"[", "- ", "? ", "{a: "}) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += open;
    EXPECT_THAT(yaml_failure(text), HasSubstr("config.yaml, line ")) << open;
  }
}

TEST(YamlFault, ThirtyTwoLevelsAreTheMost) {
  const auto nested = [](int levels) {
    return std::string(static_cast<std::size_t>(levels), '[') + std::string(static_cast<std::size_t>(levels), ']');
  };
  EXPECT_EQ(read_yaml(nested(32), "config.yaml").items.size(), 1u);
  EXPECT_EQ(yaml_failure(nested(33)), "error: config.yaml, line 1: more than 32 levels");
}

TEST(YamlFault, ALargeTextIsRefused) {
  EXPECT_EQ(yaml_failure(std::string((1 << 20) + 1, ' ')),
            "error: config.yaml: has 1.00 MiB; expected at most 1.00 MiB");
}

TEST(YamlFault, ASecondDocumentIsRefused) {
  EXPECT_EQ(yaml_failure("a: 1\n---\nb: 2\n"), "error: config.yaml, line 2: a second document; expected one");
}

TEST(YamlFault, KeysThatAreNoTextAreRefused) {
  EXPECT_EQ(yaml_failure("? [1, 2]\n: 3\n"), "error: config.yaml, line 1: a key that is not a text");
}

TEST(YamlFault, WhatTheParserFindsComesWithItsLine) {
  EXPECT_THAT(yaml_failure("a: 1\nb: [1, 2\n"), HasSubstr("error: config.yaml, line 3: "));
}

}  // namespace
}  // namespace sonde::separate
