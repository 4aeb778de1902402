// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/observed_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <variant>

#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/instruments/maxwell/read/test_native.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using testing::small_cube;
using testing::small_experiment;

ObservedData small_data() {
  ObservedData data = empty_data(small_experiment());
  for (std::size_t i = 0; i < data.samples.size(); ++i) data.samples[i] = 0.5 * static_cast<double>(i);
  return data;
}

/// What the writer of results makes of the contents, without the room that has it.
void write(const std::string& path, const ObservedData& data, const std::function<void(Hdf5Writer&)>& more = {}) {
  Hdf5Writer file(path);
  const Contents contents = contents_of(data);
  for (const Contents::Variable& each : contents.variables())
    if (each.text)
      file.value("/" + each.name, *each.text);
    else
      file.array("/" + each.name, each.values);
  for (const auto& [name, value] : contents.attributes()) {
    const std::size_t slash = name.find('/');
    const std::string object = slash == std::string::npos ? "/" : "/" + name.substr(0, slash);
    std::visit([&, &key = name](const auto& v) { file.attribute(object, key.substr(slash + 1), v); }, value);
  }
  if (more) more(file);
  file.finish();
}

std::string error_of_data(const ObservedData& data) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.h5");
  write(path, data);
  const std::string text = error_of(ErrorKind::bad_file, [&] { (void)read_observed_data(path); });
  const std::size_t at = text.find(path);
  return at == std::string::npos ? text : std::string(text).replace(at, path.size(), "FILE");
}

void expect_round_trip(const ObservedData& data) {
  const TemporaryFolder folder;
  write(folder.file("a.h5"), data);
  const ObservedData read = read_observed_data(folder.file("a.h5"));
  EXPECT_EQ(read.title, data.title);
  EXPECT_EQ(read.mode, data.mode);
  EXPECT_EQ(read.origin, data.origin);
  for (const Axis axis : axes_of(data.mode)) EXPECT_EQ(read.spacing[dimension(axis)], data.spacing[dimension(axis)]);
  EXPECT_EQ(read.dt, data.dt);
  EXPECT_EQ(read.steps, data.steps);
  EXPECT_EQ(read.precision, data.precision);
  EXPECT_EQ(read.samples, data.samples);
  ASSERT_EQ(read.shots.size(), data.shots.size());
  for (std::size_t s = 0; s < data.shots.size(); ++s) {
    EXPECT_EQ(read.shots[s].sources, data.shots[s].sources);
    EXPECT_EQ(read.shots[s].receivers, data.shots[s].receivers);
  }
}

TEST(ObservedData, ComesBackAsItWasWritten) {
  ObservedData data = small_data();
  data.origin = {-1, 0, 2.5};
  expect_round_trip(data);
}

TEST(ObservedData, ComesBackAsItWasWrittenInDoublePrecision) {
  ObservedData data = empty_data(small_cube());
  data.precision = Precision::f64;
  data.samples[3] = 1.0 / 3;
  expect_round_trip(data);
}

TEST(ObservedData, SaysWhenTheFirstSampleOfEachComponentIs) {
  const Contents contents = contents_of(empty_data(small_cube()));  // Ey, Ez, Hx
  const double dt = small_cube().dt;
  const auto& all = contents.attributes();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [](const auto& each) { return each.first == "receivers/time_of_first_sample"; });
  ASSERT_NE(found, all.end());
  EXPECT_EQ(std::get<std::vector<double>>(found->second), (std::vector<double>{dt, dt, dt / 2}));
}

TEST(ObservedData, RefusesRecordsOfAnotherShape) {
  ObservedData data = small_data();
  for (SurveyShot& shot : data.shots) shot.receivers.pop_back();
  data.samples.resize(12);
  ObservedData other = small_data();
  const TemporaryFolder folder;
  const std::string path = folder.file("a.h5");
  {
    Hdf5Writer file(path);
    file.attribute("/", "format", std::string(native_format));
    file.array("/receivers/data", Array::from(data.samples, {6, 2, 1}));
    const SurveyLists lists = survey_lists(other.shots, other.mode);
    file.array("/survey/source_location", lists.source_location);
    file.array("/survey/receiver_location", lists.receiver_location);
    file.finish();
  }
  EXPECT_EQ(error_of(ErrorKind::bad_file, [&] { (void)read_observed_data(path); }),
            "error: " + path + ": /receivers/data: shape (6, 2, 1); expected (steps, 2, 2), those of /survey");
}

TEST(ObservedData, RefusesValuesThatAreNotFinite) {
  ObservedData data = small_data();
  data.samples[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(error_of_data(data), "error: FILE: /receivers/data [1, 1, 1] = nan; expected a finite number");
}

TEST(ObservedData, RefusesATimeStepOfZero) {
  ObservedData data = small_data();
  data.dt = 0;
  EXPECT_EQ(error_of_data(data), "error: FILE: dt of /receivers = 0; expected seconds above 0");
}

TEST(ObservedData, RefusesRecordsThatBeginAtOtherTimes) {
  ObservedData data = small_data();
  const TemporaryFolder folder;
  const std::string path = folder.file("a.h5");
  data.dt = 2e-10;
  Hdf5Writer file(path);
  file.attribute("/", "format", std::string(native_format));
  file.array("/receivers/data", Array::from(data.samples, {6, 2, 2}));
  file.attribute("/receivers", "dt", data.dt);
  file.attribute("/receivers", "time_of_first_sample", std::vector<double>{0});
  const SurveyLists lists = survey_lists(data.shots, data.mode);
  file.array("/survey/source_location", lists.source_location);
  file.array("/survey/receiver_location", lists.receiver_location);
  file.finish();
  EXPECT_EQ(error_of(ErrorKind::bad_file, [&] { (void)read_observed_data(path); }),
            "error: " + path + ": time_of_first_sample = 0; expected 2e-10 s for Ey");
}

TEST(ObservedData, RefusesModels) {
  const TemporaryFolder folder;
  write_native_model(folder.file("a.h5"), small_experiment());
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)read_observed_data(folder.file("a.h5")); }),
              ::testing::HasSubstr("a.h5: no data set /receivers/data"));
}

TEST(ObservedData, BelongsToItsExperiment) {
  EXPECT_NO_THROW(require_recorded_by(small_experiment(), small_data(), "field.h5"));
}

TEST(ObservedData, DoesNotBelongToAnotherExperiment) {
  const auto error_of_other = [](const auto& change) {
    Experiment experiment = small_experiment();
    change(experiment);
    return error_of(ErrorKind::bad_input, [&] { require_recorded_by(experiment, small_data(), "field.h5"); });
  };
  EXPECT_EQ(error_of_other([](Experiment& e) { e.steps = 7; }), "error: field.h5: nt = 6; the experiment has 7");
  EXPECT_EQ(error_of_other([](Experiment& e) { e.shots.pop_back(); }),
            "error: field.h5: shots = 2; the experiment has 1");
  EXPECT_THAT(error_of_other([](Experiment& e) { e.dt *= 2; }), ::testing::StartsWith("error: field.h5: dt = "));
  EXPECT_EQ(error_of_other([](Experiment& e) { e.shots[1].receivers.pop_back(); }),
            "error: field.h5: shot 1, receivers: 2; the experiment has 1");
  EXPECT_EQ(
      error_of_other([](Experiment& e) { e.shots[1].receivers[1].at[2] = 4; }),
      "error: field.h5: shot 1, receivers 1: Ey at [3, 0, 6] cells (z, y, x); the experiment has Ey at [3, 0, 4]");
}

}  // namespace
}  // namespace sonde::maxwell
