// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "sonde/app/serve/test_page.h"
#include "tests/support/errors.h"

namespace sonde::serve {
namespace {

/// A page that sends every client so many frames at once.
panel::Page eager_page(Stage& stage, int frames) {
  panel::Page page = test_page(stage);
  page.open = [&stage, frames](std::shared_ptr<panel::Outlet> outlet) {
    for (int i = 0; i < frames; ++i) {
      panel::Frame frame = counted_frame(stage, 0, 200'000);
      frame.channel = static_cast<std::uint16_t>(i);
      outlet->send(frame);
    }
    return std::make_unique<TestSession>(stage, outlet);
  };
  return page;
}

TEST(Reader, TakesWhateverComes) {
  Stage stage;
  const TestLog log;
  Server server(eager_page(stage, 3), {});
  server.start();
  {
    const Reader reader(server.url());
    while (reader.frames() < 3) std::this_thread::yield();
    EXPECT_EQ(reader.frames(), 3);
  }
  stage.wait_for_ended(1);  // it went away
}

TEST(Reader, SaysThatItWasNotLetIn) {
  const TestServer test;
  const std::string url = test.server.url();
  const std::string wrong = url.substr(0, url.size() - 4) + "0000";
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::io, [&] { const Reader reader(wrong); }),
              ::testing::HasSubstr("looking at it failed"));
}

}  // namespace
}  // namespace sonde::serve
