// SPDX-License-Identifier: Apache-2.0
// Reconstructions of shipped measurements, against what is known of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/io/hdf5.h"
#include "tests/cli/program.h"
#include "tests/support/data.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::Ended;
using testing::run;
using testing::TemporaryFolder;

/// The last value of a metric in a result.
double last(const std::string& path, const std::string& metric) {
  const Array values = Hdf5File::open(path).dataset("/metrics/" + metric).read();
  return values.view<double, 1>()(values.count() - 1);
}

TEST(PtychoData, SiemensStarReachesTheStatedError) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  const std::string star = (data / "ptychography/siemens_star_small.h5").string();
  std::ofstream(folder.file("star.toml"))
      << "[data]\nfile = \"" << star << "\"\npositions = \"scan\"\nzero_frequency = \"corner\"\nholdout = 0.0\n"
      << "[geometry]\nunits = \"pixel\"\n[probe]\nfile = \"" << star << ":probe\"\n"
      << "[[engine]]\nname = \"epie\"\niterations = 40\nstep_object = 0.2\nstep_probe = 0.2\n"
      << "[positions]\nunit = \"px\"\nreference = \"window_corner\"\nwhole_pixels = true\n[stop]\nrule = \"off\"\n";
  const Ended ended = run({"ptycho", "run", folder.file("star.toml"), "-o", folder.file("star.h5")});
  ASSERT_EQ(ended.status, 0) << ended.err;
  // The marks of the specification (V8).
  EXPECT_LE(last(folder.file("star.h5"), "R_I"), 0.120);
  EXPECT_LE(last(folder.file("star.h5"), "R_A"), 0.162);
}

/// R_I of the reference curves at one iteration: the least and the largest of the three orders.
std::pair<double, double> reference(const fs::path& curves, const std::string& begin, const std::string& iteration) {
  std::ifstream file(curves);
  std::pair<double, double> ends{1e9, 0};
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    std::istringstream cut(line);
    for (std::string cell; std::getline(cut, cell, ',');) cells.push_back(cell);
    if (cells.size() < 5 || cells[0] + "," + cells[1] != begin || cells[3] != iteration) continue;
    const double value = std::strtod(cells[4].c_str(), nullptr);
    ends = {std::min(ends.first, value), std::max(ends.second, value)};
  }
  return ends;
}

TEST(PtychoData, SimulatedSetFollowsItsReferenceCurve) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  const fs::path v5 = data / "ptychography/v5";
  std::ofstream(folder.file("v5.toml"))
      << "[data]\nfile = \"" << (v5 / "v5.h5").string() << "\"\npatterns = \"counts_1e6\"\npositions = \""
      << (v5 / "positions_px.npy").string() << "\"\nholdout = 0.0\n"
      << "[geometry]\nenergy_keV = 200\ndetector_mrad_per_px = 1.875\n[probe]\nfile = \""
      << (v5 / "probe_start.npy").string() << "\"\n"
      << "[[engine]]\nname = \"epie\"\niterations = 100\nstep_object = 0.05\nstep_probe = 0.05\n"
      << "[positions]\nunit = \"px\"\n[stop]\nrule = \"off\"\n";
  const Ended ended = run({"ptycho", "run", folder.file("v5.toml"), "-o", folder.file("v5.h5")});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const auto [least, largest] = reference(v5 / "reference.csv", "1e6,0.05", "100");
  ASSERT_LT(least, 1);
  // R_I within 1 % of the reference runs (specification 11.1).
  EXPECT_NEAR(last(folder.file("v5.h5"), "R_I"), (least + largest) / 2, 0.01 * largest);
}

}  // namespace
}  // namespace sonde
