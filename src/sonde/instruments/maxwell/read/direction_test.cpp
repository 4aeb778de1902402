// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/direction.h"

#include <gtest/gtest.h>

#include <limits>

#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/instruments/maxwell/read/test_native.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::maxwell {
namespace {

/// Reads a file with one array at `name`.
Direction direction_of(const std::string& name, const std::vector<double>& values, const Shape& shape) {
  const sonde::testing::TemporaryFolder folder;
  Hdf5Writer writer(folder.file("direction.h5"));
  writer.array("/" + name, Array::from(values, shape));
  writer.finish();
  Experiment experiment = testing::small_experiment();
  experiment.poles.assign(2, {std::vector<double>(40, 1.0), std::vector<double>(40, 1e-9)});
  return read_direction(folder.file("direction.h5"), experiment);
}

std::string error_of_direction(const std::string& name, const std::vector<double>& values, const Shape& shape) {
  const std::string text =
      sonde::testing::error_of(ErrorKind::bad_file, [&] { (void)direction_of(name, values, shape); });
  return text.substr(text.find("direction.h5"));
}

TEST(DirectionFile, GivesChangesOfTheModel) {
  std::vector<double> values(40);
  for (std::size_t i = 0; i < 40; ++i) values[i] = static_cast<double>(i) / 8;
  const Direction made = direction_of("direction/eps_r", values, {5, 8});
  EXPECT_EQ(made.model.eps_r, values);
  EXPECT_TRUE(made.model.sigma.empty());
  EXPECT_TRUE(made.sources.empty());
}

TEST(DirectionFile, GivesChangesOfPoles) {
  std::vector<double> values(80, 0.5);
  values[41] = 3;
  const Direction made = direction_of("gradient/debye/deps", values, {2, 5, 8});
  ASSERT_EQ(made.model.poles.size(), 2u);
  EXPECT_EQ(made.model.poles[1].deps[1], 3);
  EXPECT_TRUE(made.model.poles[1].tau.empty());
  EXPECT_EQ(error_of_direction("direction/debye/tau", std::vector<double>(40), {1, 5, 8}),
            "direction.h5: /direction/debye/tau: shape (1, 5, 8); expected (2, 5, 8)");
}

TEST(DirectionFile, MayBeAGradient) {
  const std::vector<double> values(12, 2.0);
  const Direction made = direction_of("gradient/source", values, {2, 1, 6});
  EXPECT_EQ(made.sources, (std::vector<std::vector<double>>(2, std::vector<double>(6, 2.0))));
}

TEST(DirectionFile, OfAnotherShapeIsRefused) {
  EXPECT_EQ(error_of_direction("direction/sigma", std::vector<double>(40), {8, 5}),
            "direction.h5: /direction/sigma: shape (8, 5); expected (5, 8)");
}

TEST(DirectionFile, OfNumbersThatAreNotFiniteIsRefused) {
  std::vector<double> values(40);
  values[3] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(error_of_direction("direction/eps_r", values, {5, 8}), "direction.h5: /direction/eps_r: element 3 is inf");
}

TEST(DirectionFile, WithoutAChangeIsRefused) {
  EXPECT_EQ(error_of_direction("direction/eps", {1}, {1}),
            "direction.h5: /direction has none of eps_r, sigma, mu_r, debye and source");
  EXPECT_EQ(error_of_direction("model/eps_r", {1}, {1}), "direction.h5: neither of the groups direction and gradient");
}

}  // namespace
}  // namespace sonde::maxwell
