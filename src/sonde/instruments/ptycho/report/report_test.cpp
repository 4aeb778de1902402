// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "sonde/instruments/ptycho/report/advice.h"
#include "sonde/instruments/ptycho/results/changes.h"
#include "tests/support/files.h"
#include "tests/support/python.h"

namespace sonde::ptycho {
namespace {

using sonde::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// 40 x 40 pixels of 0.5 A, 5 x 5 positions 4 px apart from [10, 10] on, two modes with 90 and 10 % of the power.
Result example(Index slices = 1, bool calibrated = true) {
  State state;
  state.object = Array(Device::cpu(), Shape{slices, 40, 40}, DType::c64);
  auto object = state.object.view<complex64, 3>();
  for (Index s = 0; s < slices; ++s)
    for (Index r = 0; r < 40; ++r)
      for (Index c = 0; c < 40; ++c)
        object(s, r, c) =
            std::polar(0.95f, 0.3f * std::sin(0.7f * static_cast<float>(r)) * std::cos(0.5f * static_cast<float>(c)));
  state.probe = Array(Device::cpu(), Shape{2, 16, 16}, DType::c64);
  for (Index i = 0; i < 256; ++i) {
    state.probe.view<complex64, 3>().data[i] = {3, 0};
    state.probe.view<complex64, 3>().data[256 + i] = {0, i % 2 == 0 ? 1.0f : -1.0f};
  }
  std::vector<Point> initial;
  for (Index r = 0; r < 5; ++r)
    for (Index c = 0; c < 5; ++c)
      initial.push_back({10 + 4.0 * static_cast<double>(r), 10 + 4.0 * static_cast<double>(c)});
  state.positions = initial;
  Sampling sampling = pixel_sampling(16, 16);
  if (calibrated) sampling = {16, 16, 0.02508, 0.125, 0.125};
  Result result = result_of(state, sampling, {0, 0}, initial, {});
  result.settings =
      "[geometry]\nenergy_keV = 200\nsemiangle_mrad = 20\n[[engine]]\nname = \"dm\"\n[[engine]]\nname = \"gd\"\n";
  result.metrics["R_I"] = {0.5, 0.3, 0.2, 0.11};
  result.metrics["R_A"] = {0.6, 0.4, 0.3, 0.2};
  result.metrics["R_free"] = {0.52, 0.33, 0.24, 0.12};
  result.metrics["dO"] = result.metrics["dP"] = {0.1, 0.01, 0.001, 0.0001};
  result.metrics["power_total"] = {1, 1.01, 1.0, 0.99};
  result.metrics["engine"] = {0, 0, 1, 1};
  result.diagnostics["R_I_floor"] = 0.1;
  result.diagnostics["outcome"] = "finished";
  return result;
}

std::string page_of(const Result& result) { return report_html(result, findings_of(result), "scan.h5"); }

TEST(ReportPage, StandsAlone) {
  const TemporaryFolder folder;
  std::ofstream(folder.file("r.html")) << page_of(example());
  // What a browser would fetch, run or not understand, by a parser that is not ours: everything that is opened is
  // closed in order, and every reference is data of its own.
  EXPECT_EQ(sonde::testing::python(
                "import sys, html.parser, base64\n"
                "void = {'meta', 'img', 'br', 'image', 'line', 'path', 'rect', 'circle'}\n"
                "class P(html.parser.HTMLParser):\n"
                "  open_, seen, outside, pictures = [], set(), [], 0\n"
                "  def handle_starttag(self, tag, attributes):\n"
                "    self.seen.add(tag)\n"
                "    if tag not in void: self.open_.append(tag)\n"
                "    for name, value in attributes:\n"
                "      if name in ('src', 'href'):\n"
                "        kind, _, data = value.partition(',')\n"
                "        ok = kind == 'data:image/png;base64' and base64.b64decode(data)[:4] == b'\\x89PNG'\n"
                "        P.pictures += ok\n"
                "        if not ok: self.outside.append(value)\n"
                "  def handle_startendtag(self, tag, attributes):\n"
                "    self.handle_starttag(tag, attributes)\n"
                "  def handle_endtag(self, tag):\n"
                "    assert self.open_ and self.open_[-1] == tag, (tag, self.open_)\n"
                "    self.open_.pop()\n"
                "p = P(); p.feed(open(sys.argv[1]).read()); p.close()\n"
                "print(p.open_, p.outside, 'script' in p.seen, 'link' in p.seen, P.pictures)\n",
                folder.file("r.html")),
            // Phase, amplitude, spectrum, two modes, aperture, the colours, and the phase below the positions.
            "[] [] False False 8\n");
}

TEST(ReportPage, NamesAndNumbersAreThoseOfTheResult) {
  Result result = example();
  result.diagnostics["warnings"].push_back("frames <17> & others");
  const std::string page = page_of(result);
  for (const char* text : {"<h1>scan.h5</h1>", "0.1100", "1.10 ×", "excellent", "0.1200", "Mode 2",
                           "10.0 % of the power", "frames &lt;17&gt; &amp; others", "energy_keV = 200"})
    EXPECT_THAT(page, HasSubstr(text));
  EXPECT_THAT(page, Not(HasSubstr("<17>")));
}

TEST(ReportPage, ShowsWhatThereIs) {
  EXPECT_THAT(page_of(example(3)), AllOf(HasSubstr("Phase of slice 1 of 3"), HasSubstr("Phase of slice 3 of 3")));
  EXPECT_THAT(page_of(example(1, false)), Not(HasSubstr("wavelength")));
  Result bare = example();
  bare.metrics.clear();
  bare.diagnostics = Value::object();
  bare.settings = "of another version [";
  EXPECT_THAT(page_of(bare), HasSubstr("</html>"));
}

TEST(ReportPage, IsWrittenOfWavesThatAreNotFinite) {
  for (const float broken : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Result result = example();
    result.probe.view<complex64, 3>().data[7] = {broken, 0};
    result.object.view<complex64, 3>().data[7] = {0, broken};
    EXPECT_THAT(page_of(result), HasSubstr("</html>"));
  }
}

TEST(ReportPage, ShowsHowTheProbeVaries) {
  Result result = example();
  EXPECT_THAT(page_of(result), Not(HasSubstr("Variation 1")));
  result.opr_modes = Array::zeros(Device::cpu(), {2, 16, 16}, DType::c64);
  result.opr_weights = Array::zeros(Device::cpu(), {25, 2}, DType::c64);
  EXPECT_THAT(page_of(result), AllOf(HasSubstr("Variation 2"), HasSubstr("How the probe varies")));
}

TEST(ReportPage, WhatIsNotFreeHasNoCurveOfItsRounding) {
  Result result = example();
  EXPECT_THAT(page_of(result), HasSubstr(">probe</text>"));
  result.metrics["dP"] = {1e-21, 0, 2e-21, 1e-21};
  EXPECT_THAT(page_of(result), Not(HasSubstr(">probe</text>")));
}

TEST(ReportPage, TellsWhichAmplitudeIsVacuumOnlyWhereOneIs) {
  Result result = example();
  EXPECT_THAT(page_of(result), HasSubstr("1 is vacuum"));
  for (Index i = 0; i < result.object.count(); ++i) static_cast<complex64*>(result.object.data())[i] *= 0.7f;
  EXPECT_THAT(page_of(result), AllOf(Not(HasSubstr("1 is vacuum")), HasSubstr("relative: a factor is shared")));
}

TEST(ReportPage, TellsWhatWasChangedWhileTheRunWorked) {
  Result result = example();
  EXPECT_THAT(page_of(result), Not(HasSubstr("Changed while the run worked")));
  result.diagnostics["changes"] = to_value(std::vector<Change>{{12, "engine.0.step", Value(0.5), Value(0.25)}});
  EXPECT_THAT(page_of(result), AllOf(HasSubstr("after iteration 12"), HasSubstr("engine.0.step from 0.5 to 0.25"),
                                     HasSubstr("with the settings of the end")));
}

TEST(ReportPage, ResolutionIsTheCrossing) {
  Result result = example();
  RingCorrelation rings;
  rings.frequency = {0, 0.25, 0.5, 0.75};
  rings.correlation = {1, 0.9, 0.6, 0.2};
  rings.half_bit = {1, 0.4, 0.4, 0.4};
  rings.pixels = {1, 6, 12, 18};
  result.diagnostics["half_data"] = rings.to_value();
  // Half-way between 0.5 and 0.75: 1 / 0.625 = 1.6.
  EXPECT_THAT(page_of(result), HasSubstr("1.6 Å"));
}

TEST(Findings, FitIsJudgedByItsFloor) {
  EXPECT_EQ(judge_fit(0.079, 0.1), Fit::below_floor);
  EXPECT_EQ(judge_fit(0.099, 0.1), Fit::excellent);
  EXPECT_EQ(judge_fit(0.125, 0.1), Fit::excellent);
  EXPECT_EQ(judge_fit(0.19, 0.1), Fit::good);
  EXPECT_EQ(judge_fit(0.21, 0.1), Fit::poor);
  EXPECT_EQ(judge_fit(0.21, 0), Fit::unknown);
}

TEST(Findings, MovementIsSplitIntoItsAffinePartAndTheRest) {
  Result result = example();
  // Everything a hundredth larger about the middle, and one position 0.5 px beside.
  for (Point& point : result.positions) point = {18 + 1.01 * (point.row - 18), 18 + 1.01 * (point.col - 18)};
  const Findings stretched = findings_of(result);
  EXPECT_NEAR(stretched.movement.affine.scale(), 1.01, 1e-9);
  EXPECT_NEAR(stretched.movement.rms_beside, 0, 1e-9);
  EXPECT_NEAR(stretched.movement.largest, 0.08 * std::sqrt(2.0), 1e-9);  // of a corner, 8 px from the middle
  result.positions[12].row += 0.5;                                       // the middle: no affine part but a shift
  EXPECT_NEAR(findings_of(result).movement.rms_beside, 0.5 * std::sqrt(24.0) / 25, 1e-9);
}

TEST(Findings, OccupanciesAreSharesOfThePower) {
  const Findings findings = findings_of(example());
  ASSERT_EQ(findings.occupancy.size(), 2u);
  EXPECT_NEAR(findings.occupancy[0], 0.9, 1e-6);
}

std::vector<std::string> advised(const Findings& findings) {
  std::vector<std::string> words;
  for (const Advice& advice : advice_for(findings)) words.push_back(advice.what);
  return words;
}

/// Nothing to complain of.
Findings fine() {
  Findings findings;
  findings.outcome = "converged";
  findings.r_intensity = 0.11;
  findings.floor = 0.1;
  findings.fit = Fit::excellent;
  findings.occupancy = {1};
  findings.half_data.emplace();
  return findings;
}

TEST(AdviceFor, NothingWhereNothingIsWrong) { EXPECT_THAT(advised(fine()), IsEmpty()); }

TEST(AdviceFor, ADivergedRunHalvesItsStepsFirst) {
  Findings findings = fine();
  findings.outcome = "diverged";
  findings.power_total = 3;
  EXPECT_EQ(advised(findings).front(), "Halve the steps of the engine");
}

TEST(AdviceFor, RisingRFreeMeansOverFitting) {
  Findings findings = fine();
  findings.r_free = 0.2;
  findings.lowest_r_free = 0.15;
  EXPECT_THAT(advised(findings), Contains("Stop earlier, or constrain more"));
  findings.r_free = 0.151;  // within noise
  EXPECT_THAT(advised(findings), IsEmpty());
}

TEST(AdviceFor, FarFromTheFloorLooksForWhatTheModelLacks) {
  Findings findings = fine();
  findings.fit = Fit::poor;
  findings.position_method = "none";
  EXPECT_THAT(advised(findings), ::testing::ElementsAre("Refine the positions", "Take more probe modes",
                                                        "Check defocus, semiangle, pixel size and orientation"));
  findings.still_falls = true;  // first let it end
  EXPECT_THAT(advised(findings), ::testing::ElementsAre("Take more iterations"));
}

TEST(AdviceFor, SuspectDiagnosesSayTheirRemedyOnce) {
  Findings findings = fine();
  findings.diagnoses = {{"streaking", 1, 0.5, Verdict::suspect, "lines", "refine the positions"},
                        {"spectral_line", 9, 3, Verdict::suspect, "a line", "refine the positions"},
                        {"checkerboard", 0, 0.05, Verdict::good, "x", "y"}};
  EXPECT_THAT(advised(findings), ::testing::ElementsAre("Refine the positions"));
  findings.position_method = "gradient";
  EXPECT_THAT(advised(findings), ::testing::ElementsAre(::testing::HasSubstr("max_move_px")));
}

TEST(AdviceFor, ProjectionsHaveNoStepToHalve) {
  Findings findings = fine();
  findings.outcome = "diverged";
  findings.engines = {"dm"};
  EXPECT_EQ(advised(findings).front(), "Let another engine continue from its best estimate");
}

}  // namespace
}  // namespace sonde::ptycho
