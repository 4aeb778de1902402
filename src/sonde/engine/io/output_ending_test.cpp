// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/output_ending.h"

#include <gtest/gtest.h>

#include "tests/support/errors.h"

namespace sonde {
namespace {

TEST(OutputEnding, IsOneForFormatsOfTwo) {
  EXPECT_EQ(output_ending("a/b.c/scan.HDF5"), ".h5");
  EXPECT_EQ(output_ending("image.tiff"), ".tif");
  EXPECT_EQ(output_ending("image.PNG"), ".png");
  EXPECT_EQ(output_ending("a.b/image"), "");
}

TEST(OutputEnding, AnotherThanThoseNamesThem) {
  EXPECT_EQ(require_ending("a.TIFF", "images", {".npy", ".tif"}), ".tif");
  EXPECT_EQ(testing::error_of(ErrorKind::usage,
                              [] {
                                (void)require_ending("a.jpg", "images", {".npy", ".tif", ".png"});
                              }),
            "error: a.jpg: images are written as .npy, .tif or .png");
}

}  // namespace
}  // namespace sonde
