// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/figure/html_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(HtmlPage, WritesTextsAsText) {
  HtmlPage page("a < b");
  page.section("c & d");
  page.text("e > f");
  page.folded("settings", "[a]\n\"b\" = 1");
  const std::string html = page.take();
  for (const char* part :
       {"<title>a &lt; b</title>", "<h2>c &amp; d</h2>", "<p>e &gt; f</p>", "&quot;b&quot; = 1</pre>"})
    EXPECT_THAT(html, HasSubstr(part));
  EXPECT_TRUE(html.ends_with("</html>\n"));
}

TEST(HtmlPage, FetchesNothing) {
  HtmlPage page("alone");
  page.figures({{"title", "caption", html_image(Array::zeros(Device::cpu(), Shape{2, 2, 3}, DType::u8), "black")}});
  const std::string html = page.take();
  EXPECT_THAT(html, HasSubstr("<img alt=\"black\" src=\"data:image/png;base64,"));
  for (const char* part : {"http", "<script", "<link", "url("}) EXPECT_THAT(html, Not(HasSubstr(part)));
}

TEST(HtmlPage, LeavesOutFactsWithoutAValue) {
  HtmlPage page("facts");
  page.facts({{"cells", "40"}, {"noise", ""}});
  const std::string html = page.take();
  EXPECT_THAT(html, HasSubstr("<td>cells</td><td>40</td>"));
  EXPECT_THAT(html, Not(HasSubstr("noise")));
}

}  // namespace
}  // namespace sonde
