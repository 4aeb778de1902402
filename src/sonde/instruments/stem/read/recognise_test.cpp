// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/recognise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sonde/engine/base/error.h"
#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde::stem {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

class RefusedFiles : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(RefusedFiles, AreNamedWithARemedy) {
  SONDE_NEED_DATA(data);
  const auto [file, format] = GetParam();
  const std::string path = (data / "stem" / file).string();
  const std::string text = error_of(ErrorKind::not_supported, [&] { (void)open_source(path, {}); });
  EXPECT_THAT(text, AllOf(HasSubstr(path), HasSubstr(format), HasSubstr("hint: ")));
}

INSTANTIATE_TEST_SUITE_P(
    , RefusedFiles,
    ::testing::Values(std::pair{"merlin/Merlin_navigation4x2_ROI.zip", "a ZIP archive"},
                      std::pair{"merlin/Merlin_navigation4x2_signalNx256_ROI.zip", "a ZIP archive"},
                      std::pair{"other/map4x4.xml", "an EMPAD header, but its raw data scan_x4_y4.raw"},
                      std::pair{"other/EMPAD_v1.2.2_x32_y64_size0.8.xml", "raw data scan_x32_y64.raw"}),
    [](const auto& each) {
      std::string name = each.param.first;
      for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
      return name;
    });

/// A file of these bytes in a folder of its own.
class MadeUpFile {
 public:
  MadeUpFile(const std::string& name, const std::string& text) : path_(folder_.file(name)) {
    sonde::testing::write_bytes(path_, {text.begin(), text.end()});
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

TEST(Recognise, GoesByContentNotByName) {
  EXPECT_EQ(recognise(MadeUpFile("a.dat", "MQ1,000001,").path(), {}), ScanFormat::mib);
  EXPECT_EQ(recognise(MadeUpFile("a.dat", "\x93NUMPY").path(), {}), ScanFormat::npy);
  EXPECT_EQ(recognise(MadeUpFile("a.npy", "IMGBLO").path(), {}), ScanFormat::blo);
  EXPECT_EQ(recognise(MadeUpFile("a.dat", std::string("II*\0", 4)).path(), {}), ScanFormat::tiff);
  EXPECT_EQ(recognise(MadeUpFile("a.dat", std::string("\0\0\0\3\0\0\0\0\0\0\0\1", 12)).path(), {}), ScanFormat::dm);
  EXPECT_EQ(recognise(MadeUpFile("a.dat", std::string(208, '\0') + "MAP DD").path(), {}), ScanFormat::mrc);
  EXPECT_EQ(recognise(MadeUpFile("a", std::string(512, '\0') + "\x89HDF\r\n\x1a\n").path(), {}), ScanFormat::hdf5);
}

TEST(Recognise, RawFramesMustBeDescribed) {
  const MadeUpFile file("a.raw", std::string(100, '\0'));
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)recognise(file.path(), {}); }),
              AllOf(HasSubstr("unknown file format"), HasSubstr("--raw-shape")));
  ReadOptions options;
  options.raw_shape = {1, 1, 10, 10};
  EXPECT_EQ(recognise(file.path(), options), ScanFormat::raw);
  options = {};
  options.preset = "empad";
  EXPECT_EQ(recognise(file.path(), options), ScanFormat::empad);
  options.preset = "emapd";
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)recognise(file.path(), options); }),
              HasSubstr("unknown preset \"emapd\"; did you mean \"empad\"?"));
}

TEST(Recognise, DescriptionsOfRawFramesAreRefusedForOtherFiles) {
  ReadOptions options;
  options.raw_shape = {1, 1, 10, 10};
  EXPECT_THAT(error_of(ErrorKind::usage, [&] { (void)recognise(MadeUpFile("a.mib", "MQ1,").path(), options); }),
              HasSubstr("this file says them itself"));
}

TEST(Recognise, OtherKnownFormatsAreRefused) {
  const auto refused = [](const std::string& name, const std::string& text) {
    return error_of(ErrorKind::not_supported, [&] { (void)recognise(MadeUpFile(name, text).path(), {}); });
  };
  EXPECT_THAT(refused("a.npz", "PK\3\4"), HasSubstr("an NPZ archive"));
  EXPECT_THAT(refused("a.ser", std::string("\x49\x49\x97\x01", 4)),
              AllOf(HasSubstr("a.ser: is a TIA file (SER), which is not read"), HasSubstr(".hspy")));
  EXPECT_THAT(refused("a.seq", std::string("\xed\xfe\0\0", 4)),
              AllOf(HasSubstr("is a StreamPix sequence (SEQ)"), HasSubstr("NPY")));
  EXPECT_THAT(refused("a.tpx3", "TPX3\0"), AllOf(HasSubstr("is a stream of Timepix3 events (TPX3)"), HasSubstr("NPY")));
  EXPECT_THAT(refused("a.bin", std::string("\xff\xff\0\x55", 4)),
              AllOf(HasSubstr("is raw data of a Gatan K2 camera"), HasSubstr("LiberTEM")));
  EXPECT_THAT(refused("a.gtg", std::string("\0\0\0\3\0\0\0\0\0\0\0\1", 12)),
              AllOf(HasSubstr("is the header of raw data of a Gatan K2 camera"), HasSubstr("DM4")));
}

// Velox has the frames of a series along the last axis: rows would be taken for frames.
TEST(Recognise, ImagesOfVeloxAreRefusedAlsoWhenTheyAreNamed) {
  const TemporaryFolder folder;
  sonde::testing::python(
      "import sys, h5py\n"
      "with h5py.File(sys.argv[1], 'w') as f:\n"
      "  f['Data/Image/0f/Data'] = [[[1, 2], [3, 4]]]\n"
      "  f['Version'] = '{\"format\": \"Velox\"}'\n"
      "  f.create_group('Features'); f.create_group('Operations')\n"
      "  f['other/frames'] = [[[1, 2], [3, 4]]]\n",
      folder.file("a.emd"));
  EXPECT_THAT(
      error_of(ErrorKind::not_supported, [&] { (void)open_source(folder.file("a.emd"), {}); }),
      AllOf(HasSubstr("a.emd: is a Velox EMD file, which is not read"), HasSubstr("export the series from Velox")));
  ReadOptions options;
  for (const char* named : {"/Data/Image/0f/Data", "Data/Image/0f/Data"}) {
    options.dataset = named;
    EXPECT_THAT(error_of(ErrorKind::not_supported, [&] { (void)open_source(folder.file("a.emd"), options); }),
                HasSubstr("a.emd: is a Velox EMD file, which is not read"));
  }
  options.dataset = "/other/frames";
  EXPECT_EQ(open_source(folder.file("a.emd"), options)->acquisition().frames, 1);
}

TEST(Recognise, TheTextFileOfMerlinPointsToItsScan) {
  EXPECT_THAT(error_of(ErrorKind::bad_file, [] { (void)recognise(MadeUpFile("a.hdr", "HDR,\t\n").path(), {}); }),
              HasSubstr("name the .mib file"));
}

TEST(Recognise, FoldersAreZarrOrErrors) {
  const TemporaryFolder folder;
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)recognise(folder.path().string(), {}); }),
              HasSubstr("is a folder, but no Zarr array or group"));
  sonde::testing::write_bytes(folder.file(".zgroup"), {'{', '}'});
  EXPECT_EQ(recognise(folder.path().string(), {}), ScanFormat::zarr);
}

TEST(Recognise, MissingAndEmptyFilesAreErrors) {
  EXPECT_THAT(error_of(ErrorKind::bad_file, [] { (void)recognise("/nowhere/a.h5", {}); }), HasSubstr("no such file"));
  EXPECT_THAT(error_of(ErrorKind::bad_file, [] { (void)recognise(MadeUpFile("a.h5", "").path(), {}); }),
              HasSubstr("unknown file format"));
}

}  // namespace
}  // namespace sonde::stem
