// SPDX-License-Identifier: Apache-2.0
// The functions of this room, given the numbers of the reference set v5, return its arrays.
#include <gtest/gtest.h>
#include <toml++/toml.h>

#include <cmath>

#include "sonde/engine/io/npy.h"
#include "sonde/instruments/ptycho/optics/probe.h"
#include "sonde/instruments/ptycho/optics/test_waves.h"
#include "sonde/instruments/ptycho/simulate/forward.h"
#include "sonde/instruments/ptycho/simulate/specimen.h"
#include "tests/support/data.h"

namespace sonde::ptycho {
namespace {

// Of the maximum; sums of some forty Gaussians, and transforms of 64 x 64 pixels.
constexpr double tolerance = 1e-12;

class ReferenceSet : public ::testing::Test {
 protected:
  void SetUp() override {
    SONDE_NEED_DATA(data);
    folder_ = data / "ptychography/v5";
    file_ = toml::parse_file((folder_ / "v5.toml").string());
    sampling_ = electron_sampling(number("detector.n"), number("detector.n"), real("beam.energy_keV"),
                                  real("detector.mrad_per_px"));
  }

  [[nodiscard]] double real(const char* path) const { return *file_.at_path(path).value<double>(); }
  [[nodiscard]] Index number(const char* path) const { return *file_.at_path(path).value<std::int64_t>(); }
  [[nodiscard]] Array stored(const char* name) const { return read_npy((folder_ / name).string()); }

  [[nodiscard]] Array probe(double defocus) const {
    ApertureOptics optics;
    optics.semiangle = real("beam.semiangle_mrad") / 1000;
    optics.aberrations.set("defocus", defocus);
    return aperture_probe(sampling_, optics);
  }
  [[nodiscard]] Array phase() const {
    std::vector<Site> sites;
    for (const auto& entry : *file_.at_path("object.sites").as_array()) {
      const toml::array& site = *entry.as_array();
      sites.push_back({*site[0].value<double>(), *site[1].value<double>(), *site[2].value<double>()});
    }
    EXPECT_EQ(sites.size(), 44u);
    return atom_phase(
        sites, real("object.sigma_A"),
        {number("object.shape[0]"), number("object.shape[1]"), sampling_.pixel_row(), sampling_.pixel_col()});
  }
  [[nodiscard]] std::vector<Point> positions() const {
    std::vector<Point> points = raster_positions({.rows = number("scan.shape[0]"),
                                                  .cols = number("scan.shape[1]"),
                                                  .step_row = static_cast<double>(number("scan.step_px")),
                                                  .step_col = static_cast<double>(number("scan.step_px"))});
    for (Point& point : points) {
      point.row += static_cast<double>(number("scan.first_px[0]"));
      point.col += static_cast<double>(number("scan.first_px[1]"));
    }
    return points;
  }

  std::filesystem::path folder_;
  toml::table file_;
  Sampling sampling_;
};

void expect_probe(const Array& made, const Array& kept) {
  ASSERT_EQ(kept.shape(), (Shape{64, 64}));
  double most = 0, difference = 0;
  for (Index i = 0; i < kept.count(); ++i) {
    const complex128 value = static_cast<const complex128*>(kept.data())[i];
    most = std::max(most, std::abs(value));
    difference = std::max(difference, std::abs(value - static_cast<const complex128*>(made.data())[i]));
  }
  EXPECT_LT(difference, tolerance * most);
}

TEST_F(ReferenceSet, ThePhaseIsThatOfTheSites) {
  const Array made = phase(), kept = stored("phase.npy");
  ASSERT_EQ(made.shape(), kept.shape());
  double most = 0, difference = 0;
  for (Index i = 0; i < kept.count(); ++i) {
    const double value = static_cast<const double*>(kept.data())[i];
    most = std::max(most, std::abs(value));
    difference = std::max(difference, std::abs(value - static_cast<const double*>(made.data())[i]));
  }
  EXPECT_NEAR(most, 0.75, 0.001);
  EXPECT_LT(difference, tolerance * most);
}

TEST_F(ReferenceSet, TheProbesAreThoseOfTheLens) {
  expect_probe(probe(real("probe.defocus_A")), stored("probe.npy"));
  expect_probe(probe(real("probe.start_defocus_A")), stored("probe_start.npy"));
}

TEST_F(ReferenceSet, ThePositionsAreThoseOfTheRaster) {
  const Array kept = stored("positions_px.npy");
  const std::vector<Point> made = positions();
  ASSERT_EQ(kept.shape(), (Shape{256, 2}));
  for (Index j = 0; j < 256; ++j) {
    EXPECT_EQ((kept.view<double, 2>()(j, 0)), made[static_cast<std::size_t>(j)].row) << j;
    EXPECT_EQ((kept.view<double, 2>()(j, 1)), made[static_cast<std::size_t>(j)].col) << j;
  }
  EXPECT_EQ(field_of_view(made), (Box{36, 36, 31, 31}));
}

TEST_F(ReferenceSet, TheFirstFrameHasThePinnedValues) {
  Array object(Device::cpu(), {1, 104, 104}, DType::c128);
  const Array flat = transmission(phase());
  std::copy_n(static_cast<const complex128*>(flat.data()), flat.count(), static_cast<complex128*>(object.data()));
  const Array frame = far_field_intensity(object, probe(real("probe.defocus_A")), {}, place(positions()[0], {64, 64}));
  // Printed with ten digits; the zero frequency of the README lies at [32, 32].
  const auto at = [&](Index row, Index col) { return frame.view<double, 2>()((row + 32) % 64, (col + 32) % 64); };
  EXPECT_NEAR(at(32, 32), 2.960286256e-03, 0.5e-12);
  EXPECT_NEAR(at(30, 37), 3.068010768e-03, 0.5e-12);
  EXPECT_NEAR(at(20, 40), 5.983183214e-06, 0.5e-15);
}

TEST_F(ReferenceSet, ThePixelIsThePinnedOne) { EXPECT_NEAR(sampling_.pixel_row(), 0.2089945036, 0.5e-10); }

}  // namespace
}  // namespace sonde::ptycho
