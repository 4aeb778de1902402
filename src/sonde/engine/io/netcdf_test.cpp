// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/netcdf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "sonde/engine/io/netcdf_classic.h"
#include "sonde/engine/io/test_netcdf.h"
#include "tests/support/child.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Files of all formats, written once by the NetCDF library.
class Netcdf : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new testing::TemporaryFolder;
    testing::netcdf_python("write('1.nc', 0); write('2.nc', 0x200); write('5.nc', 0x20); write('4.nc', 0x1000)",
                           folder_->path().string());
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static std::string file(const std::string& name) { return folder_->file(name); }

  static testing::TemporaryFolder* folder_;
};
testing::TemporaryFolder* Netcdf::folder_ = nullptr;

TEST_F(Netcdf, EveryFormatGivesWhatTheLibraryWrote) {
  for (const char* name : {"1.nc", "2.nc", "5.nc", "4.nc"}) {
    SCOPED_TRACE(name);
    const NetcdfFile nc = NetcdfFile::open(file(name));
    EXPECT_THAT(nc.numbers("a"), ElementsAre(1.5, -2.25, 1e300));
    EXPECT_EQ(nc.integer("b"), -5);
    EXPECT_EQ(nc.shape("c"), (Shape{2, 3}));
    EXPECT_EQ(nc.read("c").dtype(), DType::i16);
    EXPECT_THAT(nc.numbers("c"), ElementsAre(1, -2, 3, 4, 5, 6));
    EXPECT_THAT(nc.numbers("d", Shape{2}), ElementsAre(10, 20));
    EXPECT_THAT(nc.numbers("f"), ElementsAre(-1, 2));
    EXPECT_EQ(nc.text("e"), "ab");
    EXPECT_EQ(nc.attribute("a", "units")->text(), "tesla");
    EXPECT_EQ(nc.attribute("", "version")->integer(), 7);
    EXPECT_EQ(nc.attribute("", "pair")->printed(), "[0.5, -2]");
    EXPECT_FALSE(nc.attribute("a", "nothing"));
    EXPECT_FALSE(nc.attribute("nothing", "units"));
    EXPECT_TRUE(nc.has("c"));
    EXPECT_FALSE(nc.has("nothing"));
    EXPECT_EQ(nc.dimension("x"), 3);
  }
  EXPECT_EQ(NetcdfFile::open(file("2.nc")).dimension("t"), 2);
  EXPECT_EQ(NetcdfFile::open(file("4.nc")).dimension("t"), std::nullopt);  // unlimited: said by no data set
  EXPECT_THAT(NetcdfFile::open(file("2.nc")).variables(), ElementsAre("a", "b", "c", "d", "e", "f"));
}

TEST_F(Netcdf, WhatIsNotThereOrOfAnotherKindIsNamed) {
  for (const char* name : {"2.nc", "4.nc"}) {
    SCOPED_TRACE(name);
    const NetcdfFile nc = NetcdfFile::open(file(name));
    const auto refused = [](auto&& body) { return testing::error_of(ErrorKind::bad_file, body); };
    EXPECT_THAT(refused([&] { (void)nc.numbers("aa"); }), HasSubstr("there is no variable aa"));
    EXPECT_THAT(refused([&] { (void)nc.numbers("a", Shape{4}); }), HasSubstr("a has the shape (3,), expected (4,)"));
    EXPECT_THAT(refused([&] { (void)nc.number("a"); }), HasSubstr("a has 3 elements, expected one"));
    EXPECT_THAT(refused([&] { (void)nc.numbers("e"); }), HasSubstr("e holds text, expected numbers"));
    EXPECT_THAT(refused([&] { (void)nc.text("a"); }), HasSubstr("a holds numbers, expected text"));
  }
}

TEST_F(Netcdf, WhatIsCutOffIsAnError) {
  const std::vector<std::uint8_t> whole = testing::read_bytes(file("2.nc"));
  const std::string path = file("cut.nc");
  testing::write_bytes(path, {whole.begin(), whole.end() - 8});
  const NetcdfFile nc = NetcdfFile::open(path);
  EXPECT_THAT(nc.numbers("a"), ElementsAre(1.5, -2.25, 1e300));  // what comes before is there
  EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [&] { (void)nc.numbers("d"); }),
              HasSubstr("variable d ends at byte"));
  testing::write_bytes(path, {whole.begin(), whole.begin() + 100});
  EXPECT_THAT(testing::error_of(ErrorKind::bad_file, [&] { (void)NetcdfFile::open(path); }),
              HasSubstr("header does not end within the 100 bytes"));
}

TEST_F(Netcdf, NoPrefixAndNoSingleWrongByteOfAHeaderDoesHarm) {
  std::vector<std::uint8_t> whole = testing::read_bytes(file("5.nc"));
  const auto parse = [&](std::size_t size) {
    try {
      (void)netcdf::parse_header(std::as_bytes(std::span(whole.data(), size)), whole.size(), "x.nc");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::bad_file);
    }
  };
  for (std::size_t size = 4; size < whole.size(); ++size) parse(size);
  for (std::size_t at = 4; at < whole.size(); ++at)
    for (const int wrong : {0x00, 0x7f, 0xff}) {
      const std::uint8_t right = std::exchange(whole[at], static_cast<std::uint8_t>(wrong));
      parse(whole.size());
      whole[at] = right;
    }
}

TEST(NetcdfFile, WhatIsNoNetcdfIsRefused) {
  const testing::TemporaryFolder folder;
  const auto refused = [&](ErrorKind kind, const std::string& name) {
    return testing::error_of(kind, [&] { (void)NetcdfFile::open(folder.file(name)); });
  };
  EXPECT_THAT(refused(ErrorKind::bad_file, "absent.nc"), HasSubstr("no such file"));
  testing::write_bytes(folder.file("text.nc"), {'&', 'd', 'a', 't', 'a', 'i', 'n'});
  EXPECT_THAT(refused(ErrorKind::bad_file, "text.nc"), HasSubstr("not a NetCDF file"));
  testing::write_bytes(folder.file("empty.nc"), {});
  EXPECT_THAT(refused(ErrorKind::bad_file, "empty.nc"), HasSubstr("not a NetCDF file"));
  testing::write_bytes(folder.file("short.nc"), {'C', 'D', 'F', 1});
  EXPECT_THAT(refused(ErrorKind::bad_file, "short.nc"), HasSubstr("header does not end"));
}

TEST(NetcdfFile, EquilibriaOfOtherProgramsAreRead) {
  SONDE_NEED_DATA(data);
  const auto open = [&](const char* name) { return NetcdfFile::open((data / "neoclassical" / name).string()); };
  const NetcdfFile wout = open("wout_w7x_standardConfig.nc");  // CDF-1
  EXPECT_EQ(wout.integer("nfp"), 5);
  EXPECT_EQ(wout.text("mgrid_file").substr(0, 5), "mgrid");
  EXPECT_EQ(wout.shape("bmnc"), (Shape{99, 574}));
  EXPECT_NEAR(wout.numbers("phi").back(), -2.41862259897, 1e-10);    // data/README: -2.419
  const NetcdfFile boozmn = open("boozmn_HSX_QHS_vacuum_ns201.nc");  // NetCDF-4
  EXPECT_EQ(boozmn.integer("nfp_b"), 4);
  EXPECT_EQ(boozmn.dimension("mn_modes"), 200);
  EXPECT_NEAR(boozmn.numbers("bmnc_b", Shape{200, 200})[0], 68.156, 1e-3);
}

}  // namespace
}  // namespace sonde
