// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/number_array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/engine/io/npy.h"
#include "sonde/engine/io/npz.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::ElementsAre;

Array three_singles() { return Array::from(std::vector<float>{1, 2, 3.5F}, {3}); }

TEST(NumberArray, ReadsNpy) {
  const TemporaryFolder folder;
  write_npy(folder.file("a.npy"), three_singles());
  const NumberArray read = read_number_file(folder.file("a.npy"));
  EXPECT_THAT(read.values, ElementsAre(1, 2, 3.5));
  EXPECT_EQ(read.shape, Shape{3});
  EXPECT_FALSE(read.integers);
}

TEST(NumberArray, ReadsTheOnlyArrayOfAnArchive) {
  const TemporaryFolder folder;
  std::vector<NamedArray> arrays;
  arrays.push_back({.name = "eps", .array = three_singles()});
  write_npz(folder.file("a.npz"), arrays);
  EXPECT_THAT(read_number_file(folder.file("a.npz")).values, ElementsAre(1, 2, 3.5));
}

TEST(NumberArray, ReadsANamedArrayOfAnArchive) {
  const TemporaryFolder folder;
  std::vector<NamedArray> arrays;
  arrays.push_back({.name = "sigma", .array = Array::from(std::vector<double>{7}, {1})});
  arrays.push_back({.name = "eps", .array = three_singles()});
  write_npz(folder.file("a.npz"), arrays);
  EXPECT_THAT(read_number_file(folder.file("a.npz") + ":eps").values, ElementsAre(1, 2, 3.5));
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)read_number_file(folder.file("a.npz")); }),
              ::testing::EndsWith("a.npz: 2 arrays; expected one, or FILE.npz:NAME"));
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)read_number_file(folder.file("a.npz") + ":epss"); }),
              ::testing::EndsWith("a.npz: no array \"epss\"; did you mean \"eps\"?"));
}

TEST(NumberArray, ReadsADataSet) {
  const TemporaryFolder folder;
  Hdf5Writer writer(folder.file("a.h5"));
  writer.array("/of/eps", Array::from(std::vector<std::int32_t>{4, 5}, {1, 2}));
  writer.text("/text", "words");
  writer.finish();
  const NumberArray read = read_number_file(folder.file("a.h5") + ":of/eps");
  EXPECT_THAT(read.values, ElementsAre(4, 5));
  EXPECT_TRUE(read.integers);
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)read_number_file(folder.file("a.h5") + ":of/epps"); }),
              ::testing::EndsWith("a.h5: no data set /of/epps; did you mean \"/of/eps\"?"));
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)read_number_file(folder.file("a.h5") + ":text"); }),
              ::testing::HasSubstr("expected real numbers"));
}

TEST(NumberArray, RefusesComplexNumbers) {
  EXPECT_EQ(
      error_of(ErrorKind::bad_input, [] { (void)numbers_of(Array::from(std::vector<complex128>{1.0}, {1}), "eps_r"); }),
      "error: eps_r: elements of type c128; expected real numbers");
}

TEST(NumberArray, ReadsNumbersInAText) {
  EXPECT_EQ(listed_numbers("4.5")->shape.rank(), 0);
  EXPECT_THAT(listed_numbers("1, 2,3")->values, ElementsAre(1, 2, 3));
  EXPECT_TRUE(listed_numbers("1, 2,3")->integers);
  EXPECT_FALSE(listed_numbers("1, 2.5")->integers);
  EXPECT_FALSE(listed_numbers("model.npy").has_value());
}

TEST(NumberArray, TakesAnArrayOfTheCaller) {
  const auto array = std::make_shared<const Array>(three_singles());
  const FindArray find = [&](const std::string& name) { return name == "array" ? array : nullptr; };
  EXPECT_THAT(given_numbers("array", "eps_r", find).values, ElementsAre(1, 2, 3.5));
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)given_numbers("clay", "eps_r", find); }),
            "error: eps_r = \"clay\": expected numbers, FILE.npy, FILE.npz or FILE.h5:DATASET");
}

}  // namespace
}  // namespace sonde::maxwell
