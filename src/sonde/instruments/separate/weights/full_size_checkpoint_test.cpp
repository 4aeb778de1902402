// SPDX-License-Identifier: Apache-2.0
// Drum networks of 109 million parameters, in files as PyTorch writes them, from a bare folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "sonde/instruments/separate/weights/model.h"
#include "sonde/instruments/separate/weights/structure.h"
#include "sonde/instruments/separate/weights/test_checkpoints.h"
#include "tests/support/files.h"

namespace sonde::separate {
namespace {

struct FullSize {
  std::size_t known;
  TorchStyle style;
  std::uintmax_t published_bytes;
};
class FullSizeCheckpoint : public ::testing::TestWithParam<FullSize> {};

TEST_P(FullSizeCheckpoint, IsOpenedWithoutAYamlAndNotCopied) {
  const sonde::testing::TemporaryFolder folder;
  const std::string path = folder.file("drums.ckpt");
  const KnownConfig& known = known_configs()[GetParam().known];
  const ParameterValues written = formula_values(known.config, 11);
  write_torch(path, written, GetParam().style);
  // The public file holds the same tensors; its pickle differs by a few names. An optimiser holds one tensor more.
  const double more = GetParam().style.training ? static_cast<double>(bytes_of(written.begin()->second).size()) : 0;
  EXPECT_NEAR(static_cast<double>(std::filesystem::file_size(path)),
              static_cast<double>(GetParam().published_bytes) + more, 1e5);

  const Model model = open_model({path});
  EXPECT_EQ(model.configuration.value, known.name);
  EXPECT_EQ(model.config.stems(), known.config.stems());
  const auto mapped = model.checkpoint->file->bytes();
  const ParameterValues values = model.values();
  for (const Parameter& each : parameters(model.config, layer_list(model.config))) {
    const Array wanted = formula_values(each, 11);
    const Array& found = values.at(each.name);
    const auto* at = static_cast<const std::byte*>(found.data());
    EXPECT_TRUE(at >= mapped.data() && at < mapped.data() + mapped.size()) << each.name;
    EXPECT_EQ(std::memcmp(at, wanted.data(), static_cast<std::size_t>(wanted.count()) * sizeof(float)), 0) << each.name;
  }
}

INSTANTIATE_TEST_SUITE_P(, FullSizeCheckpoint,
                         ::testing::Values(FullSize{0, {}, 437648758},
                                           FullSize{1, {.two = true, .sums = false, .training = true}, 437652699}),
                         [](const auto& each) { return each.param.known == 0 ? "FiveStems" : "SixStemsInTraining"; });

}  // namespace
}  // namespace sonde::separate
