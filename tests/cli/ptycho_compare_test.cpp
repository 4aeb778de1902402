// SPDX-License-Identifier: Apache-2.0
// Results beside truths and beside each other; what they differ by is put there with NumPy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "sonde/engine/report/json.h"
#include "tests/cli/program.h"
#include "tests/cli/ptycho_simulated.h"
#include "tests/support/python.h"

namespace sonde {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::Ended;
using ::testing::HasSubstr;
using testing::run;

class PtychoCompare : public testing::OnSimulatedScan {
 protected:
  /// A scan of 8 x 8 positions with its truth, and a result on it.
  void SetUp() override {
    ASSERT_EQ(simulate({"--scan-shape", "8,8", "--scan-step-A", "0.9"}).status, 0);
    ASSERT_EQ(run({"ptycho", "run", file("scan.h5"), "-o", file("result.h5"), "--set", "engine.0.iterations=1", "--set",
                   "output.pictures=false"})
                  .status,
              0);
  }
  /// Puts exp(i truth) times `factor`, a NumPy expression of row and column indices y, x, into the result as its
  /// object.
  void put_truth(const std::string& factor) const {
    testing::python(
        "import sys, h5py, numpy as np\n"
        "s, f = h5py.File(sys.argv[1] + '/scan.h5'), h5py.File(sys.argv[1] + '/result.h5', 'r+')\n"
        "rng = np.random.default_rng(1)\n"
        "here = f['positions_A'][()] / f['object'].attrs['pixel_size_A'] - f['object'].attrs['origin_px']\n"
        "d = (s['truth/positions_px'][()] - here).mean(0)\n"
        "r = np.round(d).astype(int); assert abs(d - r).max() < 1e-6\n"
        "Y, X = f['object'].shape[1:]; y, x = np.mgrid[0:Y, 0:X]\n"
        "o = np.exp(1j * s['truth/object_phase'][0][r[0]:r[0]+Y, r[1]:r[1]+X])\n"
        "f['object'][0] = o * (" +
            factor + ")\n",
        folder_.path().string());
  }
  [[nodiscard]] Ended compare(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"ptycho", "compare", file("result.h5")});
    return run(more);
  }
  [[nodiscard]] Value numbers(std::vector<std::string> more = {}) const {
    more.insert(more.end(), {"--json", "--no-picture"});
    const Ended ended = compare(more);
    EXPECT_EQ(ended.status, 0) << ended.err;
    return parse_json(ended.out, "output");
  }
};

using PtychoCompareWrongInput = PtychoCompare;

TEST_F(PtychoCompare, ATruthWithAFactorAndARampIsTheTruth) {
  put_truth("0.7j * np.exp(0.03j * y - 0.02j * x)");
  const Value found = numbers();  // the measurement holds the truth
  // Objects are kept in single precision: phases are right to 1e-7.
  EXPECT_LT(number_at(found, "phase_rmse"), 1e-6);
  EXPECT_NEAR(number_at(found, "scale"), 1 / 0.7, 1e-6);
  EXPECT_NEAR(found.find("ramp_per_px")->items()[0].as_real(), 0.03, 1e-6);
  EXPECT_NEAR(found.find("ramp_per_px")->items()[1].as_real(), -0.02, 1e-6);
  EXPECT_TRUE(found.find("resolution_A")->is_null());
}

TEST_F(PtychoCompare, NoiseOfThePhaseIsWhatItFinds) {
  put_truth("np.exp(1j * rng.normal(0, 0.05, o.shape))");
  for (const std::vector<std::string>& named :
       {std::vector<std::string>{file("scan.h5")}, std::vector<std::string>{"--truth", file("scan.h5")}}) {
    const Value found = numbers(named);
    const double pixels = number_at(*found.find("view"), "rows") * number_at(*found.find("view"), "cols");
    // Of a normal distribution: four standard deviations of the rms, and five fitted unknowns.
    EXPECT_NEAR(number_at(found, "phase_rmse"), 0.05, 0.05 * (4 / std::sqrt(2 * pixels) + 2.5 / pixels));
    EXPECT_EQ(text_at(found, "second"), file("scan.h5"));
  }
}

TEST_F(PtychoCompare, DetailThatIsMissingLimitsTheResolution) {
  // White noise as strong as the finest details of the object are weak.
  put_truth("np.exp(1j * rng.normal(0, 0.3, o.shape))");
  const Value found = numbers();
  ASSERT_TRUE(found.find("resolution_A")->is_number());
  // Between the pixel pair, 0.42 A, and the atoms' distance, 4 A.
  EXPECT_GT(number_at(found, "resolution_A"), 0.42);
  EXPECT_LT(number_at(found, "resolution_A"), 4);
}

TEST_F(PtychoCompare, TwoResultsAreComparedAndDrawn) {
  fs::copy_file(file("result.h5"), file("other.h5"));
  put_truth("1");
  const Ended ended = compare({file("other.h5"), "-o", file("both.png")});
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("phase difference"), HasSubstr("resolution"), HasSubstr("both.png")));
  // Two rows of two panels, none narrower than 300 pixels.
  EXPECT_EQ(testing::python("import sys, struct\nd = open(sys.argv[1], 'rb').read(24)\n"
                            "w, h = struct.unpack('>II', d[16:])\nprint(d[:4] == b'\\x89PNG', w > 600, h > 600)\n",
                            file("both.png")),
            "True True True\n");
  EXPECT_EQ(compare().status, 0);
  EXPECT_TRUE(fs::exists(file("result_compare.png")));
}

TEST_F(PtychoCompareWrongInput, IsNamedWithItsStatus) {
  fs::copy_file(file("result.h5"), file("coarse.h5"));
  change("coarse.h5", "f['object'].attrs['pixel_size_A'] = [0.3, 0.3]; f['positions_A'][...] *= 0.3 / 0.209");
  fs::copy_file(file("scan.h5"), file("plain.h5"));
  change("plain.h5", "del f['truth']");
  fs::copy_file(file("scan.h5"), file("part.h5"));
  change("part.h5", "del f['truth/positions_px']");
  fs::copy_file(file("scan.h5"), file("wrong.h5"));
  change("wrong.h5",
         "p = f['truth/object_phase'][0]; a = f['truth/object_phase'].attrs['pixel_size_A']\n"
         "  del f['truth/object_phase']; f['truth/object_phase'] = p\n"
         "  f['truth/object_phase'].attrs['pixel_size_A'] = a");
  struct Case {
    std::vector<std::string> more;
    int status;
    const char* text;
  };
  for (const Case& c : {
           Case{{file("nothing.h5")}, 3, "nothing.h5"},
           Case{{file("plain.h5")}, 3, "plain.h5: no object and probe, so it is not a result"},
           Case{{"--truth", file("plain.h5")}, 3, "plain.h5: no truth in it"},
           Case{{"--truth", file("nothing.h5")}, 3, "nothing.h5"},
           Case{{"--truth", file("part.h5")}, 3, "part.h5: no /truth/positions_px"},
           Case{{"--truth", file("wrong.h5")}, 3, "/truth/object_phase: f64 of shape"},
           Case{{"--truth", file("result.h5")}, 3, "no truth in it"},
           Case{{file("coarse.h5")}, 3, "has object pixels of 0.209 x 0.209 A"},
           Case{{file("coarse.h5"), "--truth", file("scan.h5")}, 2, "both another file and --truth"},
           Case{{"-o", file("no/picture.png")}, 5, "there is no folder"},
           Case{{"-o", file("result.h5")}, 2, "result.h5: the picture is a .png"},
       }) {
    SCOPED_TRACE(c.text);
    const Ended ended = compare(c.more);
    EXPECT_EQ(ended.status, c.status) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(c.text));
  }
  EXPECT_EQ(run({"ptycho", "compare", file("nothing.h5")}).status, 3);
  EXPECT_EQ(run({"ptycho", "compare", file("scan.h5")}).status, 3);
  EXPECT_FALSE(fs::exists(file("result_compare.png")));
}

TEST_F(PtychoCompareWrongInput, WithoutATruthAnotherResultIsAskedFor) {
  change("scan.h5", "del f['truth']");
  const Ended ended = compare();
  EXPECT_EQ(ended.status, 2) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("nothing to compare with"), HasSubstr("holds no truth: name another result")));
}

}  // namespace
}  // namespace sonde
