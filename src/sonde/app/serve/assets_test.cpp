// SPDX-License-Identifier: Apache-2.0
#include "sonde/app/serve/assets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/support/files.h"
#include "tests/support/places.h"

namespace sonde::serve {
namespace {

std::string content(std::string_view path) {
  const auto assets = viewer_assets();
  const auto found = std::find_if(assets.begin(), assets.end(), [&](const Asset& each) { return each.path == path; });
  if (found == assets.end()) return "";
  return {reinterpret_cast<const char*>(found->bytes.data()), found->bytes.size()};
}

TEST(Assets, HoldTheFirstPageWholeAndUnchanged) {
  const std::string index = content("/index.html");
  EXPECT_THAT(index, ::testing::StartsWith("<!doctype html>"));
  EXPECT_THAT(index, ::testing::HasSubstr("</html>"));
  if (why_no_viewer().empty()) return;
  const auto file =
      sonde::testing::read_bytes(sonde::testing::source_folder() + "/src/sonde/app/serve/no_viewer/index.html");
  EXPECT_EQ(index, std::string(file.begin(), file.end())) << "what the assembler drew in is the file, byte for byte";
}

TEST(Assets, EveryFileHasItsOwnPathTypeAndTag) {
  std::set<std::string_view> paths;
  for (const Asset& asset : viewer_assets()) {
    EXPECT_TRUE(asset.path.starts_with('/')) << asset.path;
    EXPECT_TRUE(paths.insert(asset.path).second) << asset.path;
    EXPECT_FALSE(asset.media_type.empty()) << asset.path;
    EXPECT_EQ(asset.tag.size(), 34U) << asset.path;
    EXPECT_TRUE(asset.tag.starts_with('"') && asset.tag.ends_with('"')) << asset.path;
    EXPECT_FALSE(asset.path.ends_with(".map")) << asset.path;
  }
}

TEST(Assets, ThePageNamesOnlyWhatIsThere) {
  const std::string index = content("/index.html");
  for (std::size_t at = 0; (at = index.find("\"/assets/", at)) != std::string::npos; ++at) {
    const std::string path = index.substr(at + 1, index.find('"', at + 1) - at - 1);
    EXPECT_NE(content(path), "") << path;
  }
}

}  // namespace
}  // namespace sonde::serve
