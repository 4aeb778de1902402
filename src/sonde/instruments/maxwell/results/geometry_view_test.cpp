// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/geometry_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/files.h"

namespace sonde::maxwell {
namespace {

const char* const ground_with_view =
    "#title: A rod\n#domain: 0.04 0.06 0.05\n#dx_dy_dz: 0.002 0.002 0.002\n#time_window: 10\n#pml_cells: 3\n"
    "#material: 6 0 1 0 sand\n#box: 0 0 0 0.04 0.06 0.02 sand\n#box: 0.01 0.02 0.03 0.02 0.03 0.04 pec\n"
    "#waveform: ricker 1 1e9 w\n#hertzian_dipole: z 0.012 0.024 0.032 w\n#rx: 0.02 0.024 0.032 near Ez\n"
    "#geometry_view: 0 0.02 0.01 0.04 0.06 0.05 0.002 0.004 0.002 ground n\n";

struct ViewOfGround {
  GprmaxInput input = parse_gprmax_input(ground_with_view, "ground.in");
  GprmaxModel model = make_gprmax_model(input);
  std::vector<std::uint32_t> materials = gprmax_cell_materials(input);
};

TEST(GeometryView, HasMaterialsLayersSourcesAndReceiversOfEveryCell) {
  const sonde::testing::TemporaryFolder folder;
  const ViewOfGround of;
  write_geometry_view(folder.file("ground.vti"), of.input, of.model, of.input.geometry_views[0], of.materials);
  const auto bytes = sonde::testing::read_bytes(folder.file("ground.vti"));
  const std::string text(bytes.begin(), bytes.end());
  EXPECT_THAT(text, ::testing::HasSubstr(
                        "WholeExtent=\"0 20 0 10 0 20\" Origin=\"0 0.02 0.01\" Spacing=\"0.002 0.004 0.002\""));
  EXPECT_THAT(text, ::testing::HasSubstr("<Material name=\"sand\">2</Material>\n<PML name=\"PML boundary region\">1"));
  EXPECT_THAT(text, ::testing::HasSubstr("<Sources name=\"HertzianDipole(6,12,16)\">2</Sources>\n"
                                         "<Receivers name=\"near\">1</Receivers>"));
  const std::size_t begin = text.find("encoding=\"raw\">\n_") + 17, cells = 20 * 10 * 20;
  const auto cell = [](std::size_t x, std::size_t y, std::size_t z) { return (z * 10 + y) * 20 + x; };
  const auto material = [&](std::size_t i) { return static_cast<int>(text[begin + 8 + 4 * i]); };
  const auto layer_or_source = [&](std::size_t i) { return static_cast<int>(text[begin + 16 + 4 * cells + i]); };
  const auto receiver = [&](std::size_t i) { return static_cast<int>(text[begin + 24 + 5 * cells + i]); };
  // Cell 6, 12, 16 of the domain is 6, 1, 11 of the view: planes 10, 12, ... along y and 5, 6, ... along z.
  EXPECT_EQ(material(cell(6, 1, 11)), 0);
  EXPECT_EQ(material(cell(4, 1, 11)), 1);
  EXPECT_EQ(material(cell(6, 1, 4)), 2);
  EXPECT_EQ(layer_or_source(cell(6, 1, 11)), 2);
  EXPECT_EQ(layer_or_source(cell(2, 1, 11)), 1);
  EXPECT_EQ(layer_or_source(cell(3, 1, 11)), 0);
  EXPECT_EQ(receiver(cell(10, 1, 11)), 1);
  EXPECT_EQ(receiver(cell(9, 1, 11)), 0);
}

TEST(ModelChart, OfThreeDimensionsHasThePlanesThroughTheSource) {
  const ViewOfGround of;
  const Chart chart = model_chart(of.input, of.model, of.materials);
  EXPECT_EQ(chart.title, "A rod (0 pec, 1 free_space, 2 sand)");
  ASSERT_EQ(chart.facets.size(), 3U);
  EXPECT_EQ(chart.facets[0].title, "y = 0.024 m");
  const HeightMap& map = *chart.facets[0].map;
  EXPECT_EQ(map.z[16 * 20 + 6], 0);
  EXPECT_EQ(map.z[9 * 20 + 6], 2);
  EXPECT_EQ(map.z[10 * 20 + 6], 1);
  EXPECT_EQ(chart.facets[0].series[0].x, (std::vector<double>{0.012}));
}

}  // namespace
}  // namespace sonde::maxwell
