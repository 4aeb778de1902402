// SPDX-License-Identifier: Apache-2.0
// The page that a reconstruction leaves, as a person asks for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "sonde/engine/report/json.h"
#include "tests/cli/program.h"
#include "tests/cli/ptycho_scan.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::Ended;
using ::testing::HasSubstr;
using testing::run;

class PtychoReport : public testing::OnSmallScan {
 protected:
  [[nodiscard]] std::string page(const std::string& name) const {
    const auto bytes = testing::read_bytes(file(name));
    return {bytes.begin(), bytes.end()};
  }
};

TEST_F(PtychoReport, LiesBesideTheResult) {
  write();
  ASSERT_EQ(reconstruct(run_file()).status, 0);
  EXPECT_THAT(page("result_report.html"),
              AllOf(HasSubstr("<h1>result.h5</h1>"), HasSubstr("Convergence"), HasSubstr("Diagnoses"),
                    HasSubstr("What to try next"), HasSubstr("half_data = true"), HasSubstr("</html>")));
}

TEST_F(PtychoReport, IsLeftOutWhenTheRunFileSaysSo) {
  write();
  ASSERT_EQ(reconstruct(run_file(), {"--set", "output.report=false"}).status, 0);
  EXPECT_FALSE(fs::exists(file("result_report.html")));
}

TEST_F(PtychoReport, IsMadeAgainFromTheResultAlone) {
  write();
  ASSERT_EQ(reconstruct(run_file(), {"--set", "output.report=false"}).status, 0);
  fs::remove(file("scan.h5"));
  const Ended ended = run({"ptycho", "report", file("result.h5"), "-o", file("page.html"), "--json"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(page("page.html"), HasSubstr("<h1>result.h5</h1>"));
  const Value results = parse_json(ended.out, "results");
  EXPECT_EQ(results.find("files")->items().front().as_text(), file("page.html"));
  EXPECT_GT(results.find("diagnoses")->size(), 0u);
}

TEST_F(PtychoReport, TwoHalvesOfTheDataTellTheResolution) {
  write();
  const Ended ended = reconstruct(run_file("", "scan_shape = \"8,8\"\n", 20), {"--set", "quality.half_data=true"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("halves    agree"));
  EXPECT_THAT(page("result_report.html"), HasSubstr("Fourier ring correlation of two reconstructions"));
  EXPECT_EQ(testing::python("import sys, h5py, json\n"
                            "h = json.loads(h5py.File(sys.argv[1])['diagnostics'][()])['half_data']\n"
                            "print(len(h['frequency']) == len(h['correlation']) == len(h['half_bit']), "
                            "round(h['correlation'][0], 6))\n",
                            file("result.h5")),
            "True 1.0\n");
}

TEST_F(PtychoReport, WhatIsNoResultIsRefused) {
  write();
  const Ended ended = run({"ptycho", "report", file("scan.h5")});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("not a result of ptychography"));
}

}  // namespace
}  // namespace sonde
