// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/options/changeable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

#include "tests/support/errors.h"

namespace sonde {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

struct Engine {
  double step = 0.5, support = 0.9;
  std::optional<double> limit;
  void describe(Fields& fields) {
    fields.add("step", step, {.help = "how far", .min = 0, .max = 2, .changeable = true});
    fields.add("support", support, {.help = "how wide"});
    fields.add("limit", limit, {.help = "how much", .unit = "rad", .changeable = true});
  }
};
struct Stop {
  double delta = 1e-3;
  void describe(Fields& fields) { fields.add("delta", delta, {.help = "when", .changeable = true}); }
};

/// A [stop] and two [[engine]].
struct Described {
  Stop stop;
  std::deque<Engine> engines;
  Tables tables;
  Described() {
    tables.add("stop", Fields(stop));
    tables.add_list("engine", {"gd"}, [this](const std::string&) { return Fields(engines.emplace_back()); });
    (void)tables.append("engine", "gd", "test");
    (void)tables.append("engine", "gd", "test");
  }
};

TEST(Changeable, OnlyMarkedSettingsAreListedByTheirTables) {
  const Described described;
  const Value settings = changeable_settings(described.tables);
  std::vector<std::string> names;
  for (const Value& one : settings.items()) names.push_back(one.find("setting")->as_text());
  EXPECT_THAT(names, ::testing::ElementsAre("stop.delta", "engine.0.step", "engine.0.limit", "engine.1.step",
                                            "engine.1.limit"));
  EXPECT_EQ(settings.items()[0].find("of")->as_text(), "stop");
  const Value& limit = settings.items()[2];
  EXPECT_EQ(limit.find("of")->as_text(), "gd");
  EXPECT_EQ(limit.find("unit")->as_text(), "rad");
  EXPECT_TRUE(limit.find("optional")->as_bool());
  EXPECT_TRUE(limit.find("value")->is_null());
  EXPECT_EQ(settings.items()[1].find("max")->as_real(), 2);
}

TEST(Changeable, OneSettingIsSetWithinItsLimits) {
  Described described;
  set_changeable(described.tables, "engine.1.step", Value(1.5));
  EXPECT_EQ(described.engines[1].step, 1.5);
  EXPECT_EQ(described.engines[0].step, 0.5);
  set_changeable(described.tables, "stop.delta", Value(0.25));
  EXPECT_EQ(changeable_value(described.tables, "stop.delta"), Value(0.25));
  set_changeable(described.tables, "engine.0.limit", Value(3.0));
  set_changeable(described.tables, "engine.0.limit", Value());
  EXPECT_FALSE(described.engines[0].limit);
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { set_changeable(described.tables, "engine.0.step", Value(3.0)); }),
              HasSubstr("step in engine.0: 3 is above"));
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { set_changeable(described.tables, "stop.delta", Value()); }),
              HasSubstr("stop.delta needs a number"));
}

TEST(Changeable, OthersAreRefusedWithTheNamesOfThoseThatCan) {
  Described described;
  for (const char* fixed : {"engine.0.support", "engine.2.step", "engine.step", "nonsense"})
    EXPECT_THAT(error_of(ErrorKind::usage, [&] { set_changeable(described.tables, fixed, Value(1.0)); }),
                AllOf(HasSubstr("\"" + std::string(fixed) + "\" cannot change while the work runs"),
                      HasSubstr("these can: stop.delta, engine.0.step")));
}

}  // namespace
}  // namespace sonde
