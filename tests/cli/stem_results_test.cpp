// SPDX-License-Identifier: Apache-2.0
// Images, records and conversions as a user makes them; what is written is read back by other programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

#include "sonde/engine/io/npy.h"
#include "sonde/engine/io/tiff.h"
#include "tests/cli/stem.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::at;
using ::testing::ElementsAre;
using testing::Ended;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::json_of;
using testing::make_small_scan;
using testing::names_in;
using testing::read_bytes;
using testing::run;
using testing::small_scan;
using testing::TemporaryFolder;
using testing::whole_numbers;

/// A command that must succeed.
void done(std::vector<std::string> arguments) {
  arguments.push_back("--quiet");
  const Ended ended = run(arguments);
  EXPECT_EQ(ended.status, 0) << ended.err;
}

bool equal(const Array& a, const Array& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() && a.count() > 0 &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.count()) * size_bytes(a.dtype())) == 0;
}

/// A script in Debian's Python; HDF5 finds the packaged bitshuffle plugin.
std::string python(const std::string& script, const std::string& argument) {
  return testing::python(
      "import os\nos.environ['HDF5_PLUGIN_PATH'] = '/usr/lib/x86_64-linux-gnu/hdf5/serial/plugins'\n"
      "import sys, h5py, numpy as np\n" +
          script,
      argument);
}

class OnSmallScan : public ::testing::Test {
 protected:
  [[nodiscard]] std::string out(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] Array npy(const std::string& name) const { return read_npy(folder_.file(name)); }

  TemporaryFolder folder_;
  std::string master_ = make_small_scan(folder_);
};

// ---- Images
// ----------------------------------------------------------------------------------------------------------

using Images = OnSmallScan;

TEST_F(Images, HoldTheSameIntegersFromEveryLayout) {
  const std::vector<std::string> detectors = {"bf", "haadf", "annulus(auto,auto,3,9) & !rect(0,0,16,40)",
                                              "segment(auto,auto,2,12,1,4)"};
  for (std::size_t i = 0; i < detectors.size(); ++i) {
    SCOPED_TRACE(detectors[i]);
    for (const char* layout : {"pixel", "frame", "compressed", "file"}) {
      const std::string name = std::to_string(i) + layout + ".npy";
      done({"stem", "image", master_, "-d", detectors[i], "--layout", layout, "-o", out(name)});
      EXPECT_TRUE(equal(npy(name), npy(std::to_string(i) + "pixel.npy"))) << layout;
    }
  }
}

TEST_F(Images, AreSumsOfTheElementsThatConvertWrites) {
  done({"stem", "convert", master_, out("all.npy"), "--hot-pixels", "zero"});  // as an image leaves them out
  done({"stem", "image", master_, "-d", "rect(4,6,20,30)", "-o", out("rect.npy")});
  done({"stem", "image", master_, "-d", "com-col", "-o", out("com.npy")});
  EXPECT_EQ(python(R"(
os.chdir(sys.argv[1])
a = np.load('all.npy').astype(np.int64)
print((a[:, :, 4:20, 6:30].sum((2, 3)) == np.load('rect.npy')).all())
com = (a * np.arange(40)).sum((2, 3)) / a.sum((2, 3))
print(np.abs(com - np.load('com.npy')).max() < 1e-12)  # two roundings of numbers below 40
)",
                   folder_.path().string()),
            "True\nTrue\n");
}

TEST_F(Images, BinsOfTheDetectorKeepEveryCount) {
  for (const char* bin : {"1", "2", "3", "5"}) {
    done({"stem", "image", master_, "-d", "all", "--det-bin", bin, "-o", out(std::string("b") + bin + ".npy")});
    EXPECT_TRUE(equal(npy(std::string("b") + bin + ".npy"), npy("b1.npy"))) << bin;
  }
}

TEST_F(Images, SeveralDetectorsGoIntoAFolderFromOneLoad) {
  const Value made =
      json_of({"stem", "image", master_, "-d", "bf", "-d", "adf", "-d", "com-row", "-o", out("images/")});
  EXPECT_EQ(at(made, {"images"}).size(), 3u);
  EXPECT_THAT(names_in(folder_.path() / "images"), ElementsAre("scan_adf.json", "scan_adf.tif", "scan_bf.json",
                                                               "scan_bf.tif", "scan_com-row.json", "scan_com-row.tif"));
}

TEST_F(Images, TiffHoldsTheCountsAndThePixelSize) {
  done({"stem", "image", master_, "-d", "bf", "-o", out("a.npy")});
  done({"stem", "image", master_, "-d", "bf", "-o", out("a.tif")});
  const Array exact = npy("a.npy"), tiff = read_tiff(out("a.tif"));
  ASSERT_EQ(tiff.shape(), exact.shape());
  for (Index p = 0; p < exact.count(); ++p)
    ASSERT_EQ(static_cast<const std::uint32_t*>(tiff.data())[p], static_cast<const std::uint64_t*>(exact.data())[p]);
  const auto bytes = read_bytes(out("a.tif"));
  EXPECT_THAT(std::string(bytes.begin(), bytes.end()), HasSubstr("unit=nm"));  // the simulated step is 0.5 nm
}

TEST_F(Images, JsonTellsExactTotals) {
  const Value made = json_of({"stem", "image", master_, "-d", "all"});
  const Value loaded = json_of({"stem", "load", master_});
  EXPECT_EQ(at(at(made, {"images"}).items().at(0), {"total"}).as_whole(), at(loaded, {"total"}).as_whole());
}

TEST_F(Images, WithoutALoadAreThoseOfALoad) {
  for (const char* detector : {"bf", "haadf", "rect(3,5,20,31)"}) {
    SCOPED_TRACE(detector);
    const Value once = json_of({"stem", "image", master_, "-d", detector, "-o", out("once.npy")});
    const Value loaded =
        json_of({"stem", "image", master_, "-d", detector, "--hot-pixels", "zero", "-o", out("loaded.npy")});
    EXPECT_TRUE(equal(npy("once.npy"), npy("loaded.npy")));
    const Value record = read_json(out("once.json"));
    EXPECT_EQ(at(record, {"choices"}).items().at(0).find("value")->as_text(),
              "way to the images: one pass over the frames");
    EXPECT_EQ(at(record, {"load", "hot_pixels"}).as_text(), "sampled");
    EXPECT_EQ(at(record, {"detector", "computed_from"}).as_text(), "bit planes");
    EXPECT_EQ(at(record, {"input", "hash"}).as_text(), at(read_json(out("loaded.json")), {"input", "hash"}).as_text());
    for (const char* fate : {"stored", "kept", "masked", "hot", "cut", "frames_read", "masked_no_data"})
      EXPECT_EQ(at(once, {"ledger", fate}).as_whole(), at(loaded, {"ledger", fate}).as_whole()) << fate;
    done({"stem", "image", "--from", out("once.json"), "-o", out("again.npy")});
    EXPECT_TRUE(equal(npy("once.npy"), npy("again.npy")));
    EXPECT_EQ(read_bytes(out("once.json")), read_bytes(out("again.json")));
  }
}

TEST_F(Images, CalibrationGivenByTheUserIsRecordedAsSuch) {
  done({"stem", "image", master_, "-d", "bf", "-o", out("a.tif"), "--voltage", "300", "--scan-step", "0.25"});
  const Value record = read_json(out("a.json"));
  EXPECT_EQ(at(record, {"calibration", "high_tension_v", "value"}).as_real(), 300e3);
  EXPECT_EQ(at(record, {"calibration", "high_tension_v", "from"}).as_text(), "user");
  EXPECT_EQ(at(record, {"calibration", "camera_length_m", "from"}).as_text(), "file");
}

// ---- Repetition
// ------------------------------------------------------------------------------------------------------

using Repetition = OnSmallScan;

TEST_F(Repetition, GivesTheSameFileBitForBit) {
  for (const char* ending : {"tif", "npy", "png", "h5"})
    for (const char* detector : {"haadf", "com-row"}) {
      SCOPED_TRACE(std::string(detector) + "." + ending);
      const std::string first = out(std::string("first.") + ending), again = out(std::string("again.") + ending);
      done({"stem", "image", master_, "-d", detector, "--det-bin", "2", "--scan-region", "1,11,0,9", "-o", first});
      done({"stem", "image", "--from", out("first.json"), "-o", again});
      EXPECT_FALSE(read_bytes(first).empty());
      EXPECT_EQ(read_bytes(first), read_bytes(again));
      EXPECT_EQ(read_bytes(out("first.json")), read_bytes(out("again.json")));
    }
}

TEST_F(Repetition, OfWeightedSumsGoesTheSameWay) {
  for (const char* layout : {"pixel", "frame", "compressed"}) {
    done({"stem", "image", master_, "-d", "bf", "--antialias", "--layout", layout, "-o", out("first.npy")});
    done({"stem", "image", "--from", out("first.json"), "-o", out("again.npy")});
    EXPECT_TRUE(equal(npy("first.npy"), npy("again.npy"))) << layout;
  }
}

TEST_F(Repetition, FollowsAScanThatWasMoved) {
  done({"stem", "image", master_, "-d", "adf", "-o", out("first.npy")});
  fs::create_directory(folder_.path() / "archive");
  for (const std::string& name : names_in(folder_.path()))
    if (name.starts_with("scan")) fs::rename(folder_.path() / name, folder_.path() / "archive" / name);
  EXPECT_EQ(run({"stem", "image", "--from", out("first.json"), "-o", out("again.npy")}).status, 3);
  done({"stem", "image", out("archive/scan_master.h5"), "--from", out("first.json"), "-o", out("again.npy")});
  EXPECT_TRUE(equal(npy("first.npy"), npy("again.npy")));
}

TEST_F(Repetition, OfOtherDataIsRefused) {
  done({"stem", "image", master_, "-d", "adf", "-o", out("first.tif")});
  stem::SimulateOptions other = small_scan(master_);
  other.seed = 2;
  (void)stem::simulate(other);  // in place of the first
  const Ended ended = run({"stem", "image", "--from", out("first.json"), "-o", out("again.tif"), "--quiet"});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("the frames differ from those of " + out("first.json")),
                               HasSubstr("hint: the record belongs to other data")));
  EXPECT_FALSE(fs::exists(out("again.tif")));
}

TEST_F(Repetition, TakesNothingFromTheCommandLine) {
  done({"stem", "image", master_, "-d", "adf", "-o", out("first.tif")});
  const Ended ended = run({"stem", "image", "--from", out("first.json"), "-d", "bf", "-o", out("again.tif")});
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("--from takes detectors and loading from the record, but --detector is given"));
}

TEST_F(Repetition, NeedsARecord) {
  std::ofstream(out("other.json")) << R"({"schema": "sonde.report/1"})";
  const Ended ended = run({"stem", "image", "--from", out("other.json"), "-o", out("again.tif")});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("hint: give the .json that was written beside an image"));
}

// ---- Conversion
// ------------------------------------------------------------------------------------------------------

using Conversion = OnSmallScan;

TEST_F(Conversion, ThroughTheArinaLayoutKeepsEveryElement) {
  done({"stem", "convert", master_, out("direct.npy")});
  done({"stem", "convert", master_, out("copy_master.h5")});
  done({"stem", "convert", out("copy_master.h5"), out("copy.npy")});
  EXPECT_TRUE(equal(npy("direct.npy"), npy("copy.npy")));
  done({"stem", "convert", out("direct.npy"), out("third_master.h5")});
  done({"stem", "convert", out("third_master.h5"), out("third.npy")});
  EXPECT_TRUE(equal(npy("direct.npy"), npy("third.npy")));
}

TEST_F(Conversion, FromEveryLayoutIsTheSame) {
  for (const char* layout : {"pixel", "frame", "compressed", "file"}) {
    const std::string name = std::string(layout) + ".npy";
    done({"stem", "convert", master_, out(name), "--layout", layout, "--det-bin", "2", "--scan-bin", "2"});
    EXPECT_TRUE(equal(npy(name), npy("pixel.npy"))) << layout;
  }
}

TEST_F(Conversion, TheArinaLayoutIsReadByH5pyWithThePackagedFilter) {
  done({"stem", "convert", master_, out("copy_master.h5")});
  done({"stem", "convert", master_, out("direct.npy")});
  EXPECT_EQ(python(R"(
os.chdir(sys.argv[1])
with h5py.File('copy_master.h5') as f:
    frames = np.concatenate([f['/entry/data'][k][()] for k in sorted(f['/entry/data']) if k.startswith('data_')])
print(frames.shape)
print((frames.reshape(12, 10, 32, 40) == np.load('direct.npy')).all())
)",
                   folder_.path().string()),
            "(120, 32, 40)\nTrue\n");
}

TEST_F(Conversion, EmdIsReadByH5pyWithItsAxes) {
  done({"stem", "convert", master_, out("a.emd"), "--det-bin", "2", "--scan-bin", "2"});
  done({"stem", "convert", master_, out("direct.npy"), "--det-bin", "2", "--scan-bin", "2"});
  // Steps of the simulated scan: 0.5 nm, times the scan bin; pixels of 100 um at 0.115 m are 0.8696 mrad, times the
  // bin.
  EXPECT_EQ(python(R"(
os.chdir(sys.argv[1])
def groups(name, item):
    if isinstance(item, h5py.Group) and item.attrs.get('emd_group_type') == 'array': found.append(item)
found = []
with h5py.File('a.emd') as f:
    f.visititems(groups)
    print(f.attrs['version_major'], len(found))
    g = found[0]
    print((g['data'][()] == np.load('direct.npy')).all(), g['data'].shape)
    for i, n in enumerate(g['data'].shape):
        d = g['dim%d' % i]
        units = d.attrs['units']
        step = d[1] - d[0]
        print(len(d) in (n, 2), units.decode() if isinstance(units, bytes) else units, '%.4f' % step)
)",
                   folder_.path().string()),
            "1 1\nTrue (6, 5, 16, 20)\nTrue nm 1.0000\nTrue nm 1.0000\nTrue A^-1 0.0693\nTrue A^-1 0.0693\n");
}

TEST_F(Conversion, OfFloatsKeepsWhatIsNotFinite) {
  python(R"(
os.chdir(sys.argv[1])
a = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)
a[0, 1, 2, 3], a[1, 0, 0, 0], a[1, 2, 3, 4] = np.nan, np.inf, -np.inf
np.save('floats.npy', a)
)",
         folder_.path().string());
  done({"stem", "convert", out("floats.npy"), out("same.npy")});
  EXPECT_EQ(python(R"(
os.chdir(sys.argv[1])
print(np.array_equal(np.load('floats.npy'), np.load('same.npy'), equal_nan=True))
)",
                   folder_.path().string()),
            "True\n");
}

TEST_F(Conversion, TheSimulatedCountsComeBack) {
  // The truth of the simulation holds the expected total of every pattern; the sum over 120 patterns of about 2600
  // counts deviates by a few times its square root, 559.
  const double expected = std::stod(python(R"(
with h5py.File(sys.argv[1]) as f: print(f['total'][()].sum())
)",
                                           stem::truth_path(master_)));
  EXPECT_NEAR(at(json_of({"stem", "load", master_}), {"total"}).as_real(), expected, 5 * 559);
}

TEST_F(Conversion, RegionsAndBinsAreThoseOfNumpy) {
  done({"stem", "convert", master_, out("all.npy")});
  done({"stem", "convert", master_, out("part.npy"), "--scan-region", "2,9,1,8", "--scan-bin", "3", "--det-bin", "3"});
  EXPECT_EQ(python(R"(
os.chdir(sys.argv[1])
a = np.load('all.npy').astype(np.int64)[2:9, 1:8]
pad = [(0, -n % 3) for n in a.shape]
a = np.pad(a, pad)
s = a.shape
print((a.reshape(s[0] // 3, 3, s[1] // 3, 3, s[2] // 3, 3, s[3] // 3, 3).sum((1, 3, 5, 7)) == np.load('part.npy')).all())
)",
                   folder_.path().string()),
            "True\n");
}

// ---- Summaries and series
// --------------------------------------------------------------------------------------------

TEST_F(OnSmallScan, TheSummaryHoldsTheMomentsOfTheElements) {
  done({"stem", "convert", master_, out("all.npy"), "--hot-pixels", "zero"});
  done({"stem", "load", master_, "-o", out("summary.h5")});
  EXPECT_EQ(python(R"(
os.chdir(sys.argv[1])
a = np.load('all.npy').astype(np.int64)
with h5py.File('summary.h5') as f:
    print((f['pattern/sum'][()] == a.sum((0, 1))).all(), (f['pattern/max'][()] == a.max((0, 1))).all(),
          (f['pattern/nonzero'][()] == (a > 0).sum((0, 1))).all(), (f['scan/total'][()] == a.sum((2, 3))).all(),
          (f['scan/moment_row'][()] == (a * np.arange(32)[:, None]).sum((2, 3))).all(),
          (f['scan/moment_col'][()] == (a * np.arange(40)).sum((2, 3))).all(), f['scan/valid'][()].all())
)",
                   folder_.path().string()),
            "True True True True True True True\n");
}

TEST_F(OnSmallScan, AFolderBecomesOneImagePerScan) {
  make_small_scan(folder_, "tilt_10");
  make_small_scan(folder_, "tilt_9");
  const Value made =
      json_of({"stem", "image", folder_.path().string(), "--pattern", "tilt", "--all", "-d", "bf", "-o", out("out/")});
  std::vector<std::string> scans;
  for (const Value& image : at(made, {"images"}).items())
    scans.push_back(fs::path(at(image, {"scan"}).as_text()).filename().string());
  EXPECT_THAT(scans, ElementsAre("tilt_9_master.h5", "tilt_10_master.h5"));
  EXPECT_THAT(names_in(folder_.path() / "out"),
              ElementsAre("tilt_10.json", "tilt_10.tif", "tilt_9.json", "tilt_9.tif"));
}

TEST_F(OnSmallScan, ScansOfOneNameInTwoFoldersHaveImagesOfTheirOwn) {
  fs::create_directory(out("first"));
  fs::create_directory(out("second"));
  for (const char* folder : {"first", "second"})
    done({"stem", "convert", master_, out(std::string(folder) + "/scan.npy")});
  done({"stem", "image", out("first/scan.npy"), out("second/scan.npy"), "-d", "all", "-d", "all & all", "-d",
        "all | all", "-o", out("out/")});
  std::vector<std::string> images;
  for (const std::string& name : names_in(folder_.path() / "out"))
    if (name.ends_with(".tif")) images.push_back(name);
  EXPECT_EQ(images.size(), 6u);
}

TEST_F(OnSmallScan, ScansOfASeriesHaveOneCentreAndTheirShiftsAreReported) {
  // The same scan, and itself two rows lower: the disk is 16 px wide on 32 x 40.
  python(R"(
os.chdir(sys.argv[1])
rows, cols = np.mgrid[:32, :40]
for i, row in enumerate([14, 16]):
    disk = np.where(np.hypot(rows - row, cols - 19.5) < 8, 90, 1).astype('u2')
    np.save('shift%d.npy' % i, np.tile(disk, (5, 3, 1, 1)))
print('done')
)",
         folder_.path().string());
  const std::vector<std::string> scans = {out("shift0.npy"), out("shift1.npy")};
  const Value made = json_of({"stem", "image", scans[0], scans[1], "-d", "bf", "-o", out("out/")});
  EXPECT_NEAR(at(made, {"centre", "row"}).as_real(), 15, 0.1);
  const auto& shifts = at(made, {"centre", "shifts"}).items();
  ASSERT_EQ(shifts.size(), 2u);
  EXPECT_NEAR(at(shifts[1], {"row"}).as_real() - at(shifts[0], {"row"}).as_real(), 2, 1e-6);
  const Value first = read_json(out("out/shift0.json")), second = read_json(out("out/shift1.json"));
  EXPECT_EQ(at(first, {"detector", "mask_hash"}).as_text(), at(second, {"detector", "mask_hash"}).as_text());
  EXPECT_EQ(at(second, {"detector", "centre_found", "series", "scans"}).as_whole(), 2);
  // The record of one of them repeats its image without the others.
  done({"stem", "image", "--from", out("out/shift1.json"), "-o", out("again.tif")});
  EXPECT_EQ(
      python("os.chdir(sys.argv[1])\nprint(open('again.tif','rb').read() == open('out/shift1.tif','rb').read())\n",
             folder_.path().string()),
      "True\n");
  const Value loaded = json_of({"stem", "load", scans[0], scans[1]});
  EXPECT_EQ(at(loaded, {"centre", "shifts"}).size(), 2u);
}

TEST_F(OnSmallScan, AFolderLoadsAsASeriesAndNamesWhatItSkips) {
  stem::SimulateOptions other = small_scan(out("wide_master.h5"));
  other.scan_shape = "4,5";
  (void)stem::simulate(other);
  const Value loaded = json_of({"stem", "load", folder_.path().string()});
  EXPECT_EQ(at(loaded, {"items"}).size(), 1u);
  ASSERT_EQ(at(loaded, {"skipped"}).size(), 1u);
  EXPECT_THAT(at(loaded, {"skipped"}).items().at(0).as_text(), HasSubstr("wide_master.h5: shape (4, 5, 32, 40)"));
}

TEST_F(OnSmallScan, ImagesOfASeriesAreOfOneShape) {
  stem::SimulateOptions other = small_scan(out("wide_master.h5"));
  other.scan_shape = "4,5";
  (void)stem::simulate(other);
  const Value made = json_of({"stem", "image", folder_.path().string(), "--all", "-d", "all", "-o", out("out/")});
  EXPECT_EQ(at(made, {"images"}).size(), 1u);
  ASSERT_EQ(at(made, {"skipped"}).size(), 1u);
  EXPECT_THAT(at(made, {"skipped"}).items().at(0).as_text(), HasSubstr("wide_master.h5: shape (4, 5, 32, 40)"));
  const testing::Ended named =
      testing::run({"stem", "image", out("scan_master.h5"), out("wide_master.h5"), "-d", "all", "-o", out("both/")});
  EXPECT_EQ(named.status, 3);
  EXPECT_THAT(named.err, HasSubstr("wide_master.h5: shape (4, 5, 32, 40), the series has (12, 10, 32, 40)"));
}

}  // namespace
}  // namespace sonde
