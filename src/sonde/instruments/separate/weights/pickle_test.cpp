// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/weights/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = Pickle::Kind;

Pickle read_text(std::string_view bytes) { return Pickle::read(std::as_bytes(std::span(bytes)), "data.pkl"); }

std::string pickle_failure(std::string_view bytes) {
  return error_of(ErrorKind::bad_file, [&] { static_cast<void>(read_text(bytes)); });
}

/// As Python's repr() would write it, as far as the kinds keep values.
std::string shown(const Pickle& pickle, Pickle::Id id) {
  const Pickle::Node& node = pickle[id];
  std::string inside;
  for (const Pickle::Id each : pickle.members(id)) inside += (inside.empty() ? "" : " ") + shown(pickle, each);
  switch (node.kind) {
    case Kind::whole:
      return std::to_string(node.whole);
    case Kind::boolean:
      return node.whole != 0 ? "True" : "False";
    case Kind::text:
      return "'" + std::string(node.text) + "'";
    case Kind::tuple:
      return "(" + inside + ")";
    case Kind::list:
      return "[" + inside + "]";
    case Kind::dict:
    case Kind::set:
      return "{" + inside + "}";
    case Kind::call:
      return "call(" + inside + ")";
    default:
      return pickle.describe(id);
  }
}

class PickleOfEachProtocol : public ::testing::TestWithParam<int> {};

TEST_P(PickleOfEachProtocol, IsReadAsPythonWroteIt) {
  const TemporaryFolder folder;
  sonde::testing::python(
      "import collections, pickle, sys\n"
      "path, protocol = sys.argv[1].split()\n"
      "words = ['a', 'b']\n"
      "value = {'whole': [0, 1, 255, 256, 65536, -1, -70000, 2**40, -2**62, 2**70], 'real': 1.5, 'none': None,\n"
      "         'true': True, 'false': False, 'tuples': [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)],\n"
      "         'again': [words, words], 'ordered': collections.OrderedDict([('x', 1), ('y', 2)]),\n"
      "         'long text': 'z' * 300, 'class': collections.OrderedDict, 'many': list(range(1500))}\n"
      "pickle.dump(value, open(path, 'wb'), protocol=int(protocol))\n",
      folder.file("value.pkl") + " " + std::to_string(GetParam()));
  const auto bytes = sonde::testing::read_bytes(folder.file("value.pkl"));
  const Pickle pickle = Pickle::read(std::as_bytes(std::span(bytes)), "value.pkl");
  EXPECT_EQ(pickle.bytes(), bytes.size());
  const auto at = [&](const char* key) { return shown(pickle, pickle.find(pickle.root(), key).value()); };
  EXPECT_EQ(at("whole"), "[0 1 255 256 65536 -1 -70000 1099511627776 -4611686018427387904 a whole number]");
  EXPECT_EQ(at("real"), "a real number");
  EXPECT_EQ(at("none"), "None");
  EXPECT_EQ(at("true") + at("false"), "TrueFalse");
  EXPECT_EQ(at("tuples"), "[() (1) (1 2) (1 2 3) (1 2 3 4)]");
  EXPECT_EQ(at("again"), "[['a' 'b'] ['a' 'b']]");
  EXPECT_EQ(at("ordered"), "{'x' 1 'y' 2}");
  EXPECT_EQ(at("long text"), "'" + std::string(300, 'z') + "'");
  EXPECT_EQ(at("class"), "collections.OrderedDict");
  EXPECT_EQ(pickle.members(pickle.find(pickle.root(), "many").value()).size(), 1500u);
}

INSTANTIATE_TEST_SUITE_P(, PickleOfEachProtocol, ::testing::Range(0, 5),
                         [](const auto& each) { return "protocol" + std::to_string(each.param); });

TEST(PickleReading, CallsNothing) {
  const TemporaryFolder folder;
  const std::string canary = folder.file("canary");
  const std::string bytes = "\x80\x02(cposix\nsystem\nX" + std::string(1, static_cast<char>(canary.size() + 6)) +
                            std::string(3, '\0') + "touch " + canary + "\x85R(cbuiltins\neval\nX\x01" +
                            std::string(3, '\0') + "1\x85Rtt.";
  const Pickle pickle = read_text(bytes);
  EXPECT_FALSE(std::filesystem::exists(canary));
  EXPECT_THAT(pickle.globals(), ElementsAre("builtins.eval", "posix.system"));
  EXPECT_EQ(pickle.describe(pickle.members(pickle.root())[0]), "posix.system");
}

TEST(PickleReading, KeepsTheCalledAndItsArguments) {
  const Pickle pickle = read_text("ctorch\nSize\n(K\x03K\x04tR.");
  ASSERT_TRUE(pickle.arguments_of(pickle.root(), "torch.Size"));
  EXPECT_EQ(shown(pickle, pickle.root()), "call(torch.Size (3 4))");
  EXPECT_FALSE(pickle.arguments_of(pickle.root(), "torch.device"));
}

TEST(PickleReading, TakesTheLastOfTwoEqualKeys) {
  const Pickle pickle = read_text(
      "}(U\x01"
      "aK\x01U\x01"
      "aK\x02u.");
  EXPECT_EQ(pickle[pickle.find(pickle.root(), "a").value()].whole, 2);
}

TEST(PickleReading, EndsWithTheFirstPickle) {
  const Pickle pickle = read_text("K\x07.K\x08.");
  EXPECT_EQ(pickle.bytes(), 3u);
  EXPECT_EQ(pickle[pickle.root()].whole, 7);
}

TEST(PickleReading, NeedsNoStackForDeepNesting) {
  std::string bytes;
  for (int i = 0; i < 1000000; ++i) bytes += '(';
  for (int i = 0; i < 1000000; ++i) bytes += 't';
  EXPECT_EQ(read_text(bytes + ".").bytes(), 2000001u);
}

TEST(PickleReading, LetsAListHoldItself) {
  const Pickle pickle = read_text(
      "]q\x01h\x01"
      "a.");
  EXPECT_THAT(pickle.members(pickle.root()), ElementsAre(pickle.root()));
}

TEST(PickleReading, RefusesAListThatManyCallsCopy) {
  std::string bytes = "](";
  for (int i = 0; i < 1000; ++i) bytes += "K\x01K\x02\x86";
  bytes +=
      "eq\x01"
      "0(";
  for (int i = 0; i < 1000; ++i) bytes += "ccollections\nOrderedDict\nh\x01\x85R";
  EXPECT_THAT(pickle_failure(bytes + "t."), HasSubstr("one list in too many calls"));
}

struct Fault {
  const char* name;
  std::string bytes, text;
};

class PickleFault : public ::testing::TestWithParam<Fault> {};

TEST_P(PickleFault, IsNamedWithItsPlace) {
  EXPECT_EQ(pickle_failure(GetParam().bytes),
            "error: data.pkl: not a valid pickle: " + GetParam().text + "\nhint: the copy may be incomplete");
}

INSTANTIATE_TEST_SUITE_P(
    , PickleFault,
    ::testing::Values(Fault{"EndsEarly", "K", "it ends early at byte 1"}, Fault{"Empty", "", "it ends early at byte 0"},
                      Fault{"LongText", "X\xff\xff\xff\xff", "it ends early at byte 5"},
                      Fault{"HugeText", "\x8d\xff\xff\xff\xff\xff\xff\xff\xff", "it ends early at byte 9"},
                      Fault{"Stack", "K\x01R.", "an empty stack at byte 3"},
                      Fault{"NothingLeft", ".", "an empty stack at byte 1"}, Fault{"Mark", "t.", "no mark at byte 1"},
                      Fault{"BelowTheMark", "K\x01(a.", "an empty stack at byte 4"},
                      Fault{"Memo", "h\x05.", "a memo key that was not set at byte 2"},
                      Fault{"MemoKey", "K\x01r\xff\xff\xff\xff.", "a memo key out of range at byte 7"},
                      Fault{"Pairs", "}(K\x01u.", "a key without a value at byte 5"},
                      Fault{"Number", "Ixyz\n.", "a number that is none at byte 5"},
                      Fault{"Line", "Vabc", "a line does not end at byte 1"},
                      Fault{"Quotes", "S'\n.", "a text without quotes at byte 3"},
                      Fault{"Name", "K\x01K\x02\x93.", "a name that is not a text at byte 5"},
                      Fault{"Opcode", "\x80\x02\x97.", "opcode 0x97, which no checkpoint has at byte 3"}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace sonde::separate
