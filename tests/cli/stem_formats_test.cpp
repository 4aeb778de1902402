// SPDX-License-Identifier: Apache-2.0
// Every format by every verb: a file is read the same by all of them, or refused by all with status 8 and a reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "sonde/engine/base/text.h"
#include "sonde/engine/io/npy.h"
#include "sonde/instruments/stem/view/page.h"
#include "sonde/instruments/stem/view/test_client.h"
#include "tests/cli/stem.h"
#include "tests/support/places.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

using ::testing::AllOf;
using testing::at;
using testing::Ended;
using ::testing::HasSubstr;
using testing::json_of;
using testing::TemporaryFolder;
using testing::whole_numbers;

/// One file of tests/support/stem_formats.py.
struct Case {
  std::string file, format, says;
  std::vector<std::string> flags;
  Array expected;

  [[nodiscard]] bool reads() const { return says.empty(); }
};

class EveryFormat : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    testing::python("import sys\nsys.dont_write_bytecode = True\nsys.path.insert(0, '" + testing::source_folder() +
                        "/tests/support')\nimport stem_formats\nstem_formats.write_all(sys.argv[1])\n",
                    folder_->path().string());
    cases_ = new std::vector<Case>;
    const Value listed = read_json(folder_->file("formats.json"));
    for (const Value& each : at(listed, {"formats"}).items()) {
      Case one;
      one.file = folder_->path().string() + "/" + at(each, {"file"}).as_text();
      if (const Value* says = each.find("says")) {
        one.says = says->as_text();
      } else {
        one.format = at(each, {"format"}).as_text();
        for (const Value& flag : at(each, {"flags"}).items()) one.flags.push_back(flag.as_text());
        one.expected = read_npy(folder_->file(at(each, {"expected"}).as_text()));
      }
      cases_->push_back(std::move(one));
    }
    Case arina;  // the one layout that a second program has not written here; the numbers are checked by others
    arina.file = testing::make_small_scan(*folder_);
    arina.format = "ARINA";
    const std::string npy = folder_->file("arina.npy");
    (void)json_of({"stem", "convert", arina.file, npy, "--hot-pixels", "none", "--ignore-mask"});
    const Array counts = read_npy(npy);
    arina.expected = Array(Device::cpu(), counts.shape(), DType::f64);
    for (Index i = 0; i < counts.count(); ++i) static_cast<double*>(arina.expected.data())[i] = value(counts, i);
    arina.flags = {"--ignore-mask"};
    cases_->push_back(std::move(arina));
    ASSERT_GT(cases_->size(), 30u);
  }
  static void TearDownTestSuite() {
    delete cases_;
    delete folder_;
  }

  static double value(const Array& array, Index i) {
    switch (array.dtype()) {
      case DType::u8:
        return static_cast<const std::uint8_t*>(array.data())[i];
      case DType::u16:
        return static_cast<const std::uint16_t*>(array.data())[i];
      case DType::u32:
        return static_cast<const std::uint32_t*>(array.data())[i];
      case DType::u64:
        return static_cast<double>(static_cast<const std::uint64_t*>(array.data())[i]);
      case DType::f32:
        return static_cast<const float*>(array.data())[i];
      default:
        return static_cast<const double*>(array.data())[i];
    }
  }
  /// `sonde WORDS FILE FLAGS MORE` for a file that is read.
  static std::vector<std::string> words(std::vector<std::string> words, const Case& one,
                                        const std::vector<std::string>& more = {}) {
    words.push_back(one.file);
    words.insert(words.end(), one.flags.begin(), one.flags.end());
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  /// For a file that is not: status 8, named with its reason and a remedy.
  static void expect_refused(const Case& one, std::vector<std::string> words) {
    const Ended ended = testing::run(std::move(words));
    EXPECT_EQ(ended.status, 8) << ended.err;
    EXPECT_THAT(ended.err, AllOf(HasSubstr(one.file), HasSubstr(one.says), HasSubstr("\nhint: ")));
  }
  static std::string trace(const Case& one) { return one.file + " (" + one.format + one.says + ")"; }

  static TemporaryFolder* folder_;
  static std::vector<Case>* cases_;
};
TemporaryFolder* EveryFormat::folder_ = nullptr;
std::vector<Case>* EveryFormat::cases_ = nullptr;

TEST_F(EveryFormat, ByInfo) {
  for (const Case& one : *cases_) {
    SCOPED_TRACE(trace(one));
    if (!one.reads()) {
      expect_refused(one, {"stem", "info", one.file});
      continue;
    }
    const Value info = json_of(words({"stem", "info"}, one));
    const Value& a = at(info, {"acquisition"});
    EXPECT_EQ(at(a, {"format"}).as_text(), one.format);
    EXPECT_EQ(at(a, {"scan_rows"}).as_whole(), one.expected.shape()[0]);
    EXPECT_EQ(at(a, {"scan_cols"}).as_whole(), one.expected.shape()[1]);
    EXPECT_EQ(at(a, {"rows"}).as_whole(), one.expected.shape()[2]);
    EXPECT_EQ(at(a, {"cols"}).as_whole(), one.expected.shape()[3]);
  }
}

TEST_F(EveryFormat, ByValidate) {
  for (const Case& one : *cases_) {
    SCOPED_TRACE(trace(one));
    if (!one.reads()) {
      expect_refused(one, {"stem", "validate", one.file});
      continue;
    }
    std::vector<std::string> given = words({"stem", "validate"}, one, {"--decode"});
    std::erase(given, "--ignore-mask");  // the mask changes what is made of a scan, not whether it can be read
    const Value result = json_of(given);
    EXPECT_EQ(at(at(result, {"scans"}).items().front(), {"status"}).as_text(), "ok");
  }
}

TEST_F(EveryFormat, ByLoad) {
  for (const Case& one : *cases_) {
    SCOPED_TRACE(trace(one));
    if (!one.reads()) {
      expect_refused(one, {"stem", "load", one.file});
      continue;
    }
    const Value result = json_of(words({"stem", "load"}, one, {"--hot-pixels", "none"}));
    double total = 0;
    for (Index i = 0; i < one.expected.count(); ++i) total += value(one.expected, i);
    EXPECT_EQ(at(result, {"total"}).as_real(), total);
  }
}

TEST_F(EveryFormat, ByImage) {
  for (const Case& one : *cases_) {
    SCOPED_TRACE(trace(one));
    const TemporaryFolder folder;
    const std::string output = folder.file("sums.npy");
    if (!one.reads()) {
      expect_refused(one, {"stem", "image", one.file, "-d", "all", "-o", output});
      continue;
    }
    (void)json_of(words({"stem", "image"}, one, {"-d", "all", "-o", output, "--hot-pixels", "none"}));
    const Array image = read_npy(output);
    const Index pixels = one.expected.shape()[2] * one.expected.shape()[3];
    ASSERT_EQ(image.count() * pixels, one.expected.count());
    for (Index position = 0; position < image.count(); ++position) {
      double sum = 0;
      for (Index q = 0; q < pixels; ++q) sum += value(one.expected, position * pixels + q);
      ASSERT_EQ(value(image, position), sum) << position;
    }
  }
}

TEST_F(EveryFormat, ByConvert) {
  for (const Case& one : *cases_) {
    SCOPED_TRACE(trace(one));
    const TemporaryFolder folder;
    const std::string output = folder.file("scan.npy");
    if (!one.reads()) {
      expect_refused(one, {"stem", "convert", one.file, output});
      continue;
    }
    (void)json_of(words({"stem", "convert"}, one, {output, "--hot-pixels", "none"}));
    const Array copy = read_npy(output);
    ASSERT_EQ(copy.shape(), one.expected.shape());
    for (Index i = 0; i < copy.count(); ++i) ASSERT_EQ(value(copy, i), value(one.expected, i)) << i;
  }
}

TEST_F(EveryFormat, ByView) {
  for (const Case& one : *cases_) {
    SCOPED_TRACE(trace(one));
    if (one.file.ends_with(".npz")) {  // what commands write; one of another program is no result
      const Ended refused = testing::run({"view", one.file, "--no-open"});
      EXPECT_EQ(refused.status, 3);
      EXPECT_THAT(refused.err,
                  AllOf(HasSubstr(one.file), HasSubstr("no command of sonde wrote it"), HasSubstr("\nhint: ")));
      continue;
    }
    if (!one.reads()) {
      expect_refused(one, {"view", one.file, "--no-open"});
      continue;
    }
    const Ended planned = testing::run(words({"view"}, one, {"--dry-run"}));
    EXPECT_EQ(planned.status, 0) << planned.err;
    // The page itself: loaded in the background, without a server.
    stem::ViewOptions options;
    options.watch_s = 0;
    for (std::size_t i = 0; i < one.flags.size(); ++i) {
      if (one.flags[i] == "--scan-shape") options.load.scan_shape = one.flags[i + 1];
      if (one.flags[i] == "--shape") options.load.raw_shape = one.flags[i + 1];
      if (one.flags[i] == "--raw-dtype") options.load.raw_dtype = one.flags[i + 1];
      if (one.flags[i] == "--preset") options.load.preset = one.flags[i + 1];
    }
    const panel::Page page = stem::make_page({one.file}, options, Budget(std::size_t{1} << 30, "test"));
    stem::testing::Client client(page);
    stem::testing::wait_until_loaded(client, page);
  }
}

#ifdef SONDE_WITH_PTYCHO
TEST_F(EveryFormat, AsThePatternsOfPtychography) {
  for (const Case& one : *cases_) {
    SCOPED_TRACE(trace(one));
    // Settings of raw files have no key in a run file: such a file is converted first, and the error says so.
    const bool described = std::find_if(one.flags.begin(), one.flags.end(), [](const std::string& flag) {
                             return flag == "--shape" || flag == "--preset";
                           }) != one.flags.end();
    if (described) continue;
    std::string shape;
    for (std::size_t i = 0; i + 1 < one.flags.size(); ++i)
      if (one.flags[i] == "--scan-shape") shape = "scan_shape = \"" + one.flags[i + 1] + "\"\n";
    const std::string run_file = folder_->file("run.toml"), probe_file = folder_->file("probe.npy");
    Array probe(Device::cpu(), one.reads() ? one.expected.shape().last(2) : Shape{2, 2}, DType::c128);
    std::fill_n(static_cast<complex128*>(probe.data()), probe.count(), complex128(1));
    write_npy(probe_file, probe);
    std::ofstream(run_file) << "[data]\nfile = \"" << one.file << "\"\nformat = \"stem\"\n"
                            << shape << "[geometry]\nunits = \"pixel\"\nscan_step_px = 2\n[probe]\nfile = \""
                            << probe_file << "\"\n"
                            << "[[engine]]\nname = \"gd\"\niterations = 1\n";
    const Ended ended = testing::run({"ptycho", "run", run_file, "--dry-run", "-o", folder_->file("result.h5")});
    if (one.reads()) {
      EXPECT_EQ(ended.status, 0) << ended.err;
      EXPECT_THAT(ended.err, HasSubstr(one.format));
    } else {
      EXPECT_EQ(ended.status, 8) << ended.err;
      EXPECT_THAT(ended.err, HasSubstr(one.says));
    }
  }
}
#endif

TEST(StemLoad, PrintsScanDetectorAndResultFirst) {
  const TemporaryFolder folder;
  const Ended ended = testing::run({"stem", "load", testing::make_small_scan(folder)});
  EXPECT_EQ(ended.status, 0);
  std::vector<std::string> first;
  for (const std::string& line : split(ended.err, '\n')) first.push_back(line);
  ASSERT_GT(first.size(), 8u);
  EXPECT_THAT(first[0], HasSubstr("scan_master.h5: ARINA, 120 frames in 3 files"));
  EXPECT_THAT(first[1], ::testing::StartsWith("scan      12 x 10 "));
  EXPECT_THAT(first[2], ::testing::StartsWith("detector  32 x 40 "));
  EXPECT_THAT(first[3], ::testing::StartsWith("calibration  "));
  EXPECT_THAT(first[4], ::testing::StartsWith("loaded    "));
  EXPECT_THAT(first[5], ::testing::StartsWith("exactness every count is exact"));
  EXPECT_THAT(first[6], ::testing::StartsWith("ledger    stored "));
  EXPECT_THAT(first[7], ::testing::StartsWith("centre    row "));
}

TEST(StemLoad, CalibrationOfTheUserIsInItsFirstLines) {
  const TemporaryFolder folder;
  const Ended ended = testing::run({"stem", "load", testing::make_small_scan(folder), "--voltage", "80"});
  EXPECT_THAT(ended.err, HasSubstr("80 kV (given)"));
}

TEST_F(EveryFormat, ACameraLengthOfTheUserGivesTheAngleOfAPixel) {
  // 15.5 um at 0.5 m are 0.031 mrad; the file states no unit for its camera length.
  const Ended ended =
      testing::run({"stem", "load", folder_->file("scan_000.tvips"), "--scan-shape", "3,4", "--camera-length", "0.5"});
  EXPECT_THAT(ended.err, HasSubstr("0.031 mrad per pixel (given)"));
}

}  // namespace
}  // namespace sonde
