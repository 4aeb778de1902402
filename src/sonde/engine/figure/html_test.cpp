// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/figure/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/io/png.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

TEST(Html, TextsCannotEndAnElementOrAnAttribute) {
  EXPECT_EQ(html_text("a<b & \"c\">"), "a&lt;b &amp; &quot;c&quot;&gt;");
}

TEST(Base64, IsThatOfTheStandard) {
  // RFC 4648, section 10.
  for (const auto& [text, coded] : {std::pair{"", ""},
                                    {"f", "Zg=="},
                                    {"fo", "Zm8="},
                                    {"foo", "Zm9v"},
                                    {"foob", "Zm9vYg=="},
                                    {"fooba", "Zm9vYmE="},
                                    {"foobar", "Zm9vYmFy"}})
    EXPECT_EQ(base64(std::as_bytes(std::span(text, std::string_view(text).size()))), coded) << text;
}

TEST(PngData, HoldsThePicture) {
  Array picture(Device::cpu(), Shape{2, 3, 3}, DType::u8);
  for (Index i = 0; i < picture.count(); ++i)
    static_cast<std::uint8_t*>(picture.data())[i] = static_cast<std::uint8_t>(i);
  const std::string text = png_data(picture);
  ASSERT_TRUE(text.starts_with("data:image/png;base64,"));
  EXPECT_EQ(testing::python("import sys, base64\nprint(base64.b64decode(sys.argv[1])[:4])\n", text.substr(22)),
            "b'\\x89PNG'\n");
  EXPECT_EQ(text.substr(22), base64(encode_png(picture)));
}

}  // namespace
}  // namespace sonde
