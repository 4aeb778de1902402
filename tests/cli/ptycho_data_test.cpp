// SPDX-License-Identifier: Apache-2.0
// Reconstructions of shipped measurements, against what is known of them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/math/fft.h"
#include "sonde/engine/report/json.h"
#include "tests/cli/program.h"
#include "tests/support/data.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using testing::Ended;
using ::testing::HasSubstr;
using testing::run;
using testing::TemporaryFolder;

/// The last value of a metric in a result.
double last(const std::string& path, const std::string& metric) {
  const Array values = Hdf5File::open(path).dataset("/metrics/" + metric).read();
  return values.view<double, 1>()(values.count() - 1);
}

/// The edge of the star's optics on the detector: the radius, in pixels, of the disk with 90 % of the power of the
/// probe that came with the data. Its zone plate is a ring from 11 to 23 pixels.
double aperture_radius(const std::string& star) {
  Array probe = Hdf5File::open(star).dataset("/probe").read();
  constexpr Index n = 128;
  complex64* wave = probe.view<complex64, 2>().data;
  Fft2d<float>::prepare({.rows = n, .cols = n}).transform(wave, FftDirection::forward);
  std::vector<std::pair<double, double>> by_radius;  // with the power there
  double total = 0, within = 0;
  for (Index i = 0; i < n * n; ++i) {
    const auto from_zero = [](Index k) { return static_cast<double>(std::min(k, n - k)); };
    by_radius.emplace_back(std::hypot(from_zero(i / n), from_zero(i % n)), std::norm(wave[i]));
    total += by_radius.back().second;
  }
  std::sort(by_radius.begin(), by_radius.end());
  for (const auto& [radius, power] : by_radius)
    if ((within += power) > 0.9 * total) return radius;
  return 0;
}

/// The radius of the ring outside of which the mean pattern has less than one count per pixel.
double counted_radius(const std::string& star) {
  const Array counts = Hdf5File::open(star).dataset("/data").read();
  const auto frames = counts.view<std::uint16_t, 3>();
  const Index n = frames.extent[1];
  std::vector<double> sum(static_cast<std::size_t>(n)), pixels(static_cast<std::size_t>(n));
  for (Index j = 0; j < frames.extent[0]; ++j)
    for (Index y = 0; y < n; ++y)
      for (Index x = 0; x < n; ++x) {
        const auto ring = static_cast<std::size_t>(
            std::hypot(static_cast<double>(std::min(y, n - y)), static_cast<double>(std::min(x, n - x))));
        sum[ring] += frames(j, y, x);
        ++pixels[ring];
      }
  std::size_t ring = static_cast<std::size_t>(n / 2);
  while (ring > 0 && sum[ring - 1] < pixels[ring - 1]) --ring;
  return static_cast<double>(ring);
}

TEST(PtychoData, SiemensStarReachesTheStatedErrorAndResolution) {
  SONDE_NEED_DATA(data);
  const TemporaryFolder folder;
  const std::string star = (data / "ptychography/siemens_star_small.h5").string();
  std::ofstream(folder.file("star.toml"))
      << "[data]\nfile = \"" << star << "\"\npositions = \"scan\"\nzero_frequency = \"corner\"\nholdout = 0.0\n"
      << "[geometry]\nunits = \"pixel\"\n[probe]\nfile = \"" << star << ":probe\"\n"
      << "[[engine]]\nname = \"epie\"\niterations = 40\nstep_object = 0.2\nstep_probe = 0.2\n"
      << "[positions]\nunit = \"px\"\nreference = \"window_corner\"\nwhole_pixels = true\n[stop]\nrule = \"off\"\n"
      << "[quality]\nhalf_data = true\n";
  const Ended ended = run({"ptycho", "run", folder.file("star.toml"), "-o", folder.file("star.h5"), "--json"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  // What an independent program reached.
  EXPECT_LE(last(folder.file("star.h5"), "R_I"), 0.120);
  EXPECT_LE(last(folder.file("star.h5"), "R_A"), 0.162);
  // Two halves of the data agree beyond what a lens of the same aperture could image, which is the point of
  // ptychography: detail of 4 pixels, where the lens ends at 5.3. They cannot agree where nothing was counted: 2.8.
  const Value result = parse_json(ended.out, "result");
  const double resolution = result.find("half_data_resolution")->as_real(), window = 128;
  RecordProperty("resolution_px", std::to_string(resolution));
  EXPECT_LT(resolution, window / aperture_radius(star));
  EXPECT_GT(resolution, window / counted_radius(star));
  std::ifstream page(folder.file("star_report.html"));
  const std::string report{std::istreambuf_iterator<char>(page), {}};
  EXPECT_THAT(report, HasSubstr(fmt::format("<b>{:.3g} px</b><span>resolution, half-bit</span>", resolution)));
  EXPECT_THAT(report, HasSubstr(fmt::format("half-bit threshold at {:.3g} px", resolution)));
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
  // R_I within 1 % of the reference runs (docs/ptycho-theory.md#the-reference-set).
  EXPECT_NEAR(last(folder.file("v5.h5"), "R_I"), (least + largest) / 2, 0.01 * largest);
}

}  // namespace
}  // namespace sonde
