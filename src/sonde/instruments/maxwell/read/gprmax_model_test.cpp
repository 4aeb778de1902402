// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/gprmax_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numbers>

#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/read/gprmax_output.h"
#include "sonde/instruments/maxwell/read/test_gprmax.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using testing::block;
using testing::changed;
using ::testing::ElementsAre;
using testing::input_of;
using ::testing::IsEmpty;
using ::testing::SizeIs;

GprmaxModel model_of(const std::string& text) { return make_gprmax_model(input_of(text)); }
/// With these lines after the others.
GprmaxModel block_with(const std::string& lines) { return model_of(block + lines); }

GprmaxModel shared_model(const std::filesystem::path& data, const std::string& name) {
  return make_gprmax_model(read_gprmax_input((data / "maxwell/gprmax" / name).string()));
}

/// At an index in x, y, z of the arrays.
double at(const GprmaxModel& model, const std::vector<double>& values, const XyzIndex& xyz) {
  return values[static_cast<std::size_t>(Grid(model.grid).index(xyz[2], xyz[1], xyz[0]))];
}
double eps_r(const GprmaxModel& model, Component c, const XyzIndex& xyz) {
  return at(model, model.medium.eps_r[place(c)], xyz);
}
double sigma(const GprmaxModel& model, Component c, const XyzIndex& xyz) {
  return at(model, model.medium.sigma[place(c)], xyz);
}
double mu_r(const GprmaxModel& model, Component c, const XyzIndex& xyz) {
  return at(model, model.medium.mu_r[place(c)], xyz);
}

Index count_pec(const GprmaxModel& model, Component c) {
  const std::vector<double>& values = model.medium.sigma[place(c)];
  return std::count_if(values.begin(), values.end(), [](double value) { return std::isinf(value); });
}

/// Objects set the cells of H nodes too: with the flag n and mu_r 2, Hx of cell i and of i + 1 have it, so that of a
/// solid of n cells along x in each of m columns n m + m nodes do. Counts cells when it is one cell thick along x.
Index cells_of_thin(const GprmaxModel& model) {
  const std::vector<double>& values = model.medium.mu_r[place(Component::Hx)];
  return std::count(values.begin(), values.end(), 2.0) / 2;
}
const std::string magnetic = "#material: 1 0 2 0 ferrite\n";

TEST(GprmaxTimeStep, EqualsThatOfGprmax) {
  SONDE_NEED_DATA(data);
  for (const char* name : {"2D_EzHxHy", "cylinder_Ascan_2D", "hertzian_dipole_fs", "hertzian_dipole_dispersive"}) {
    SCOPED_TRACE(name);
    const GprmaxModel model = shared_model(data, std::string(name) + ".in");
    const GprmaxOutput reference =
        read_gprmax_output((data / "maxwell/gprmax" / (std::string(name) + "_ref.out")).string());
    EXPECT_NEAR(model.dt / reference.dt, 1, 1e-12);
    EXPECT_EQ(model.iterations, reference.iterations);
    EXPECT_EQ(model.cells, reference.cells);
    EXPECT_EQ(model.spacing, reference.spacing);
    EXPECT_EQ(empty_output(model, model.acquisition).receivers[0].position, reference.receivers[0].position);
  }
}

TEST(GprmaxTimeStep, IsTheLimitWithoutTheFlatAxis) {
  const GprmaxInput flat = input_of("#domain: 0.003 0.1 0.1\n#dx_dy_dz: 0.003 0.002 0.001\n#time_window: 5");
  const double limit = 1 / (c0 * std::sqrt(1 / (0.002 * 0.002) + 1 / (0.001 * 0.001)));
  EXPECT_LE(flat.time_step(), limit);
  EXPECT_NEAR(flat.time_step(), limit, 1.1e-27);  // rounded down to 27 decimals
  const GprmaxInput half = input_of(
      "#domain: 0.003 0.1 0.1\n#dx_dy_dz: 0.003 0.002 0.001\n#time_window: 5\n#time_step_stability_factor: 0.5");
  EXPECT_EQ(half.time_step(), 0.5 * flat.time_step());
}

TEST(GprmaxTimeStep, AWindowHasOneStepMoreThanIntervals) {
  const double dt = input_of(block).time_step();
  const auto steps = [&](double seconds) {
    GprmaxInput input = input_of(block);
    input.time_window = {seconds, std::nullopt};
    return input.iterations();
  };
  EXPECT_EQ(steps(10 * dt), 11);
  EXPECT_EQ(steps(9.5 * dt), 11);
  EXPECT_EQ(steps(10.1 * dt), 12);
}

TEST(GprmaxModel, LayersAreInsideTheDomain) {
  const GprmaxModel model = model_of(changed("#pml_cells: 2", "#pml_cells: 1 2 3 4 5 6"));
  EXPECT_EQ(model.grid.mode, Mode::em3d);
  EXPECT_EQ(model.grid.cells, (Triple{40 - 9, 40 - 7, 40 - 5}));  // z, y, x
  EXPECT_EQ(model.grid.pml, (std::array<std::array<Index, 2>, 3>{{{3, 6}, {2, 5}, {1, 4}}}));
  EXPECT_EQ(Grid(model.grid).extents(), (Triple{40, 40, 40}));
}

TEST(GprmaxModel, EdgesAtAFlatInterfaceTakeTheMean) {
  const GprmaxModel model = block_with("#box: 0 0 0 0.04 0.02 0.04 soil");
  EXPECT_EQ(eps_r(model, Component::Ex, {7, 19, 9}), 6);
  EXPECT_EQ(eps_r(model, Component::Ex, {7, 20, 9}), 3.5);  // of 6, 6, 1, 1
  EXPECT_EQ(eps_r(model, Component::Ex, {7, 21, 9}), 1);
  EXPECT_EQ(eps_r(model, Component::Ez, {7, 20, 9}), 3.5);
  EXPECT_EQ(eps_r(model, Component::Ey, {7, 19, 9}), 6);  // half-way between planes: inside one cell along y
  EXPECT_EQ(eps_r(model, Component::Ey, {7, 20, 9}), 1);
  EXPECT_EQ(sigma(model, Component::Ex, {7, 20, 9}), 0.005);
}

TEST(GprmaxModel, AnEdgeOfABoxHasOneOfFourCells) {
  const GprmaxModel model = block_with("#box: 0 0 0 0.02 0.02 0.04 soil");
  EXPECT_EQ(eps_r(model, Component::Ez, {20, 20, 9}), 2.25);  // (6 + 3) / 4
}

TEST(GprmaxModel, NodesOnWallsTakeTheCellsInside) {
  const GprmaxModel model = block_with("#box: 0 0 0 0.04 0.04 0.04 soil");
  for (const Component c : electric_components) {
    const std::vector<double>& values = model.medium.eps_r[place(c)];
    EXPECT_EQ(std::count(values.begin(), values.end(), 6.0), 40 * 40 * 40);
  }
}

TEST(GprmaxModel, FacesTakeTheMeanOfTheirTwoCells) {
  const GprmaxModel model = block_with(magnetic + "#box: 0 0 0 0.04 0.02 0.04 ferrite");
  EXPECT_EQ(mu_r(model, Component::Hy, {7, 20, 9}), 1.5);
  EXPECT_EQ(mu_r(model, Component::Hx, {7, 19, 9}), 2);  // half-way between planes along y
  EXPECT_EQ(mu_r(model, Component::Hx, {7, 20, 9}), 1);
}

TEST(GprmaxModel, WithoutAveragingAnObjectHasAllItsEdges) {
  const GprmaxModel model = block_with("#box: 0.01 0.01 0.01 0.02 0.02 0.02 soil n");
  const std::vector<double>& values = model.medium.eps_r[place(Component::Ez)];
  EXPECT_EQ(std::count(values.begin(), values.end(), 6.0), 11 * 11 * 10);
  EXPECT_EQ(std::count(values.begin(), values.end(), 1.0), 40 * 40 * 40 - 11 * 11 * 10);
}

TEST(GprmaxModel, TheLastObjectWithoutAveragingHasTheEdge) {
  const std::string two = "#material: 3 0 1 0 b\n#box: 0 0 0 0.02 0.04 0.04 soil n\n#box: 0.02 0 0 0.04 0.04 0.04 b ";
  EXPECT_EQ(eps_r(block_with(two + "n"), Component::Ez, {20, 9, 9}), 3);
  EXPECT_EQ(eps_r(block_with(two + "y"), Component::Ez, {20, 9, 9}), 6);
}

TEST(GprmaxModel, AConductorIsNotAveraged) {
  const GprmaxModel model = block_with("#box: 0 0 0 0.04 0.02 0.04 soil\n#box: 0.01 0.01 0.01 0.03 0.02 0.03 pec");
  EXPECT_TRUE(std::isinf(sigma(model, Component::Ex, {20, 20, 20})));
  EXPECT_EQ(count_pec(model, Component::Ex), 20 * 11 * 21);
  const std::vector<double>& values = model.medium.sigma[place(Component::Ex)];
  EXPECT_TRUE(std::none_of(values.begin(), values.end(), [](double v) { return std::isnan(v); }));
}

TEST(GprmaxModel, AnotherConductorIsOneToo) {
  const GprmaxModel model = block_with("#material: 2 inf 1 0 metal\n#box: 0.01 0.01 0.01 0.03 0.02 0.03 metal y");
  EXPECT_EQ(count_pec(model, Component::Ex), 20 * 11 * 21);
}

TEST(GprmaxModel, AnisotropicObjectsHaveAMaterialForEachDirection) {
  const GprmaxModel model =
      block_with("#material: 3 0 1 0 b\n#material: 4 0 1 0 c\n#box: 0.01 0.01 0.01 0.03 0.03 0.03 soil b c");
  EXPECT_EQ(eps_r(model, Component::Ex, {20, 20, 20}), 6);
  EXPECT_EQ(eps_r(model, Component::Ey, {20, 20, 20}), 3);
  EXPECT_EQ(eps_r(model, Component::Ez, {20, 20, 20}), 4);
  EXPECT_EQ(eps_r(model, Component::Ez, {30, 20, 20}), 4);  // its surface, not averaged
}

TEST(GprmaxModel, DebyePolesAreNotAveraged) {
  const GprmaxModel model = block_with(
      "#material: 4.9 0 1 0 water\n#add_dispersion_debye: 1 75.2 9.231e-12 water\n#box: 0 0 0 0.04 0.02 0.04 water\n"
      "#material: 2 0 1 0 wet\n#add_dispersion_debye: 2 1 1e-11 3 2e-11 wet\n#box: 0 0 0.02 0.04 0.01 0.04 wet\n");
  ASSERT_THAT(model.medium.poles, SizeIs(2));
  const auto& deps = model.medium.poles[0].deps[place(Component::Ex)];
  EXPECT_EQ(at(model, deps, {7, 20, 9}), 75.2);
  EXPECT_EQ(at(model, model.medium.poles[0].tau[place(Component::Ex)], {7, 20, 9}), 9.231e-12);
  EXPECT_EQ(eps_r(model, Component::Ex, {7, 20, 9}), 4.9);
  EXPECT_EQ(at(model, deps, {7, 21, 9}), 0);
  EXPECT_EQ(at(model, model.medium.poles[1].deps[place(Component::Ex)], {7, 9, 30}), 3);
  EXPECT_EQ(at(model, model.medium.poles[1].deps[place(Component::Ex)], {7, 15, 30}), 0);
}

TEST(GprmaxModel, PolesThatDecayWithinAStepAreReported) {
  const GprmaxModel model = block_with("#add_dispersion_debye: 1 3 5e-13 soil");
  EXPECT_THAT(model.warnings,
              ElementsAre("material \"soil\": the relaxation time 5e-13 s is less than half a time step of 1.93e-12 s; "
                          "such a pole is better added to eps_r"));
}

TEST(GprmaxModel, APlateSetsTheEdgesInItsPlane) {
  const GprmaxModel model = block_with("#plate: 0.01 0.01 0.02 0.03 0.025 0.02 pec");
  EXPECT_EQ(count_pec(model, Component::Ex), 20 * 16);
  EXPECT_EQ(count_pec(model, Component::Ey), 21 * 15);
  EXPECT_EQ(count_pec(model, Component::Ez), 0);
  EXPECT_TRUE(std::isinf(sigma(model, Component::Ex, {29, 25, 20})));
  EXPECT_EQ(sigma(model, Component::Ex, {30, 25, 20}), 0);
}

TEST(GprmaxModel, APlateOfTwoMaterialsHasThemAlongItsAxes) {
  const GprmaxModel model = block_with("#material: 3 0 1 0 b\n#plate: 0.02 0.01 0.01 0.02 0.03 0.03 soil b");
  EXPECT_EQ(eps_r(model, Component::Ey, {20, 20, 20}), 6);
  EXPECT_EQ(eps_r(model, Component::Ez, {20, 20, 20}), 3);
  EXPECT_EQ(eps_r(model, Component::Ex, {20, 20, 20}), 1);
}

TEST(GprmaxModel, AnEdgeIsAWire) {
  const GprmaxModel model = block_with("#edge: 0.02 0.02 0.01 0.02 0.02 0.03 pec");
  EXPECT_EQ(count_pec(model, Component::Ez), 20);
  EXPECT_EQ(count_pec(model, Component::Ex) + count_pec(model, Component::Ey), 0);
  EXPECT_TRUE(std::isinf(sigma(model, Component::Ez, {20, 20, 29})));
}

TEST(GprmaxModel, APlateRemainsUntilAllCellsAroundItsEdgesAreReplaced) {
  const std::string plate = "#plate: 0.01 0.01 0.02 0.03 0.03 0.02 pec\n";
  EXPECT_EQ(count_pec(block_with(plate + "#box: 0 0 0 0.04 0.04 0.02 soil"), Component::Ex), 20 * 21);
  EXPECT_EQ(count_pec(block_with(plate + "#box: 0 0 0 0.04 0.04 0.04 soil"), Component::Ex), 0);
  EXPECT_EQ(count_pec(block_with(plate + "#box: 0 0 0 0.04 0.04 0.02 soil n"), Component::Ex), 0);
  EXPECT_EQ(count_pec(block_with("#box: 0 0 0 0.04 0.04 0.02 soil n\n" + plate), Component::Ex), 20 * 21);
}

TEST(GprmaxModel, CellsOfACylinderHaveTheirCentreWithinItsRadius) {
  SONDE_NEED_DATA(data);
  const GprmaxModel model = shared_model(data, "cylinder_Ascan_2D.in");
  // Radius 10 mm = 5 cells around (60, 40) of the file's x, y, which are z, x of the arrays: an edge is of metal when
  // the centre of one of its four cells is within 5 cells.
  Index expected = 0;
  for (Index i = 1; i < 120; ++i)
    for (Index j = 1; j < 105; ++j) {
      bool metal = false;
      for (const double a : {-0.5, 0.5})
        for (const double b : {-0.5, 0.5}) {
          const double x = static_cast<double>(i) + a - 60, y = static_cast<double>(j) + b - 40;
          metal = metal || x * x + y * y <= 25;
        }
      if (metal) ++expected;
      const double there = sigma(model, Component::Ey, {j, 0, i});
      ASSERT_EQ(std::isinf(there), metal) << i << ", " << j;
    }
  EXPECT_EQ(count_pec(model, Component::Ey), expected);
}

TEST(GprmaxModel, CylindersAlongEachAxisHaveEqualCells) {
  for (const char* line :
       {"#cylinder: 0.01 0.02 0.02 0.03 0.02 0.02 0.0061 pec", "#cylinder: 0.02 0.01 0.02 0.02 0.03 0.02 0.0061 pec",
        "#cylinder: 0.02 0.02 0.03 0.02 0.02 0.01 0.0061 pec"}) {
    SCOPED_TRACE(line);
    const GprmaxModel model = block_with(line);
    const std::array<Index, 3> along{count_pec(model, Component::Ex), count_pec(model, Component::Ey),
                                     count_pec(model, Component::Ez)};
    // 120 cells have their centre within 6.1 of a corner, and 145 corners touch one of these; 20 along the axis.
    EXPECT_THAT(along, ::testing::Contains(20 * 145));
  }
}

TEST(GprmaxModel, AnObliqueCylinderHasItsVolume) {
  const GprmaxModel model = block_with("#cylinder: 0.01 0.01 0.01 0.03 0.03 0.025 0.006 soil");
  double cells = 0;  // E along x of eps_r 6 with weight: the mean over four cells counts each cell once
  for (const double value : model.medium.eps_r[place(Component::Ex)]) cells += (value - 1) / 5;
  const double volume = std::numbers::pi * 36 * std::sqrt(20.0 * 20 + 20 * 20 + 15 * 15);
  EXPECT_NEAR(cells / volume, 1, 0.02);  // a surface of 1600 cells whose centres are inside or outside by chance
}

TEST(GprmaxModel, ASphereHasTheCellsWithinItsRadius) {
  const GprmaxModel model = block_with("#sphere: 0.02 0.02 0.02 0.0051 soil");
  double cells = 0;
  for (const double value : model.medium.eps_r[place(Component::Ex)]) cells += (value - 1) / 5;
  Index expected = 0;
  for (Index i = -6; i < 6; ++i)
    for (Index j = -6; j < 6; ++j)
      for (Index k = -6; k < 6; ++k) {
        const double x = static_cast<double>(i) + 0.5, y = static_cast<double>(j) + 0.5,
                     z = static_cast<double>(k) + 0.5;
        if (x * x + y * y + z * z <= 5.1 * 5.1) ++expected;
      }
  EXPECT_NEAR(cells, static_cast<double>(expected), 1e-9);  // rounding of some thousand sums of sixths
}

TEST(GprmaxModel, ATriangleHasTheCellsInsideIt) {
  // Centres below the diagonal of 10 x 10 cells: 9 + 8 + ... + 1.
  const GprmaxModel prism =
      block_with(magnetic + "#triangle: 0.02 0.01 0.01 0.02 0.02 0.01 0.02 0.01 0.02 0.001 ferrite n");
  EXPECT_EQ(cells_of_thin(prism), 45);
  // Faces of a sheet: their edges along y are those below and above each, 9 + 9 + 8 + ... + 1.
  const GprmaxModel sheet = block_with("#triangle: 0.02 0.01 0.01 0.02 0.01 0.02 0.02 0.02 0.01 0 pec");
  EXPECT_EQ(count_pec(sheet, Component::Ey), 45 + 9);
  EXPECT_EQ(count_pec(sheet, Component::Ez), 45 + 9);
  EXPECT_EQ(count_pec(sheet, Component::Ex), 0);
}

TEST(GprmaxModel, ASectorIsAPartOfACylinder) {
  const auto cells = [](const std::string& angles) {
    return cells_of_thin(
        block_with(magnetic + "#cylindrical_sector: x 0.02 0.02 0.01 0.011 0.0061 " + angles + " ferrite n"));
  };
  EXPECT_EQ(cells("0 90"), 30);  // of the 120 cells of the disc
  EXPECT_EQ(cells("90 270"), 90);
  EXPECT_EQ(cells("350 359.9"), 120);
  const GprmaxModel first = block_with(magnetic + "#cylindrical_sector: x 0.02 0.02 0.01 0.011 0.0061 0 90 ferrite n");
  EXPECT_EQ(mu_r(first, Component::Hx, {10, 22, 22}), 2);  // from y towards z
  EXPECT_EQ(mu_r(first, Component::Hx, {10, 17, 22}), 1);
}

TEST(GprmaxModel, ObjectsMayReachBeyondTheDomain) {
  const GprmaxModel model = block_with("#sphere: 0 0 0 1 soil\n#cylinder: 0.02 0.02 -1 0.02 0.02 1 0.002 pec");
  EXPECT_EQ(eps_r(model, Component::Ex, {39, 39, 39}), 6);
  EXPECT_TRUE(std::isinf(sigma(model, Component::Ez, {20, 20, 0})));
  EXPECT_TRUE(std::isinf(sigma(model, Component::Ez, {20, 20, 39})));
}

TEST(GprmaxModel, FlatModelsArePermutedUntilYIsFlat) {
  SONDE_NEED_DATA(data);
  for (const char* name : {"2D_EzHxHy.in", "2D_EyHxHz.in", "2D_ExHyHz.in"}) {
    SCOPED_TRACE(name);
    const GprmaxModel model = shared_model(data, name);
    EXPECT_EQ(model.grid.mode, Mode::tm2d);
    EXPECT_EQ(model.grid.cells, (Triple{80, 1, 80}));
    EXPECT_EQ(model.grid.pml, (std::array<std::array<Index, 2>, 3>{{{10, 10}, {0, 0}, {10, 10}}}));
    EXPECT_EQ(model.acquisition.sources[0].component, Component::Ey);
    EXPECT_EQ(model.acquisition.sources[0].at, (Triple{50, 0, 50}));
    EXPECT_THAT(model.warnings, IsEmpty());
  }
}

TEST(GprmaxModel, PositionsInFlatModelsArePermutedWithTheAxes) {
  const auto receiver = [](const std::string& cells, const std::string& position) {
    return model_of("#domain: " + cells + "\n#dx_dy_dz: 1 1 1\n#time_window: 5\n#rx: " + position)
        .acquisition.receivers[0];
  };
  EXPECT_EQ(receiver("40 1 50", "11 0 22").at, (Triple{22, 0, 11}));
  EXPECT_EQ(receiver("40 50 1", "11 22 0").at, (Triple{11, 0, 22}));  // x of the file is z, y is x
  EXPECT_EQ(receiver("1 40 50", "0 11 22").at, (Triple{11, 0, 22}));  // y of the file is z, z is x
  EXPECT_EQ(receiver("1 40 50", "0 11 22").name, "Rx(0,11,22)");
}

TEST(GprmaxModel, ComponentsOfFlatModelsKeepTheNamesOfTheFile) {
  SONDE_NEED_DATA(data);
  const GprmaxModel z = shared_model(data, "2D_EzHxHy.in");
  EXPECT_EQ(z.component(Component::Ez), Component::Ey);
  EXPECT_EQ(z.component(Component::Hx), Component::Hz);  // x of the file is z
  EXPECT_EQ(z.component(Component::Hy), Component::Hx);
  EXPECT_EQ(z.component(Component::Hz), std::nullopt);
  EXPECT_EQ(z.component(Component::Ex), std::nullopt);
  const GprmaxModel x = shared_model(data, "2D_ExHyHz.in");
  EXPECT_EQ(x.component(Component::Ex), Component::Ey);
  EXPECT_EQ(x.component(Component::Hy), Component::Hz);
  EXPECT_EQ(x.component(Component::Hz), Component::Hx);
  const GprmaxModel y = shared_model(data, "2D_EyHxHz.in");
  EXPECT_EQ(y.component(Component::Hz), Component::Hz);
}

TEST(GprmaxModel, PermutationIsARotation) {
  for (const std::size_t turn : {0U, 1U, 2U}) {
    const GprmaxAxes axes{turn};
    for (const Component c : all_components) {
      // The terms of its curl are those of the turned component, with their signs.
      const auto file = curl_terms(c), arrays = curl_terms(axes.component(c));
      for (std::size_t term = 0; term < 2; ++term) {
        EXPECT_EQ(axes.component(file[term].of), arrays[term].of);
        EXPECT_EQ(axes.axis(2 - dimension(file[term].along)), arrays[term].along);
        EXPECT_EQ(file[term].sign, arrays[term].sign);
      }
    }
    EXPECT_EQ(axes.to_file(axes.to_arrays(XyzIndex{1, 2, 3})), (XyzIndex{1, 2, 3}));
  }
}

TEST(GprmaxModel, LayersAreScaledByTheMediumOfTheirFirstPlane) {
  SONDE_NEED_DATA(data);
  const GprmaxModel model = shared_model(data, "cylinder_Ascan_2D.in");
  // 85 of the 105 cells at the low end of the file's x are soil.
  EXPECT_NEAR(model.pml.sigma_factor, 1 / std::sqrt((85 * 6.0 + 20) / 105), 1e-14);
  EXPECT_EQ(model.pml.scale, PmlSettings::Scale::vacuum);
  const GprmaxModel y =
      model_of(changed("#pml_cells: 2", "#pml_cells: 0 2 2 2 2 2") + "#box: 0 0 0 0.04 0.02 0.04 soil");
  EXPECT_NEAR(y.pml.sigma_factor, 1 / std::sqrt(6.0), 1e-14);  // the low side of y is the first that has a layer
}

TEST(GprmaxModel, TheLargestSigmaOfALayerMayBeGiven) {
  const std::string cfs = "#pml_cfs: constant forward 0 0 constant forward 1 1 quartic forward 0 7\n";
  const GprmaxModel model = block_with(cfs);
  EXPECT_NEAR(model.pml.sigma_factor * 0.8 * 5 / (eta0 * 0.001), 7, 1e-12);
  const std::string text = changed("#dx_dy_dz: 0.001 0.001 0.001", "#dx_dy_dz: 0.001 0.002 0.001") + cfs;
  EXPECT_EQ(error_of(ErrorKind::not_supported, [&] { (void)model_of(text); }),
            "error: model.in: the largest sigma of #pml_cfs with cells of 0.001 m and 0.002 m is not supported yet\n"
            "hint: write None for it, which derives it from the medium");
}

TEST(GprmaxModel, SourcesHaveTheFactorsOfGprmax) {
  const std::string cells = changed("#dx_dy_dz: 0.001 0.001 0.001", "#dx_dy_dz: 0.001 0.002 0.0005");
  const GprmaxModel model = model_of(cells +
                                     "#hertzian_dipole: y 0.02 0.02 0.02 w 1e-10 5e-10\n"
                                     "#magnetic_dipole: z 0.02 0.02 0.02 w\n"
                                     "#voltage_source: z 0.02 0.02 0.02 50 w\n"
                                     "#voltage_source: x 0.02 0.02 0.02 0 w\n");
  const auto& sources = model.acquisition.sources;
  ASSERT_THAT(sources, SizeIs(4));
  EXPECT_EQ(sources[0].component, Component::Ez);
  EXPECT_DOUBLE_EQ(sources[0].scale, 1 / (50 * 0.001 * 0.002));  // V / (R A) is a current density
  EXPECT_DOUBLE_EQ(sources[1].scale, -1 / 0.001);                // E = -V / dl
  EXPECT_EQ(sources[2].dl, 0.002);
  EXPECT_DOUBLE_EQ(sources[2].scale, 1 / (0.001 * 0.0005));  // I dl / (dx dy dz)
  EXPECT_EQ(sources[2].start, 1e-10);
  EXPECT_EQ(sources[2].stop, 5e-10);
  EXPECT_EQ(sources[3].component, Component::Hz);
  EXPECT_DOUBLE_EQ(sources[3].scale, 1 / (0.001 * 0.002 * 0.0005));
  EXPECT_EQ(sources[3].stop, 1e-9);  // the time window
  EXPECT_EQ(sources[3].at, (Triple{40, 10, 20}));
}

TEST(GprmaxModel, AResistanceIsAConductivityOfItsEdge) {
  const GprmaxModel model = block_with("#box: 0 0 0 0.04 0.04 0.04 soil\n#voltage_source: z 0.02 0.02 0.02 50 w");
  // dl / (R A) with dl = 1 mm and A = 1 mm^2, beside the soil's 0.01 S/m.
  EXPECT_NEAR(sigma(model, Component::Ez, {20, 20, 20}), 0.01 + 20, 1e-12);
  EXPECT_EQ(sigma(model, Component::Ez, {21, 20, 20}), 0.01);
}

TEST(GprmaxModel, ArraysOfReceiversAreExpandedWithZFastest) {
  const GprmaxModel model = block_with(
      "#rx_array: 0.01 0.01 0.01 0.013 0.01 0.012 0.002 0 0\n#rx: 0.02 0.02 0.02\n#rx: 0.01 0.02 0.02 mine Ez");
  ASSERT_THAT(model.acquisition.receivers, SizeIs(2 + 2 * 3));
  EXPECT_EQ(model.acquisition.receivers[0].name, "Rx(20,20,20)");
  EXPECT_EQ(model.acquisition.receivers[1].name, "mine");
  EXPECT_EQ(model.acquisition.receivers[3].name, "Rx(10,10,11)");
  EXPECT_EQ(model.acquisition.receivers[7].at, (Triple{12, 10, 12}));
}

TEST(GprmaxModel, PointsInsideLayersAreReported) {
  const GprmaxModel model = block_with(
      "#hertzian_dipole: z 0.001 0.02 0.02 w\n#rx: 0.02 0.039 0.02\n#rx: 0.002 0.02 0.038\n#rx_array: 0 0 0 0.001 0 0 "
      "0 0 0");
  EXPECT_THAT(model.warnings, ElementsAre("model.in, line 8: the source is inside the absorbing layer",
                                          "model.in, line 9: the receiver is inside the absorbing layer",
                                          "model.in, line 11: the receiver is inside the absorbing layer"));
}

TEST(GprmaxModel, SnapshotsAreBoxesOfCells) {
  const GprmaxModel model = block_with("#snapshot: 0 0.01 0.02 0.04 0.03 0.04 0.001 0.002 0.004 7 a");
  ASSERT_THAT(model.snapshots, SizeIs(1));
  EXPECT_EQ(model.snapshots[0].first, (Triple{20, 10, 0}));
  EXPECT_EQ(model.snapshots[0].last, (Triple{40, 30, 40}));
  EXPECT_EQ(model.snapshots[0].step, (Triple{4, 2, 1}));
  EXPECT_EQ(model.snapshots[0].before_step, 7);
  EXPECT_EQ(model.snapshots[0].file, "a");
}

TEST(GprmaxCellMaterials, AreThoseOfTheLastObjectThatHasTheCell) {
  const std::vector<std::uint32_t> found = gprmax_cell_materials(
      input_of(block + "#box: 0 0 0 0.04 0.04 0.01 soil\n#box: 0.01 0.02 0 0.02 0.04 0.02 soil pec free_space"));
  const auto at = [&](std::size_t x, std::size_t y, std::size_t z) { return found[(z * 40 + y) * 40 + x]; };
  EXPECT_EQ(at(0, 0, 9), 2U);
  EXPECT_EQ(at(0, 0, 10), 1U);
  EXPECT_EQ(at(10, 20, 19), 2U);  // of three materials that along x
  EXPECT_EQ(at(9, 20, 19), 1U);
  EXPECT_EQ(at(19, 39, 19), 2U);
  EXPECT_EQ(at(20, 39, 19), 1U);
}

TEST(GprmaxCellMaterials, OfTwoDimensionsAreInTheAxesOfTheFile) {
  const std::vector<std::uint32_t> found =
      gprmax_cell_materials(input_of("#domain: 0.1 0.06 0.002\n#dx_dy_dz: 0.002 0.002 0.002\n#time_window: 10\n"
                                     "#box: 0.02 0.04 0 0.1 0.06 0.002 pec\n"));
  ASSERT_EQ(found.size(), 50U * 30U);
  EXPECT_EQ(found[20 * 50 + 10], 0U);
  EXPECT_EQ(found[20 * 50 + 9], 1U);
  EXPECT_EQ(found[19 * 50 + 10], 1U);
}

TEST(AcquisitionOfRun, DipolesAndReceiversMove) {
  SONDE_NEED_DATA(data);
  const GprmaxModel model = shared_model(data, "cylinder_Bscan_2D.in");
  const GprmaxAcquisition tenth = acquisition_of_run(model, 9);
  EXPECT_EQ(model.acquisition.sources[0].at, (Triple{20, 0, 85}));
  EXPECT_EQ(tenth.sources[0].at, (Triple{29, 0, 85}));
  EXPECT_EQ(tenth.receivers[0].at, (Triple{49, 0, 85}));
  EXPECT_EQ(tenth.receivers[0].name, "Rx(40,85,0)");  // it keeps the name of the first run
}

TEST(AcquisitionOfRun, VoltageSourcesStay) {
  const GprmaxModel model = block_with("#voltage_source: z 0.02 0.02 0.02 50 w\n#src_steps: 0.001 0 0");
  EXPECT_EQ(acquisition_of_run(model, 5).sources[0].at, (Triple{20, 20, 20}));
}

TEST(AcquisitionOfRun, PointsStayInsideTheDomain) {
  SONDE_NEED_DATA(data);
  const GprmaxModel model = shared_model(data, "cylinder_Bscan_2D.in");
  EXPECT_EQ(acquisition_of_run(model, 79).receivers[0].at[0], 119);
  const std::string path = (data / "maxwell/gprmax/cylinder_Bscan_2D.in").string();
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)acquisition_of_run(model, 80); }),
            "error: " + path + ", line 10: in run 81 the receiver is at x = 0.24 m; expected 0 to 0.238 m");
}

TEST(GprmaxModelBytes, AreThoseOfTheMediumAndItsCells) {
  const auto bytes_of = [](const GprmaxModel& model) {
    std::size_t bytes = 4 * static_cast<std::size_t>(Grid(model.grid).count());  // the numbers of objects
    const auto add = [&](const auto& components) {
      for (const std::vector<double>& values : components) bytes += values.size() * sizeof(double);
    };
    add(model.medium.eps_r);
    add(model.medium.sigma);
    add(model.medium.mu_r);
    for (const DebyePole& pole : model.medium.poles) {
      add(pole.deps);
      add(pole.tau);
    }
    return bytes;
  };
  const std::string debye = "#add_dispersion_debye: 1 3 1e-11 soil\n#box: 0 0 0 0.01 0.01 0.01 soil";
  EXPECT_EQ(gprmax_model_bytes(input_of(block)), bytes_of(model_of(block)));
  EXPECT_EQ(gprmax_model_bytes(input_of(block + debye)), bytes_of(block_with(debye)));
  const std::string flat = "#domain: 0.1 0.1 0.002\n#dx_dy_dz: 0.002 0.002 0.002\n#time_window: 10\n";
  EXPECT_EQ(gprmax_model_bytes(input_of(flat)), bytes_of(model_of(flat)));
}

}  // namespace
}  // namespace sonde::maxwell
