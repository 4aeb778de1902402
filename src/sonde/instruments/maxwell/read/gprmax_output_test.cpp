// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/gprmax_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/instruments/maxwell/read/test_gprmax.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using testing::block;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::input_of;
using ::testing::SizeIs;

GprmaxOutput reference(const std::filesystem::path& data, const std::string& name) {
  return read_gprmax_output((data / "maxwell/gprmax" / name).string());
}

double largest(const GprmaxOutput& output, Component c) {
  double most = 0;
  for (const double value : output.receivers.at(0).fields.at(c)) most = std::max(most, std::abs(value));
  return most;
}

/// Two receivers and a source, samples that float32 holds exactly.
GprmaxOutput small_output(double offset = 0) {
  GprmaxOutput made{.title = "a model",
                    .iterations = 3,
                    .dt = 1.5e-12,
                    .cells = {10, 20, 1},
                    .spacing = {0.001, 0.002, 0.003},
                    .src_steps = {1, 0, 0},
                    .rx_steps = {0, -1, 0}};
  made.sources = {{"HertzianDipole", {0.001, 0.002, 0}}};
  made.receivers = {{"first", {0.003, 0.004, 0}, {{Component::Ez, {offset + 1, 2, 3}}, {Component::Hx, {4, 5, 6}}}},
                    {"second", {0.005, 0.004, 0}, {{Component::Ez, {-1, -2, -3}}}}};
  return made;
}

TEST(GprmaxOutput, ReadsTheLineSourceOfGprmax) {
  SONDE_NEED_DATA(data);
  const GprmaxOutput read = reference(data, "2D_EzHxHy_ref.out");
  EXPECT_EQ(read.title, "2D test Ez component");
  EXPECT_EQ(read.cells, (XyzIndex{100, 100, 1}));
  EXPECT_EQ(read.spacing, (Xyz{0.001, 0.001, 0.001}));
  EXPECT_EQ(read.runs, 0);
  ASSERT_THAT(read.receivers, SizeIs(1));
  EXPECT_THAT(read.receivers[0].fields, SizeIs(6));
  EXPECT_THAT(read.receivers[0].fields.at(Component::Ez), SizeIs(read.iterations));
  EXPECT_GT(largest(read, Component::Ez), 0);
  EXPECT_EQ(largest(read, Component::Ex), 0);
}

TEST(GprmaxOutput, ReadsTheCylinderOfGprmax) {
  SONDE_NEED_DATA(data);
  const GprmaxOutput read = reference(data, "cylinder_Ascan_2D_ref.out");
  EXPECT_EQ(read.cells, (XyzIndex{120, 105, 1}));
  EXPECT_NEAR(read.receivers[0].position[0], 0.14, 1e-12);
  EXPECT_GT(largest(read, Component::Hy), 0);
}

TEST(GprmaxOutput, ReadsTheDipolesOfGprmax) {
  SONDE_NEED_DATA(data);
  for (const char* name : {"hertzian_dipole_fs_ref.out", "hertzian_dipole_dispersive_ref.out"}) {
    SCOPED_TRACE(name);
    const GprmaxOutput read = reference(data, name);
    EXPECT_EQ(read.cells, (XyzIndex{100, 100, 100}));
    for (const Component c : electric_components) EXPECT_GT(largest(read, c), 0);
  }
}

TEST(GprmaxOutput, WhatIsWrittenIsRead) {
  const TemporaryFolder folder;
  write_gprmax_output(folder.file("a.out"), small_output());
  const GprmaxOutput read = read_gprmax_output(folder.file("a.out"));
  EXPECT_EQ(read.title, "a model");
  EXPECT_EQ(read.iterations, 3);
  EXPECT_EQ(read.dt, 1.5e-12);
  EXPECT_EQ(read.cells, (XyzIndex{10, 20, 1}));
  EXPECT_EQ(read.spacing, (Xyz{0.001, 0.002, 0.003}));
  EXPECT_EQ(read.src_steps, (XyzIndex{1, 0, 0}));
  EXPECT_EQ(read.rx_steps, (XyzIndex{0, -1, 0}));
  ASSERT_THAT(read.sources, SizeIs(1));
  EXPECT_EQ(read.sources[0].type, "HertzianDipole");
  EXPECT_EQ(read.sources[0].position, (Xyz{0.001, 0.002, 0}));
  ASSERT_THAT(read.receivers, SizeIs(2));
  EXPECT_EQ(read.receivers[0].name, "first");
  EXPECT_EQ(read.receivers[1].position, (Xyz{0.005, 0.004, 0}));
  EXPECT_EQ(read.receivers[0].fields, small_output().receivers[0].fields);
  EXPECT_EQ(read.receivers[1].fields, small_output().receivers[1].fields);
}

TEST(GprmaxOutput, HasTheNamesAndTypesOfGprmax) {
  const TemporaryFolder folder;
  write_gprmax_output(folder.file("a.out"), small_output());
  const Hdf5File file = Hdf5File::open(folder.file("a.out"));
  EXPECT_THAT(file.attribute("/", "gprMax")->text().value(), HasSubstr("3.1.7 (sonde "));
  EXPECT_EQ(file.attribute("/", "Iterations")->printed(), "3");
  EXPECT_EQ(file.attribute("/", "nx_ny_nz")->printed(), "[10, 20, 1]");
  EXPECT_EQ(file.attribute("/", "dx_dy_dz")->printed(), "[0.001, 0.002, 0.003]");
  EXPECT_EQ(file.attribute("/", "nsrc")->printed(), "1");
  EXPECT_EQ(file.attribute("/", "nrx")->printed(), "2");
  EXPECT_EQ(file.attribute("/", "rxsteps")->printed(), "[0, -1, 0]");
  EXPECT_EQ(file.dataset("/rxs/rx1/Ez").info().dtype, DType::f32);
  EXPECT_EQ(file.dataset("/rxs/rx1/Ez").info().shape, (Shape{3}));
}

TEST(GprmaxOutput, RunsAreMergedAsColumns) {
  const TemporaryFolder folder;
  const GprmaxOutput both = merged({small_output(), small_output(10)});
  write_gprmax_output(folder.file("m.out"), both);
  EXPECT_EQ(Hdf5File::open(folder.file("m.out")).dataset("/rxs/rx2/Ez").info().shape, (Shape{3, 2}));
  const GprmaxOutput read = read_gprmax_output(folder.file("m.out"));
  EXPECT_EQ(read.runs, 2);
  EXPECT_THAT(read.receivers[0].fields.at(Component::Ez), ElementsAre(1, 11, 2, 2, 3, 3));
}

TEST(GprmaxOutput, OnlyEqualRunsAreMerged) {
  const auto refused = [](auto change) {
    GprmaxOutput other = small_output();
    change(other);
    return error_of(ErrorKind::bad_input, [&] { (void)merged({small_output(), other}); });
  };
  EXPECT_EQ(refused([](GprmaxOutput& o) { o.dt *= 2; }),
            "error: run 2 has other time steps than the first one; expected the same");
  EXPECT_EQ(refused([](GprmaxOutput& o) { o.receivers.pop_back(); }),
            "error: run 2 has other receivers than the first one; expected the same");
  EXPECT_EQ(refused([](GprmaxOutput& o) { o.receivers[0].fields.erase(Component::Hx); }),
            "error: run 2 has other components than the first one; expected the same");
  EXPECT_EQ(error_of(ErrorKind::bad_input, [] { (void)merged({}); }), "error: 0 runs; expected at least one");
}

TEST(GprmaxOutput, ReadsDoublePrecisionAndOldNames) {
  const TemporaryFolder folder;
  const std::string path = folder.file("old.out");
  Hdf5Writer writer(path);
  writer.attribute("/", "Iterations", std::int64_t{2});
  writer.attribute("/", "dt", 1e-12);
  writer.attribute("/", "nrx", std::int64_t{1});
  writer.attribute("/", "nx, ny, nz", Array::from(std::vector<std::int64_t>{3, 4, 5}, Shape{3}));
  writer.attribute("/", "dx, dy, dz", std::vector<double>{0.1, 0.2, 0.3});
  writer.array("/rxs/rx1/Ez", Array::from(std::vector<double>{0.1, 0.2}, Shape{2}));
  writer.finish();
  const GprmaxOutput read = read_gprmax_output(path);
  EXPECT_EQ(read.cells, (XyzIndex{3, 4, 5}));
  EXPECT_EQ(read.spacing, (Xyz{0.1, 0.2, 0.3}));
  EXPECT_THAT(read.receivers[0].fields.at(Component::Ez), ElementsAre(0.1, 0.2));
  EXPECT_EQ(read.receivers[0].name, "");
}

TEST(GprmaxOutput, OtherFilesAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.out");
  const auto refused = [&](auto write) {
    Hdf5Writer writer(path);
    write(writer);
    writer.finish();
    return error_of(ErrorKind::bad_file, [&] { (void)read_gprmax_output(path); });
  };
  const auto steps = [](Hdf5Writer& writer, std::int64_t receivers) {
    writer.attribute("/", "Iterations", std::int64_t{2});
    writer.attribute("/", "dt", 1e-12);
    writer.attribute("/", "nrx", receivers);
  };
  EXPECT_EQ(refused([](Hdf5Writer&) {}), "error: " + path + ": no attribute Iterations; expected a result of gprMax");
  EXPECT_EQ(refused([](Hdf5Writer& w) { w.attribute("/", "Iterations", std::int64_t{0}); }),
            "error: " + path + ": Iterations = 0; expected a whole number of at least 1");
  EXPECT_EQ(refused([](Hdf5Writer& w) { w.attribute("/", "Iterations", std::int64_t{2}); }),
            "error: " + path + ": dt = nothing; expected seconds above 0");
  EXPECT_EQ(refused([&](Hdf5Writer& w) { steps(w, 3); }), "error: " + path + ": no receiver /rxs/rx1; expected 3");
  EXPECT_EQ(refused([&](Hdf5Writer& w) {
              steps(w, 1);
              w.array("/rxs/rx1/Ez", Array::from(std::vector<float>{1, 2, 3}, Shape{3}));
            }),
            "error: " + path + ": /rxs/rx1/Ez is f32 (3,); expected f32 or f64 of shape (2,) or (2, runs)");
  EXPECT_EQ(refused([&](Hdf5Writer& w) {
              steps(w, 1);
              w.array("/rxs/rx1/Ex", Array::from(std::vector<float>{1, 2}, Shape{2}));
              w.array("/rxs/rx1/Ez", Array::from(std::vector<float>{1, 2}, Shape{2, 1}));
            }),
            "error: " + path + ": /rxs/rx1/Ez is f32 (2, 1); expected f32 or f64 of shape (2,)");
}

TEST(EmptyOutput, HasTheComponentsAndPlacesOfARun) {
  const GprmaxModel model = make_gprmax_model(
      input_of(block + "#magnetic_dipole: z 0.02 0.02 0.02 w\n#rx: 0.01 0.02 0.03 mine Ez Hy\n#rx_steps: 0.001 0 0"));
  const GprmaxOutput made = empty_output(model, acquisition_of_run(model, 2));
  EXPECT_EQ(made.title, "A block");
  EXPECT_EQ(made.sources[0].type, "MagneticDipole");
  EXPECT_NEAR(made.receivers[0].position[0], 0.012, 1e-15);
  EXPECT_THAT(made.receivers[0].fields, SizeIs(2));
  EXPECT_THAT(made.receivers[0].fields.at(Component::Hy), SizeIs(model.iterations));
}

}  // namespace
}  // namespace sonde::maxwell
