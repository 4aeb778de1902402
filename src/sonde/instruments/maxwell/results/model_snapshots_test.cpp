// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/model_snapshots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "sonde/instruments/maxwell/run/gprmax_run.h"
#include "tests/support/files.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::TemporaryFolder;

/// A dipole in a box of unequal extents, seen twice at the same time.
const char* const dipole_with_snapshots =
    "#domain: 0.05 0.06 0.07\n#dx_dy_dz: 0.005 0.005 0.005\n#time_window: 30\n#pml_cells: 2\n"
    "#waveform: ricker 1 2e9 pulse\n#hertzian_dipole: x 0.025 0.03 0.035 pulse\n#rx: 0.025 0.04 0.035\n"
    "#snapshot: 0.01 0.015 0.02 0.03 0.045 0.05 0.005 0.005 0.010 25 arrays\n"
    "#snapshot: 0.01 0.015 0.02 0.03 0.045 0.05 0.005 0.005 0.010 25 image.vti\n";

struct RunWithSnapshots {
  GprmaxInput input = parse_gprmax_input(dipole_with_snapshots, "dipole.in");
  GprmaxRun run{input, make_gprmax_model(input), {}};
  std::optional<ModelSnapshots> snapshots;

  explicit RunWithSnapshots(const std::string& folder) {
    snapshots.emplace(run.model(), Precision::f32, run.plan().dt, folder);
    (void)run.run(0, {}, {.look = [&](Index step, LiveFields& fields) { snapshots->look(step, fields); }});
  }
};

TEST(ModelSnapshots, OfBothKindsHoldTheSameNumbers) {
  const TemporaryFolder folder;
  RunWithSnapshots made(folder.file("snaps"));
  EXPECT_THAT(made.snapshots->finish(),
              ::testing::ElementsAre(folder.file("snaps/arrays.h5"), folder.file("snaps/image.vti")));
  const FrameReader arrays(folder.file("snaps/arrays.h5"));
  EXPECT_EQ(arrays.count, (XyzIndex{4, 6, 3}));
  EXPECT_NEAR(arrays.positions[2][1], 0.035, 1e-12);  // the centre of the second of cells of 10 mm from 20 mm on
  // State before step 25 counted from 1: after 24 steps.
  EXPECT_NEAR(arrays.times[0] / (24 * made.run.model().dt), 1, 1e-12);
  const auto bytes = sonde::testing::read_bytes(folder.file("snaps/image.vti"));
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_THAT(text, ::testing::HasSubstr(
                        "WholeExtent=\"0 4 0 6 0 3\" Origin=\"0.01 0.015 0.02\" Spacing=\"0.005 0.005 0.01\""));
  EXPECT_THAT(text, ::testing::HasSubstr("<DataArray type=\"Float32\" Name=\"H-field\" NumberOfComponents=\"3\" "
                                         "format=\"appended\" offset=\"872\"/>"));
  const std::size_t begin = text.find("encoding=\"raw\">\n_") + 17, cells = 4 * 6 * 3;
  const auto value = [&](std::size_t block, std::size_t cell, std::size_t component) {
    float read = 0;
    std::memcpy(&read, text.data() + begin + block * (8 + cells * 12) + 8 + (cell * 3 + component) * 4, 4);
    return static_cast<double>(read);
  };
  double most = 0;
  for (const Component c : all_components)
    for (Index z = 0; z < 3; ++z) {
      const std::vector<double> plane = arrays.plane(c, 0, 2, z);
      for (std::size_t i = 0; i < plane.size(); ++i) {
        EXPECT_EQ(plane[i], value(is_electric(c) ? 0 : 1, static_cast<std::size_t>(z) * 24 + i, place(c)));
        most = std::max(most, std::abs(plane[i]));
      }
    }
  EXPECT_GT(most, 0);
}

TEST(ModelSnapshots, ThatAreNotFinishedLeaveNothing) {
  const TemporaryFolder folder;
  { const RunWithSnapshots made(folder.file("snaps")); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ModelSnapshots, WhatARunThatWasKilledLeftIsRemovedToo) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("snaps"));
  std::ofstream(folder.file("snaps/arrays.h5.partial-0")) << "a piece of a file";
  { const RunWithSnapshots made(folder.file("snaps")); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ModelSnapshots, OfAProcessThatDoesNotWriteMakeNothing) {
  const TemporaryFolder folder;
  RunWithSnapshots made("");
  EXPECT_TRUE(made.snapshots->finish().empty());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(ModelSnapshots, AFolderThatWasThereStays) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("snaps"));
  { const RunWithSnapshots made(folder.file("snaps")); }
  EXPECT_TRUE(std::filesystem::is_empty(folder.file("snaps")));
}

}  // namespace
}  // namespace sonde::maxwell
