// SPDX-License-Identifier: Apache-2.0
// Faults that are put into results with NumPy, and how the command names them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

class PtychoDiagnose : public testing::OnSimulatedScan {
 protected:
  /// A reconstruction of 12 x 12 patterns.
  void reconstruct(std::vector<std::string> scan = {}, const std::vector<std::string>& settings = {}) const {
    scan.insert(scan.begin(), {"--scan-shape", "12,12", "--scan-step-A", "0.9"});
    ASSERT_EQ(simulate(scan).status, 0);
    std::vector<std::string> words = {"ptycho",          "run",   file("scan.h5"),         "-o",
                                      file("result.h5"), "--set", "engine.0.iterations=20"};
    for (const std::string& setting : settings) words.insert(words.end(), {"--set", setting});
    ASSERT_EQ(run(words).status, 0);
  }
  [[nodiscard]] Value diagnose(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"ptycho", "diagnose", file("result.h5"), "--json"});
    const Ended ended = run(more);
    EXPECT_EQ(ended.status, 0) << ended.err;
    return parse_json(ended.out, "output");
  }
  /// One diagnosis of what the command prints.
  static Value named(const Value& all, const std::string& name) {
    for (const Value& item : all.find("diagnoses")->items())
      if (text_at(item, "name") == name) return item;
    ADD_FAILURE() << "no diagnosis " << name;
    return {};
  }
};

using PtychoDiagnoseWrongInput = PtychoDiagnose;

TEST_F(PtychoDiagnose, JudgesAHealthyResult) {
  reconstruct();
  const Value found = diagnose();
  EXPECT_EQ(found.find("diagnoses")->size(), 15u);
  for (const char* name :
       {"missing_overlap", "not_finite", "checkerboard", "phase_wrap", "outside_aperture", "low_dose"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(text_at(named(found, name), "verdict"), "good");
    EXPECT_EQ(named(found, name).find("fix"), nullptr);
  }
  EXPECT_EQ(text_at(named(found, "mode_collapse"), "verdict"), "unknown");  // one mode
  EXPECT_EQ(text_at(named(found, "blurring"), "verdict"), "unknown");
  // What is beside the truth: 10^6 counts on 32 x 32 pixels, a step of 0.9 A.
  const Value& acquisition = *found.find("acquisition");
  EXPECT_NEAR(number_at(acquisition, "counts_per_frame"), 1e6, 1e4);
  EXPECT_NEAR(number_at(acquisition, "counts_per_pixel"), 1e6 / 1024, 10);
  EXPECT_NEAR(number_at(acquisition, "step"), 0.9, 1e-9);
}

TEST_F(PtychoDiagnose, NamesCauseAndRemedyOfWhatIsSuspect) {
  reconstruct();
  change("result.h5", "f['object'][0] *= np.exp(0.8j * (np.arange(f['object'].shape[2]) % 2))");
  change("result.h5", "f['object'][0, 0, 0] = np.nan; f['probe'][0, 0, 3, 4] = np.inf");
  const Value found = diagnose();
  for (const char* name : {"checkerboard", "streaking"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(text_at(named(found, name), "verdict"), "suspect");
    EXPECT_FALSE(text_at(named(found, name), "cause").empty());
    EXPECT_FALSE(text_at(named(found, name), "fix").empty());
    EXPECT_GT(number_at(named(found, name), "value"), number_at(named(found, name), "threshold"));
  }
  EXPECT_EQ(number_at(named(found, "not_finite"), "value"), 2);
  const Ended ended = run({"ptycho", "diagnose", file("result.h5")});
  EXPECT_EQ(ended.status, 0);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("streaking"), HasSubstr("SUSPECT"), HasSubstr("try:   refine the positions"),
                               HasSubstr("per detector pixel"), HasSubstr("are suspect")));
}

TEST_F(PtychoDiagnose, TellsTheDoseFromTheRun) {
  reconstruct({"--counts-per-frame", "500"});
  const Value found = diagnose();
  EXPECT_EQ(text_at(named(found, "low_dose"), "verdict"), "suspect");
  EXPECT_THAT(text_at(named(found, "low_dose"), "fix"), HasSubstr("poisson"));
}

TEST_F(PtychoDiagnose, ModesThatAreTheSameAreSeen) {
  reconstruct({}, {"probe.modes=2"});
  EXPECT_EQ(text_at(named(diagnose(), "mode_collapse"), "verdict"), "good");
  change("result.h5", "f['probe'][0, 1] = 0.3j * f['probe'][0, 0]");
  EXPECT_EQ(text_at(named(diagnose(), "mode_collapse"), "verdict"), "suspect");
}

TEST_F(PtychoDiagnose, BlurringIsToldByAnotherResult) {
  reconstruct();
  fs::copy_file(file("result.h5"), file("sharp.h5"));
  change("result.h5",
         "o = f['object'][0]; k = np.hypot(*np.meshgrid(*map(np.fft.fftfreq, o.shape), indexing='ij'))\n"
         "  f['object'][0] = np.fft.ifft2(np.fft.fft2(o) * (k < 0.15))");
  EXPECT_EQ(text_at(named(diagnose({"--before", file("sharp.h5")}), "blurring"), "verdict"), "suspect");
}

TEST_F(PtychoDiagnose, TheSemiangleCanBeGiven) {
  reconstruct();
  // A tenth of the true angle: most of the probe's power is outside.
  EXPECT_EQ(text_at(named(diagnose({"--semiangle-mrad", "2"}), "outside_aperture"), "verdict"), "suspect");
}

TEST_F(PtychoDiagnose, ResultsOfOtherOriginAreJudgedByWhatTheyHold) {
  reconstruct();
  change("result.h5", "del f['diagnostics'], f['metrics']['R_I'], f['settings'], f['provenance'], f['run']");
  const Value found = diagnose();
  EXPECT_EQ(found.find("acquisition"), nullptr);
  for (const char* name : {"missing_overlap", "low_contrast", "outside_aperture", "low_dose", "ringing"})
    EXPECT_EQ(text_at(named(found, name), "verdict"), "unknown") << name;
  EXPECT_EQ(text_at(named(found, "checkerboard"), "verdict"), "good");
}

TEST_F(PtychoDiagnoseWrongInput, IsNamedWithItsStatus) {
  reconstruct();
  for (const std::string& name : {file("nothing.h5"), file("scan.h5"), file("result_phase.png")}) {
    const Ended ended = run({"ptycho", "diagnose", name});
    EXPECT_EQ(ended.status, 3) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr(name));
    EXPECT_EQ(run({"ptycho", "diagnose", file("result.h5"), "--before", name}).status, 3);
  }
  EXPECT_EQ(run({"ptycho", "diagnose"}).status, 2);
  EXPECT_EQ(run({"ptycho", "diagnose", file("result.h5"), "--semiangle-mrad", "0"}).status, 2);
  change("result.h5", "o = f['object'][()]; a = dict(f['object'].attrs); del f['object']; f['object'] = o[0]");
  Ended ended = run({"ptycho", "diagnose", file("result.h5")});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("/object: shape ("));
  change("result.h5", "o = f['object'][()]; del f['object']; f['object'] = o[None]; del f['positions_A']");
  ended = run({"ptycho", "diagnose", file("result.h5")});
  EXPECT_EQ(ended.status, 3);
  EXPECT_THAT(ended.err, HasSubstr("no /positions_"));
}

}  // namespace
}  // namespace sonde
