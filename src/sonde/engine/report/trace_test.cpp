// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/report/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/report/json.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

TEST(Trace, SpansKeepTheirOrderAndNest) {
  Trace trace;
  const double outer = trace.now(), inner = trace.now();
  Value about;
  about["size"] = "9x11x6";
  trace.add("inner", inner, about);
  trace.add("outer", outer);
  const testing::TemporaryFolder folder;
  trace.write(folder.file("new/folder/a.trace.json"));
  const Value read = read_json(folder.file("new/folder/a.trace.json"));
  const Value::List& events = read.find("traceEvents")->items();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(text_at(events[0], "name"), "inner");
  EXPECT_EQ(text_at(*events[0].find("args"), "size"), "9x11x6");
  EXPECT_EQ(events[1].find("args"), nullptr);
  for (const Value& event : events) EXPECT_EQ(text_at(event, "ph"), "X");
  EXPECT_LE(number_at(events[1], "ts"), number_at(events[0], "ts"));
  EXPECT_GE(number_at(events[1], "ts") + number_at(events[1], "dur"),
            number_at(events[0], "ts") + number_at(events[0], "dur"));
}

TEST(Trace, AFolderThatCannotBeMadeIsNamed) {
  EXPECT_THAT(testing::error_of(ErrorKind::io, [] { Trace().write("/dev/null/x/a.json"); }),
              ::testing::HasSubstr("/dev/null/x"));
}

}  // namespace
}  // namespace sonde
