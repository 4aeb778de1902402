// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/run/run_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "sonde/engine/io/npy.h"
#include "sonde/instruments/maxwell/read/native_model.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::HasSubstr;

constexpr std::size_t plenty = std::size_t{1} << 28U;

const std::string strip =
    "[model]\neps_r = 4\nsigma = 0.001\nshape = [5, 8]\nspacing = [0.1, 0.2]\n"
    "[survey]\nsources = [1, 2, 1, 5]\nreceivers = [3, 1, 3, 6]\n"
    "[source]\nf0 = 50e6\n"
    "[time]\nnt = 6\n"
    "[grid]\npml = 3\n";

std::string changed_strip(const std::string& part, const std::string& by) {
  std::string text = strip;
  return text.replace(text.find(part), part.size(), by);
}

Experiment experiment_from(const std::string& text, const FindArray& find = {}) {
  RunFile file;
  file.parse(text, "run.toml");
  return make_experiment(file, find, plenty);
}

std::string error_of_text(const std::string& text, ErrorKind kind = ErrorKind::bad_input) {
  return error_of(kind, [&] { (void)experiment_from(text); });
}

void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

void expect_same(const Experiment& a, const Experiment& b) {
  EXPECT_EQ(a.grid, b.grid);
  EXPECT_EQ(a.model.eps_r, b.model.eps_r);
  EXPECT_EQ(a.model.sigma, b.model.sigma);
  EXPECT_EQ(a.dt, b.dt);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.precision, b.precision);
  EXPECT_EQ(a.dominant_frequency, b.dominant_frequency);
  EXPECT_TRUE(a.shots == b.shots);
}

TEST(MaxwellRunFile, SaysTheSameAsANativeModel) {
  const TemporaryFolder folder;
  const Experiment said = experiment_from(strip);
  write_native_model(folder.file("model.h5"), said);
  RunFile file;
  file.model.file = folder.file("model.h5");
  expect_same(make_experiment(file, {}, plenty), said);
}

TEST(MaxwellRunFile, ReplacesWhatItNamesOfANativeModel) {
  const TemporaryFolder folder;
  write_native_model(folder.file("model.h5"), experiment_from(strip));
  RunFile file;
  file.parse("[model]\nsigma = 0.5\n[grid]\norder = 8\ndtype = \"f64\"\n", "run.toml");
  file.model.file = folder.file("model.h5");
  const Experiment made = make_experiment(file, {}, plenty);
  EXPECT_EQ(made.model.sigma.at(39), 0.5);
  EXPECT_EQ(made.grid.order, 8);
  EXPECT_EQ(made.grid.pml[0][0], 3);
  EXPECT_EQ(made.precision, Precision::f64);
}

TEST(MaxwellRunFile, ReadsArraysBesideIt) {
  const TemporaryFolder folder;
  write_npy(folder.file("eps.npy"), Array::from(std::vector<float>(40, 9.0F), {5, 8}));
  write_npy(folder.file("at.npy"), Array::from(std::vector<std::int32_t>{3, 1, 3, 6}, {2, 2}));
  std::string text = changed_strip("eps_r = 4", "eps_r = \"eps.npy\"");
  text.replace(text.find("[3, 1, 3, 6]"), 12, "\"at.npy\"");
  text.replace(text.find("shape = [5, 8]\n"), 15, "");
  write_text(folder.file("run.toml"), text);
  RunFile file;
  file.read(folder.file("run.toml"));
  const Experiment made = make_experiment(file, {}, plenty);
  EXPECT_EQ(made.model.eps_r, std::vector<double>(40, 9.0));
  EXPECT_EQ(made.shots.at(1).receivers, experiment_from(strip).shots.at(1).receivers);
}

TEST(MaxwellRunFile, TakesArraysOfTheCaller) {
  const auto array = std::make_shared<const Array>(Array::from(std::vector<double>(40, 9.0), {5, 8}));
  const FindArray find = [&](const std::string& name) { return name == "array" ? array : nullptr; };
  EXPECT_EQ(experiment_from(changed_strip("eps_r = 4", "eps_r = \"array\""), find).model.eps_r,
            std::vector<double>(40, 9.0));
}

TEST(MaxwellRunFile, WholeNumbersAreIndicesAndOthersPositions) {
  using Points = std::vector<SurveyPoint>;
  const std::string magnetic = changed_strip("[survey]\n", "[survey]\nreceiver_component = \"Hx\"\n");
  EXPECT_EQ(experiment_from(magnetic).shots[0].receivers,
            (Points{{Component::Hx, {3.5, 0, 1}}, {Component::Hx, {3.5, 0, 6}}}));
  std::string fractions = magnetic;
  fractions.replace(fractions.find("[3, 1, 3, 6]"), 12, "[3, 1, 3.25, 6]");
  EXPECT_EQ(experiment_from(fractions).shots[0].receivers,
            (Points{{Component::Hx, {3, 0, 1}}, {Component::Hx, {3.25, 0, 6}}}));
  const std::string positions =
      std::string(magnetic).replace(magnetic.find("[survey]\n"), 9, "[survey]\nlocation_unit = \"cells\"\n");
  EXPECT_EQ(experiment_from(positions).shots[0].receivers,
            (Points{{Component::Hx, {3, 0, 1}}, {Component::Hx, {3, 0, 6}}}));
}

TEST(MaxwellRunFile, TakesPlacesInPairs) {
  const Experiment made = experiment_from(changed_strip("[3, 1, 3, 6]", "[[3, 1], [3, 6]]"));
  EXPECT_TRUE(made.shots == experiment_from(strip).shots);
}

TEST(MaxwellRunFile, TakesWidthsOfLayersBySide) {
  const Experiment made = experiment_from(changed_strip("pml = 3", "pml = [0, 1, 2, 3]"));
  EXPECT_EQ(made.grid.pml, (std::array<std::array<Index, 2>, 3>{{{0, 1}, {0, 0}, {2, 3}}}));
}

TEST(MaxwellRunFile, TakesTitleAndOrigin) {
  const Experiment made =
      experiment_from(changed_strip("[model]\n", "[model]\ntitle = \"a strip\"\norigin = [1, -2]\n"));
  EXPECT_EQ(made.title, "a strip");
  EXPECT_EQ(made.origin, (std::array<double, 3>{1, 0, -2}));
}

TEST(MaxwellRunFile, ItsTextRepeatsIt) {
  RunFile file;
  file.parse(strip, "run.toml");
  expect_same(experiment_from(file.text()), experiment_from(strip));
}

TEST(MaxwellRunFile, AnExplainedFileReadsAsItIs) {
  RunFile file;
  file.parse(strip, "run.toml");
  const std::string text = commented_run_file(file);
  EXPECT_THAT(text, HasSubstr("\n# order = 4"));
  expect_same(experiment_from(text), experiment_from(strip));
}

TEST(MaxwellRunFile, AnExplainedFileHasTheStagesOfAnInversion) {
  EXPECT_THAT(commented_run_file(RunFile()), HasSubstr("\n# [[inversion.stage]]\n# fmax = "));
  RunFile file, again;
  file.parse(strip + "[[inversion.stage]]\nfmax = 60e6\n[[inversion.stage]]\niterations = 7\n", "run.toml");
  again.parse(commented_run_file(file), "again.toml");
  EXPECT_EQ(again.text(), file.text());
}

TEST(MaxwellRunFile, ItsPageNamesEveryTable) {
  const std::string page = run_file_reference();
  for (const std::string& name : RunFile().tables().names()) EXPECT_THAT(page, HasSubstr("[" + name + "]"));
}

TEST(MaxwellRunFile, NamesTheNearestKey) {
  EXPECT_THAT(error_of_text(changed_strip("spacing", "spacng"), ErrorKind::bad_file),
              HasSubstr("did you mean \"spacing\"?"));
  EXPECT_THAT(error_of_text(changed_strip("[survey]", "[surveys]"), ErrorKind::bad_file),
              HasSubstr("unknown table [surveys] in run.toml line 6; did you mean \"survey\"?"));
}

TEST(MaxwellRunFile, RefusesValuesWithTheirSetting) {
  EXPECT_EQ(error_of_text(changed_strip("f0 = 50e6", "")),
            "error: no source.f0: expected the centre frequency of the wavelet in Hz");
  EXPECT_EQ(error_of_text(changed_strip("shape = [5, 8]", "shape = [5, 8.5]")),
            "error: model.shape = \"5,8.5\": expected whole numbers");
  EXPECT_EQ(error_of_text(changed_strip("eps_r = 4", "eps_r = \"clay\"")),
            "error: model.eps_r = \"clay\": expected numbers, FILE.npy, FILE.npz or FILE.h5:DATASET");
  EXPECT_THAT(error_of_text(strip + "[storage]\ninterval = 0\n", ErrorKind::bad_file),
              HasSubstr("\"0\"; expected a number from 1 on, or auto"));
}

TEST(MaxwellRunFile, SaysHowAGradientIsStored) {
  RunFile file;
  file.parse("[storage]\nmode = \"cpu\"\ninterval = \"auto\"\nbytes_limit_host = \"1G\"\n", "run.toml");
  const StorageSettings settings = file.storage.settings();
  EXPECT_EQ(settings.mode, StorageMode::host);
  EXPECT_EQ(settings.interval, std::nullopt);
  EXPECT_EQ(settings.bytes_limit_host, std::size_t{1} << 30U);
}

}  // namespace
}  // namespace sonde::maxwell
