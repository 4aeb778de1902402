// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/panel/page.h"

#include <gtest/gtest.h>

namespace sonde::panel {
namespace {

TEST(Page, DescribesItselfAsData) {
  Page page{.title = "scan", .view = "stem"};
  page.panels.push_back({.id = "real", .type = "image", .title = "Real space"});
  page.panels[0].options["unit"] = "nm";
  page.actions.push_back({.name = "set_position", .help = "show another pattern"});
  page.state = [calls = 0]() mutable {
    Value state;
    state["calls"] = ++calls;
    return state;
  };
  (void)page.describe();
  const Value told = page.describe();
  EXPECT_EQ(told.find("view")->as_text(), "stem");
  EXPECT_EQ(told.find("panels")->items()[0].find("options")->find("unit")->as_text(), "nm");
  EXPECT_EQ(told.find("actions")->items()[0].find("name")->as_text(), "set_position");
  EXPECT_EQ(told.find("state")->find("calls")->as_whole(), 2) << "the state is asked for anew";
  EXPECT_EQ(page.find_action("set_position"), &page.actions[0]);
  EXPECT_EQ(page.find_action("explode"), nullptr);
}

}  // namespace
}  // namespace sonde::panel
