// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sonde::serve {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// What a client receives when it opens this page.
std::vector<std::string> received(const panel::Page& page) {
  const auto client = std::make_shared<Client>(
      1, page, [](const auto& run) { run(); }, [] {}, std::chrono::milliseconds(1));
  client->open();
  std::vector<std::string> all;
  while (auto next = client->outlet().outbox.pop()) all.push_back(next->text);
  return all;
}

TEST(Client, HearsAfterThePageWhatHappensWhileItIsDescribed) {
  std::shared_ptr<panel::Outlet> listener;
  panel::Page page;
  page.open = [&](std::shared_ptr<panel::Outlet> outlet) {
    listener = std::move(outlet);
    return nullptr;
  };
  page.state = [&] {
    if (listener) listener->event("datasets", Value::object());  // loading has ended, in another thread
    return Value("still loading");
  };
  EXPECT_THAT(received(page), ElementsAre(HasSubstr("still loading"), HasSubstr("datasets")));
}

TEST(Client, HearsWhyAPageCannotBeOpened) {
  panel::Page page;
  page.open = [](const std::shared_ptr<panel::Outlet>&) -> std::unique_ptr<panel::Session> {
    throw Error(ErrorKind::bad_file, "a.h5: no such file");
  };
  EXPECT_THAT(received(page), ElementsAre(HasSubstr("\"type\":\"page\""), HasSubstr("a.h5: no such file")));
}

}  // namespace
}  // namespace sonde::serve
