// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/report/json.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/errors.h"

namespace sonde {
namespace {

TEST(Json, MembersKeepTheirOrder) {
  Value value;
  value["b"] = 1;
  value["a"].push_back(true);
  value["n"] = Value();
  EXPECT_EQ(to_json(value, -1), R"({"b":1,"a":[true],"n":null})");
}

TEST(Json, NumbersReadBackAsTheSameValue) {
  Value value;
  value.push_back(0.1);
  value.push_back(5e-324);
  value.push_back(std::numeric_limits<Index>::min());
  value.push_back(std::numeric_limits<Index>::max());
  value.push_back(3.0);
  EXPECT_EQ(parse_json(to_json(value), "x"), value);
}

TEST(Json, InfinityBecomesNull) {
  EXPECT_EQ(to_json(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(to_json(std::numeric_limits<double>::quiet_NaN()), "null");
}

TEST(Json, BytesThatAreNotUtf8AreReplaced) { EXPECT_EQ(to_json(Value("a\xff")), "\"a\xef\xbf\xbd\""); }

TEST(Json, ForeignTextNamesFileAndByte) {
  EXPECT_EQ(testing::error_of(ErrorKind::bad_file, [] { (void)parse_json("{\"a\": tru}", "run.json"); }),
            "error: run.json: not JSON from byte 10 on");
}

TEST(Json, DeepNestingIsRefused) {
  EXPECT_EQ(testing::error_of(ErrorKind::bad_file, [] { (void)parse_json(std::string(100000, '['), "run.json"); }),
            "error: run.json: nested deeper than 200");
}

TEST(Json, NumbersOutOfRangeAreRefused) {
  EXPECT_EQ(testing::error_of(ErrorKind::bad_file, [] { (void)parse_json("1e999", "run.json"); }),
            "error: run.json: holds a number that is out of range");
}

TEST(Json, AMissingFileIsNamed) {
  EXPECT_EQ(testing::error_of(ErrorKind::bad_file, [] { (void)read_json("/nowhere.json"); }),
            "error: /nowhere.json: no such file");
}

}  // namespace
}  // namespace sonde
