// SPDX-License-Identifier: Apache-2.0
// Scans that are turned and mirrored without saying so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include "sonde/engine/report/json.h"
#include "tests/cli/program.h"
#include "tests/cli/ptycho_simulated.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

using ::testing::AllOf;
using testing::Ended;
using ::testing::HasSubstr;
using testing::run;

class PtychoOrient : public testing::OnSimulatedScan {
 protected:
  /// 12 x 12 patterns, and a run file that takes them for a plain raster.
  void SetUp() override {
    ASSERT_EQ(
        simulate({"--scan-shape", "12,12", "--scan-step-A", "0.9", "--transpose", "--scan-rotation-deg", "-35"}).status,
        0);
    std::ofstream(file("run.toml")) << "[data]\nfile = \"scan.h5\"\nformat = \"plain\"\npatterns = \"data\"\n"
                                       "[geometry]\nenergy_keV = 200\ndetector_mrad_per_px = 3.75\n"
                                       "semiangle_mrad = 20\nscan_step_A = 0.9\n[probe]\ndefocus_A = 140\n";
  }
  [[nodiscard]] static Ended orient(const std::string& input, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"ptycho", "orient", input});
    return run(more);
  }
};

using PtychoOrientWrongInput = PtychoOrient;

TEST_F(PtychoOrient, FindsTheOrientationAndItsLinesRun) {
  const Ended ended = orient(file("run.toml"), {"--json"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Value found = parse_json(ended.out, "output");
  EXPECT_TRUE(found.find("transpose")->as_bool());
  // Three degrees move the corner of the scan, 7 A from its middle, by 0.4 A: less than half a step.
  EXPECT_NEAR(number_at(found, "scan_rotation_deg"), -35, 3);
  EXPECT_TRUE(found.find("clear")->as_bool());
  EXPECT_GE(found.find("trials")->size(), 11u);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("least curl at"), HasSubstr("rank"),
                               HasSubstr("for the run file:\n[geometry]\n"
                                         "transpose = true\n")));
  // With the lines that it gives the reconstruction is better than without.
  const auto last_r = [&](const std::vector<std::string>& set) {
    std::vector<std::string> words{"ptycho", "run", file("full.toml"), "-o", file("result.h5"), "--json"};
    for (const std::string& each : set) words.insert(words.end(), {"--set", each});
    const Ended done = run(words);
    EXPECT_EQ(done.status, 0) << done.err;
    return number_at(*parse_json(done.out, "output").find("metrics"), "R_I");
  };
  std::ifstream start(file("run.toml"));
  std::ofstream(file("full.toml")) << start.rdbuf() << "[[engine]]\nname = \"gd\"\niterations = 20\n"
                                   << "[stop]\nrule = \"off\"\n[output]\npictures = false\n";
  const double with = last_r({"geometry.transpose=true",
                              "geometry.scan_rotation_deg=" + std::to_string(number_at(found, "scan_rotation_deg"))});
  EXPECT_LT(with, 0.7 * last_r({}));
}

TEST_F(PtychoOrient, AFileThatSaysItsPositionsIsFoundStraight) {
  const Ended ended = orient(file("scan.h5"), {"--json"});
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Value found = parse_json(ended.out, "output");
  EXPECT_FALSE(found.find("transpose")->as_bool());
  EXPECT_NEAR(std::remainder(number_at(found, "scan_rotation_deg"), 360), 0, 3);
  const Ended rough = orient(file("scan.h5"), {"--json", "--no-refine", "--iterations", "3"});
  EXPECT_EQ(parse_json(rough.out, "output").find("trials")->size(), 8u);
}

TEST_F(PtychoOrientWrongInput, IsNamedWithItsStatus) {
  testing::python(
      "import sys, h5py, numpy as np\nwith h5py.File(sys.argv[1] + '/other.h5', 'w') as f:\n"
      "  f['a'] = np.ones((2, 2))\n",
      folder_.path().string());
  std::ofstream(file("broken.toml")) << "[data]\nfile = \"scan.h5\"\n[geometri]\n";
  struct Case {
    std::string input;
    std::vector<std::string> more;
    int status;
    const char* text;
  };
  for (const Case& c : {
           Case{file("nothing.h5"), {}, 3, "nothing.h5"},
           Case{file("nothing.toml"), {}, 3, "nothing.toml"},
           Case{file("other.h5"), {"--set", "data.format=plain"}, 3, "no data set of three or four dimensions"},
           Case{file("run.toml"), {"--set", "data.patterns=dta"}, 3, "no data set \"dta\""},
           Case{file("scan.h5"),
                {"--set", "data.format=plain", "--set", "data.patterns=data"},
                3,
                "energy_keV and detector_mrad_per_px (or detector_inv_A_per_px) are missing"},
           Case{file("broken.toml"), {}, 3, "unknown table [geometri]"},
           Case{file("run.toml"), {"--set", "geometry.energy=2"}, 2, "energy"},
           Case{file("run.toml"), {"--rotation-deg", "left"}, 2, "\"left\" is not an angle"},
           Case{file("run.toml"), {"--scan", "2"}, 2, "--scan"},
           Case{file("run.toml"), {"--memory", "64k"}, 4, "needs"},
           Case{file("run.toml"), {"--config", file("run.toml")}, 2, "named twice"},
       }) {
    SCOPED_TRACE(c.text);
    const Ended ended = orient(c.input, c.more);
    EXPECT_EQ(ended.status, c.status) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(c.text));
  }
}

}  // namespace
}  // namespace sonde
