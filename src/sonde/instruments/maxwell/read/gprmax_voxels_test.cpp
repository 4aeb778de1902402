// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/gprmax_voxels.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/instruments/maxwell/read/gprmax_model.h"
#include "sonde/instruments/maxwell/read/test_gprmax.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using testing::block;
using ::testing::HasSubstr;

void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

constexpr const char* two_materials =
    "## of an antenna\n#material: 4 0.02 1 0 plastic\n#material: 1 inf 1 0 metal\n"
    "#add_dispersion_debye: 1 2 1e-11 plastic\n";

/// A geometry file of gprMax of these cells, and nodes where they are given.
void write_geometry(const std::string& path, const GprmaxVoxels& voxels, const std::vector<std::int8_t>& rigid_e = {}) {
  Hdf5Writer writer(path);
  writer.attribute("/", "dx_dy_dz", Array::from(std::vector(voxels.spacing.begin(), voxels.spacing.end()), Shape{3}));
  const auto [x, y, z] = voxels.count;
  writer.array("/data", Array::from(voxels.cells, Shape{x, y, z}));
  if (!rigid_e.empty()) {
    writer.array("/rigidE", Array::from(std::vector<std::int32_t>(rigid_e.begin(), rigid_e.end()), Shape{12, x, y, z}));
    writer.array("/rigidH",
                 Array::from(std::vector<std::int32_t>(static_cast<std::size_t>(6 * x * y * z)), Shape{6, x, y, z}));
    writer.array("/ID", Array::from(voxels.nodes, Shape{6, x + 1, y + 1, z + 1}));
  }
  writer.finish();
}

/// The block with a geometry file of these cells at (10, 11, 12) mm.
struct WithGeometry {
  TemporaryFolder folder;
  GprmaxVoxels voxels;
  WithGeometry(const XyzIndex& count, std::vector<std::int16_t> cells)
      : voxels{{0.001, 0.001, 0.001}, count, std::move(cells)} {}
  [[nodiscard]] GprmaxInput read(const std::string& before = "", const std::string& after = "") const {
    write_text(folder.file("parts.txt"), two_materials);
    const std::string text = block + before + "#geometry_objects_read: 0.010 0.011 0.012 parts.h5 parts.txt\n" + after;
    write_text(folder.file("model.in"), text);
    return read_gprmax_input(folder.file("model.in"));
  }
  [[nodiscard]] GprmaxModel model(const std::string& before = "", const std::string& after = "") const {
    return make_gprmax_model(read(before, after));
  }
};

double mm(Index cells) { return 1e-3 * static_cast<double>(cells); }

/// Of cells in the order in which gprMax builds voxels: each a box of its own that is not averaged.
std::string boxes_of(const GprmaxVoxels& voxels) {
  std::string text = two_materials;
  XyzIndex at{};
  for (at[0] = 0; at[0] < voxels.count[0]; ++at[0])
    for (at[1] = 0; at[1] < voxels.count[1]; ++at[1])
      for (at[2] = 0; at[2] < voxels.count[2]; ++at[2]) {
        const int material = voxels.cell(at);
        if (material < 0) continue;
        const Index x = at[0] + 10, y = at[1] + 11, z = at[2] + 12;
        text += fmt::format("#box: {} {} {} {} {} {} {} n\n", mm(x), mm(y), mm(z), mm(x + 1), mm(y + 1), mm(z + 1),
                            material == 0 ? "plastic" : "metal");
      }
  return text;
}

void expect_equal(const ComponentMedium& a, const ComponentMedium& b) {
  EXPECT_EQ(a.eps_r, b.eps_r);
  EXPECT_EQ(a.sigma, b.sigma);
  EXPECT_EQ(a.mu_r, b.mu_r);
  ASSERT_EQ(a.poles.size(), b.poles.size());
  for (std::size_t p = 0; p < a.poles.size(); ++p) EXPECT_EQ(a.poles[p].deps, b.poles[p].deps);
}

TEST(GprmaxGeometryFile, IsTheMediumOfTheSameCellsAsBoxes) {
  WithGeometry with({2, 3, 2}, {0, 1, 1, -1, 0, 0, 1, 0, -1, 1, 0, 1});
  write_geometry(with.folder.file("parts.h5"), with.voxels);
  const std::string ground = "#box: 0 0 0 0.04 0.04 0.013 soil\n";
  expect_equal(with.model(ground).medium,
               make_gprmax_model(testing::input_of(block + ground + boxes_of(with.voxels))).medium);
}

TEST(GprmaxGeometryFile, IsReplacedByObjectsThatComeLater) {
  WithGeometry with({2, 1, 1}, {0, 1});
  write_geometry(with.folder.file("parts.h5"), with.voxels);
  const std::string later = "#box: 0.011 0.011 0.012 0.03 0.03 0.03 soil n\n";
  expect_equal(with.model("", later).medium,
               make_gprmax_model(testing::input_of(block + boxes_of(with.voxels) + later)).medium);
}

TEST(GprmaxGeometryFile, SetsTheNodesThatItSaysAreRigidAndAveragesTheOthers) {
  WithGeometry with({1, 1, 1}, {0});
  with.voxels.nodes.assign(std::size_t{6} * 8, 0);
  const auto node = [&](Component c, const XyzIndex& at) -> std::int16_t& {
    return with.voxels.nodes[static_cast<std::size_t>(((static_cast<Index>(c) * 2 + at[0]) * 2 + at[1]) * 2 + at[2])];
  };
  // Flag 1 of rigidE is Ex one cell up y, flag 10 Ez one cell up x and y.
  std::vector<std::int8_t> rigid(12);
  rigid[1] = rigid[10] = 1;
  node(Component::Ex, {0, 1, 0}) = node(Component::Ez, {1, 1, 0}) = 1;
  write_geometry(with.folder.file("parts.h5"), with.voxels, rigid);

  const GprmaxModel model = with.model();
  const Grid grid(model.grid);
  const auto sigma = [&](Component c, Index x, Index y, Index z) {
    return model.medium.sigma[place(c)][static_cast<std::size_t>(grid.index(z, y, x))];
  };
  EXPECT_TRUE(std::isinf(sigma(Component::Ex, 10, 12, 12)));
  EXPECT_TRUE(std::isinf(sigma(Component::Ez, 11, 12, 12)));
  EXPECT_FALSE(std::isinf(sigma(Component::Ex, 10, 11, 12)));
  EXPECT_FALSE(std::isinf(sigma(Component::Ez, 10, 11, 12)));
}

TEST(GprmaxGeometryFile, NamesItsMaterialsAfterTheirFileAsGprmaxDoes) {
  WithGeometry with({1, 1, 1}, {1});
  write_geometry(with.folder.file("parts.h5"), with.voxels);
  const GprmaxInput input = with.read();
  EXPECT_EQ(input.materials[3].id, "plastic{parts}");
  EXPECT_EQ(input.materials[3].poles.size(), 1u);
  EXPECT_EQ(input.materials[4].id, "metal{parts}");
}

TEST(GprmaxGeometryFile, IsCutAtTheDomain) {
  WithGeometry with({40, 1, 1}, std::vector<std::int16_t>(40, 1));
  write_geometry(with.folder.file("parts.h5"), with.voxels);
  const GprmaxModel model = with.model();
  EXPECT_TRUE(std::isinf(model.medium.sigma[0][static_cast<std::size_t>(Grid(model.grid).index(12, 11, 39))]));
}

TEST(GprmaxGeometryFile, OfOtherCellsIsAnError) {
  WithGeometry with({1, 1, 1}, {1});
  with.voxels.spacing[1] = 0.002;
  write_geometry(with.folder.file("parts.h5"), with.voxels);
  EXPECT_THAT(
      error_of(ErrorKind::bad_file, [&] { (void)with.read(); }),
      HasSubstr("model.in, line 8: #geometry_objects_read: parts.h5 has cells of 0.002 m along y; expected 0.001 m "
                "as in the model"));
}

TEST(GprmaxGeometryFile, OfMoreMaterialsThanTheirFileHasIsAnError) {
  WithGeometry with({1, 1, 1}, {2});
  write_geometry(with.folder.file("parts.h5"), with.voxels);
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)with.read(); }),
              HasSubstr("line 8: #geometry_objects_read: parts.h5 has material 2; parts.txt has 2"));
}

TEST(GprmaxGeometryFile, OfNumbersThatAreNoMaterialIsAnError) {
  WithGeometry with({1, 1, 1}, {-2});
  write_geometry(with.folder.file("parts.h5"), with.voxels);
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)with.read(); }),
              HasSubstr("/data holds -2; expected numbers of materials from 0, or -1"));
}

TEST(GprmaxGeometryFile, ThatIsNoneIsAnError) {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder.file("other.h5"));
  writer.array("/data", Array::from(std::vector<std::int32_t>{0}, Shape{1, 1, 1}));
  writer.finish();
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)read_gprmax_voxels(folder.file("other.h5")); }),
              HasSubstr("other.h5: no attribute dx_dy_dz; expected a geometry file of gprMax"));
}

TEST(GprmaxGeometryFile, WithNodesOfAnotherShapeIsAnError) {
  WithGeometry with({1, 1, 2}, {0, 0});
  with.voxels.nodes.assign(std::size_t{6} * 12, 0);
  GprmaxVoxels other = with.voxels;
  other.count = {1, 2, 1};
  write_geometry(with.folder.file("parts.h5"), other, std::vector<std::int8_t>(24));
  // The same arrays beside other cells.
  EXPECT_NO_THROW((void)read_gprmax_voxels(with.folder.file("parts.h5")));
  Hdf5Writer writer(with.folder.file("bad.h5"));
  writer.attribute("/", "dx_dy_dz", Array::from(std::vector<double>(3, 0.001), Shape{3}));
  writer.array("/data", Array::from(std::vector<std::int32_t>{0, 0}, Shape{1, 1, 2}));
  writer.array("/rigidE", Array::from(std::vector<std::int32_t>(24), Shape{12, 1, 1, 2}));
  writer.array("/rigidH", Array::from(std::vector<std::int32_t>(12), Shape{6, 1, 1, 2}));
  writer.array("/ID", Array::from(std::vector<std::int32_t>(12), Shape{6, 1, 1, 2}));
  writer.finish();
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)read_gprmax_voxels(with.folder.file("bad.h5")); }),
              HasSubstr("/ID has shape (6, 1, 1, 2); expected (6, 2, 2, 3) beside /data of 1x1x2 cells"));
}

TEST(GprmaxGeometryFile, MayHaveMaterialsOnlyInItsMaterialsFile) {
  WithGeometry with({1, 1, 1}, {0});
  write_geometry(with.folder.file("parts.h5"), with.voxels);
  write_text(with.folder.file("more.txt"), "#box: 0 0 0 1 1 1 soil\n");
  write_text(with.folder.file("model.in"), block + "#geometry_objects_read: 0.01 0.01 0.01 parts.h5 more.txt\n");
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)read_gprmax_input(with.folder.file("model.in")); }),
              HasSubstr("more.txt, line 1: #box: it is not a material; expected #material or #add_dispersion_debye"));
}

}  // namespace
}  // namespace sonde::maxwell
