// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/netcdf_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "sonde/engine/io/netcdf.h"
#include "sonde/engine/io/test_netcdf.h"
#include "tests/support/child.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Contents small() {
  Contents contents;
  contents.attribute("title", "two radii");
  contents.attribute("whole", std::int64_t{-3});
  contents.attribute("real", 0.25);
  contents.add("rho", {"rho"}, Array::from<double>({0.5, 0.75}, {2}));
  contents.add("d11", {"rho", "nu"}, Array::from<double>({1, 2, 3, 4, 5, 6}, {2, 3})).unit("m");
  contents.add("codes", {"nu"}, Array::from<std::int16_t>({-1, 0, 1}, {3}));
  contents.add("iota", -0.5);
  contents.add("nfp", std::int32_t{5});
  contents.add_text("input", "[surface]");
  return contents;
}

TEST(NetcdfWriter, TheLibraryReadsWhatWasWritten) {
  const testing::TemporaryFolder folder;
  write_netcdf(folder.file("2.nc"), small(), NetcdfFormat::classic);
  write_netcdf(folder.file("4.nc"), small(), NetcdfFormat::netcdf4);
  const std::string numbers = R"(codes(nu) type 3: [-1.0, 0.0, 1.0]
d11(rho, nu) type 6: [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] m
)";
  const std::string rest = R"(iota() type 6: -0.5
nfp() type 4: 5.0
rho(rho) type 6: [0.5, 0.75]
whole -3.0
real 0.25
two radii
)";
  EXPECT_EQ(testing::netcdf_python("show('2.nc'); show('4.nc')", folder.path().string()),
            numbers + "input(dim_00009) type 2: [surface]\n" + rest + numbers + "input() type 12: [surface]\n" + rest);
}

TEST(NetcdfWriter, OurReaderReadsWhatWasWritten) {
  const testing::TemporaryFolder folder;
  for (const NetcdfFormat format : {NetcdfFormat::classic, NetcdfFormat::netcdf4}) {
    write_netcdf(folder.file("x.nc"), small(), format);
    const NetcdfFile nc = NetcdfFile::open(folder.file("x.nc"));
    EXPECT_THAT(nc.numbers("d11", Shape{2, 3}), ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_EQ(nc.number("iota"), -0.5);
    EXPECT_EQ(nc.integer("nfp"), 5);
    EXPECT_EQ(nc.text("input"), "[surface]");
    EXPECT_EQ(nc.dimension("nu"), 3);
    EXPECT_EQ(nc.attribute("", "title")->text(), "two radii");
  }
}

TEST(NetcdfWriter, EqualContentsGiveEqualBytes) {
  const testing::TemporaryFolder folder;
  for (const NetcdfFormat format : {NetcdfFormat::classic, NetcdfFormat::netcdf4}) {
    write_netcdf(folder.file("a.nc"), small(), format);
    write_netcdf(folder.file("b.nc"), small(), format);
    EXPECT_EQ(testing::read_bytes(folder.file("a.nc")), testing::read_bytes(folder.file("b.nc")));
  }
}

TEST(NetcdfWriter, WhatTheClassicFormatLacksIsNotSupported) {
  const testing::TemporaryFolder folder;
  const auto refused = [&](Contents contents) {
    return testing::error_of(ErrorKind::not_supported,
                             [&] { write_netcdf(folder.file("x.nc"), contents, NetcdfFormat::classic); });
  };
  Contents wide;
  wide.add("count", {"x"}, Array::from<std::int64_t>({1}, {1}));
  EXPECT_THAT(refused(std::move(wide)), HasSubstr("variable count of type i64"));
  Contents none;
  none.add("values", {"x"}, Array(Device::cpu(), {0}, DType::f64));
  EXPECT_THAT(refused(std::move(none)), HasSubstr("dimension x has no elements"));
  Contents large;
  large.attribute("bytes", std::int64_t{1} << 40);
  EXPECT_THAT(refused(std::move(large)), HasSubstr("attribute bytes does not fit"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(NetcdfWriter, ADimensionOfTwoLengthsIsRefused) {
  const testing::TemporaryFolder folder;
  Contents contents = small();
  contents.add("x", {"rho"}, Array::from<double>({1, 2, 3}, {3}));
  for (const NetcdfFormat format : {NetcdfFormat::classic, NetcdfFormat::netcdf4})
    EXPECT_THAT(
        testing::error_of(ErrorKind::not_supported, [&] { write_netcdf(folder.file("x.nc"), contents, format); }),
        HasSubstr("dimension rho is 3 long for x and 2 for others"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(NetcdfWriter, AFullDiskLeavesNothingBehind) {
  const testing::TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  for (const NetcdfFormat format : {NetcdfFormat::classic, NetcdfFormat::netcdf4}) {
    const std::string text = testing::text_from_child([&] {
      testing::limit_file_size(200);
      write_netcdf(folder.file("x.nc"), small(), format);
      return std::string("written");
    });
    EXPECT_THAT(text, HasSubstr("x.nc"));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
}

}  // namespace
}  // namespace sonde
