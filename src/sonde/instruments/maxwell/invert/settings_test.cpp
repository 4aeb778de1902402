// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/invert/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

#include "sonde/engine/options/toml.h"
#include "tests/support/errors.h"

namespace sonde::maxwell {
namespace {

using ::testing::HasSubstr;

struct ReadTables {
  InversionTables inversion;
  Tables tables;
  explicit ReadTables(std::string_view text) {
    inversion.add_to(tables);
    parse_toml(text, "fwi.toml", tables);
  }
};

TEST(InversionTables, AFileSetsUnknownsStagesAndExit) {
  const ReadTables read(
      "[inversion]\nparameters = [\"eps_r\", \"sigma\"]\neps_r_bounds = [1, 20]\nsigma_bounds = [1e-5, 0.1]\n"
      "sigma_scale = \"log\"\nevery = [2, 3]\nmisfit = \"envelope\"\nsource_estimation = \"global\"\ntv = 0.01\n"
      "exit_seconds = 90\n[[inversion.stage]]\nfmax = 60e6\niterations = 15\n[[inversion.stage]]\nband = [30e6, "
      "120e6]\n");
  const ParameterSettings parameters = read.inversion.parameters(Mode::tm2d, 1e8);
  EXPECT_TRUE(parameters.eps_r && parameters.sigma);
  EXPECT_EQ(parameters.eps_r_bounds, (std::array{1.0, 20.0}));
  EXPECT_EQ(parameters.sigma_bounds, (std::array{1e-5, 0.1}));
  EXPECT_EQ(parameters.every, (Triple{2, 1, 3}));
  EXPECT_EQ(parameters.sigma_scale, SigmaScale::logarithmic);
  EXPECT_NEAR(parameters.sigma0, 5.563e-3, 1e-6);  // 2 pi 100 MHz 8.854 pF/m
  const InversionSettings settings = read.inversion.settings();
  EXPECT_EQ(settings.misfit.kind, MisfitKind::envelope);
  EXPECT_EQ(settings.source_estimation, SourceEstimation::global);
  EXPECT_EQ(settings.regularisation.tv, 0.01);
  EXPECT_EQ(settings.exit.seconds, 90);
  ASSERT_EQ(settings.stages.size(), 2U);
  EXPECT_EQ(settings.stages[0].band, (Band{0, 60e6}));
  EXPECT_EQ(settings.stages[0].iterations, 15);
  EXPECT_EQ(settings.stages[1].band, (Band{30e6, 120e6}));
}

TEST(InversionTables, WithoutAnyKeyAreAStageOfAllFrequenciesForEpsR) {
  const ReadTables read("");
  const InversionSettings settings = read.inversion.settings(), plain;
  ASSERT_EQ(settings.stages.size(), 1U);
  EXPECT_EQ(settings.stages[0].band, Band{});
  EXPECT_EQ(settings.exit.change, plain.exit.change);
  EXPECT_TRUE(settings.illumination_damping.has_value());
  const ParameterSettings parameters = read.inversion.parameters(Mode::em3d, 0);
  EXPECT_TRUE(parameters.eps_r && !parameters.sigma);
}

TEST(InversionTables, TheTextOfTheirEchoReadsBackToIt) {
  const ReadTables read("[inversion]\nevery = 2\n[[inversion.stage]]\nfmax = 60e6\n");
  const std::string text = to_toml(read.tables.echo());
  EXPECT_EQ(to_toml(ReadTables(text).tables.echo()), text);
}

std::string tables_error(std::string_view text, double frequency = 1e8, Mode mode = Mode::tm2d) {
  const ReadTables read(text);
  return sonde::testing::error_of(ErrorKind::bad_input, [&] {
    (void)read.inversion.parameters(mode, frequency);
    (void)read.inversion.settings();
  });
}

TEST(InversionTables, ValuesThatDoNotFitAreErrors) {
  EXPECT_THAT(tables_error("[inversion]\nparameters = [\"eps\"]\n"),
              HasSubstr("inversion.parameters: \"eps\"; expected eps_r, sigma or both; did you mean \"eps_r\"?"));
  EXPECT_THAT(tables_error("[inversion]\nparameters = []\n"),
              HasSubstr("parameters: none; expected eps_r, sigma or both"));
  EXPECT_THAT(tables_error("[inversion]\neps_r_bounds = [1]\n"),
              HasSubstr("inversion.eps_r_bounds = \"1\"; expected two numbers, lowest first"));
  EXPECT_THAT(tables_error("[inversion]\nevery = [2, 2, 2]\n"),
              HasSubstr("inversion.every = \"2,2,2\"; expected whole numbers from 1 on, one or two"));
  EXPECT_THAT(tables_error("[inversion]\nevery = 1.5\n", 1e8, Mode::em3d),
              HasSubstr("inversion.every = \"1.5\"; expected whole numbers from 1 on, one or three"));
  EXPECT_THAT(tables_error("[inversion]\nparameters = [\"sigma\"]\n", 0),
              HasSubstr("inversion.sigma0: unset, and the source has no known frequency to take it from"));
  EXPECT_THAT(tables_error("[[inversion.stage]]\nfmax = 1e8\nband = [1e7, 1e8]\n"),
              HasSubstr("a stage of the inversion has fmax and band; expected one of them"));
  EXPECT_THAT(tables_error("[[inversion.stage]]\nband = [1e8, 1e7]\n"),
              HasSubstr("band 100000000 to 10000000 Hz; expected 0 <= low < high"));
}

TEST(InversionTables, UnknownKeysNameTheNearest) {
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_file, [] { ReadTables("[[inversion.stage]]\nfmx = 1e8\n"); }),
              HasSubstr("unknown key \"fmx\" in [inversion.stage] of fwi.toml line 2; did you mean \"fmax\"?"));
  EXPECT_THAT(sonde::testing::error_of(ErrorKind::bad_file, [] { ReadTables("[inversion]\nmissfit = \"l2\"\n"); }),
              HasSubstr("unknown key \"missfit\" in [inversion] of fwi.toml line 2; did you mean \"misfit\"?"));
}

}  // namespace
}  // namespace sonde::maxwell
