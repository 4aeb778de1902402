// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/native_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/instruments/maxwell/read/observed_data.h"
#include "sonde/instruments/maxwell/read/test_native.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"
#include "tests/support/places.h"

namespace sonde::maxwell {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using testing::plenty_bytes;
using testing::small_cube;
using testing::small_experiment;

void expect_equal(const Experiment& a, const Experiment& b) {
  EXPECT_EQ(a.title, b.title);
  EXPECT_EQ(a.origin, b.origin);
  EXPECT_EQ(a.grid, b.grid);
  EXPECT_EQ(a.model.eps_r, b.model.eps_r);
  EXPECT_EQ(a.model.sigma, b.model.sigma);
  EXPECT_EQ(a.model.mu_r, b.model.mu_r);
  EXPECT_EQ(a.model.location, b.model.location);
  ASSERT_EQ(a.poles.size(), b.poles.size());
  for (std::size_t p = 0; p < a.poles.size(); ++p) {
    EXPECT_EQ(a.poles[p].deps, b.poles[p].deps);
    EXPECT_EQ(a.poles[p].tau, b.poles[p].tau);
  }
  EXPECT_EQ(a.pml.grading, b.pml.grading);
  EXPECT_EQ(a.pml.sigma_factor, b.pml.sigma_factor);
  EXPECT_EQ(a.pml.kappa_max, b.pml.kappa_max);
  EXPECT_EQ(a.pml.alpha_max, b.pml.alpha_max);
  EXPECT_EQ(a.pml.alpha_min, b.pml.alpha_min);
  EXPECT_EQ(a.pml.scale, b.pml.scale);
  EXPECT_EQ(a.dominant_frequency, b.dominant_frequency);
  EXPECT_EQ(a.dt, b.dt);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.corrected, b.corrected);
  EXPECT_EQ(a.precision, b.precision);
  EXPECT_EQ(a.allow_sub_vacuum, b.allow_sub_vacuum);
  EXPECT_TRUE(a.shots == b.shots);
}

Experiment written_and_read(const Experiment& experiment) {
  const TemporaryFolder folder;
  write_native_model(folder.file("model.h5"), experiment);
  return read_native_model(folder.file("model.h5"), plenty_bytes);
}

/// The strip of small_draft() as another program would write it, with one part more or another.
std::string written_by_hand(const TemporaryFolder& folder, const std::function<void(Hdf5Writer&)>& more = {},
                            const std::string& format = native_format) {
  const std::string path = folder.file("hand.h5");
  Hdf5Writer file(path);
  file.text_attribute("/", "format", format);
  file.text_attribute("/", "title", "a strip");
  file.array("/model/eps_r", Array::from(std::vector<float>(40, 4.0F), {5, 8}));
  file.array("/model/sigma", Array::from(std::vector<double>(40, 0.001), {5, 8}));
  file.attribute("/model", "spacing", std::vector<double>{0.1, 0.2});
  file.array("/survey/source_location", Array::from(std::vector<std::int32_t>{1, 2, 1, 5}, {2, 1, 2}));
  file.array("/survey/receiver_location", Array::from(std::vector<double>{3, 1, 3, 6}, {1, 2, 2}));
  file.value("/survey/source_component", std::string("Ey"));
  file.texts("/survey/receiver_component", {"Ey", "Ey"});
  for (const char* group : {"/source", "/time", "/grid"}) file.group(group);
  file.text_attribute("/source", "wavelet", "ricker");
  file.attribute("/source", "f0", 50e6);
  file.attribute("/time", "nt", std::int64_t{6});
  file.attribute("/grid", "pml", std::int64_t{3});
  if (more) more(file);
  file.finish();
  return path;
}

std::string error_of_file(ErrorKind kind, const std::function<void(Hdf5Writer&)>& more) {
  const TemporaryFolder folder;
  const std::string path = written_by_hand(folder, more);
  const std::string text = error_of(kind, [&] { (void)read_native_model(path, plenty_bytes); });
  const std::size_t at = text.find(path);
  return at == std::string::npos ? text : std::string(text).replace(at, path.size(), "FILE");
}

TEST(NativeModel, ComesBackAsItWasWritten) {
  Experiment experiment = small_experiment();
  experiment.origin = {0.5, 0, -2};
  expect_equal(written_and_read(experiment), experiment);
}

TEST(NativeModel, ComesBackAsItWasWrittenInThreeDimensions) {
  Experiment experiment = small_cube();
  experiment.precision = Precision::f64;
  experiment.corrected = true;
  experiment.pml = tide_pml();
  experiment.allow_sub_vacuum = true;
  expect_equal(written_and_read(experiment), experiment);
}

TEST(NativeModel, ReadsWaveletsAndIndicesOfOtherPrograms) {
  const TemporaryFolder folder;
  expect_equal(read_native_model(written_by_hand(folder), plenty_bytes), small_experiment());
}

/// Files that h5py 3.7 wrote, seeds of the fuzzer.
std::string of_h5py(const std::string& name) {
  return sonde::testing::source_folder() + "/tests/corpus/native_model_fuzz/" + name;
}

TEST(NativeModel, ReadsFilesOfH5py) {
  const Experiment read = read_native_model(of_h5py("model"), plenty_bytes);
  EXPECT_EQ(read.shots.at(1).sources, (std::vector<SurveyPoint>{{Component::Ey, {1, 0, 3}}}));
  EXPECT_EQ(read.shots.at(1).receivers.at(1), (SurveyPoint{Component::Hx, {2.5, 0, 2}}));
  EXPECT_EQ(read.grid.pml[0], (std::array<Index, 2>{3, 3}));
  EXPECT_EQ(read_observed_data(of_h5py("records")).shots.at(0).receivers.at(1).component, Component::Hx);
}

TEST(NativeModel, ReadsEverythingThatItMayHold) {
  const Experiment read = read_native_model(of_h5py("model_whole"), plenty_bytes);
  EXPECT_EQ(read.poles.size(), 1U);
  EXPECT_EQ(read.origin, (std::array<double, 3>{0, 0, 1}));
  EXPECT_EQ(read.dt, 1e-10);
  EXPECT_EQ(read.precision, Precision::f64);
  EXPECT_TRUE(read.corrected);
  EXPECT_EQ(read.pml.alpha_max, 0.1);
  EXPECT_EQ(read.grid.pml[2], (std::array<Index, 2>{4, 5}));
  EXPECT_EQ(read.shots.at(0).amplitudes, (std::vector<double>{0, 1, 2, 3}));
}

TEST(NativeModel, RefusesSizesThatItsFileOnlyDeclares) {
  EXPECT_THAT(error_of(ErrorKind::bad_file, [] { (void)read_native_draft(of_h5py("huge")); }),
              ::testing::HasSubstr("/model/eps_r"));
}

TEST(NativeModel, TakesAPresetOfLayersAndChangesIt) {
  const TemporaryFolder folder;
  const std::string path = written_by_hand(folder, [](Hdf5Writer& file) {
    file.text_attribute("/grid", "pml_preset", "tide");
    file.attribute("/grid", "pml_kappa_max", 7.0);
  });
  const PmlSettings pml = read_native_model(path, plenty_bytes).pml;
  EXPECT_EQ(pml.alpha_max, tide_pml().alpha_max);
  EXPECT_EQ(pml.kappa_max, 7);
}

TEST(NativeModel, RefusesAnotherFormat) {
  const TemporaryFolder folder;
  const std::string path = written_by_hand(folder, {}, "gprMax");
  EXPECT_EQ(error_of(ErrorKind::bad_file, [&] { (void)read_native_draft(path); }),
            "error: " + path + ": format = \"gprMax\"; expected \"sonde-maxwell-1\"");
}

TEST(NativeModel, RefusesValuesOfAnotherType) {
  EXPECT_EQ(error_of_file(ErrorKind::bad_file, [](Hdf5Writer& f) { f.text_attribute("/time", "dt", "1 ps"); }),
            "error: FILE: dt of /time = 1 ps; expected a finite number");
  EXPECT_EQ(error_of_file(ErrorKind::bad_file, [](Hdf5Writer& f) { f.attribute("/grid", "order", 2.5); }),
            "error: FILE: order of /grid = 2.5; expected a whole number");
  EXPECT_EQ(error_of_file(ErrorKind::bad_file, [](Hdf5Writer& f) { f.text_attribute("/grid", "dtype", "f16"); }),
            "error: FILE: dtype of /grid = f16; expected f32 or f64");
  EXPECT_EQ(error_of_file(ErrorKind::bad_file, [](Hdf5Writer& f) { f.attribute("/grid", "dtype", 32.0); }),
            "error: FILE: dtype of /grid = 32; expected a text");
  EXPECT_EQ(error_of_file(ErrorKind::bad_file,
                          [](Hdf5Writer& f) { f.attribute("/model", "origin", std::vector<double>(7)); }),
            "error: FILE: origin of /model: 7 values; expected 1 to 6");
  EXPECT_EQ(error_of_file(ErrorKind::bad_file, [](Hdf5Writer& f) { f.text("/model/mu_r", "one"); }),
            "error: FILE, /model/mu_r: elements of type text; expected real numbers");
  EXPECT_EQ(error_of_file(ErrorKind::bad_file,
                          [](Hdf5Writer& f) {
                            f.array("/model/debye/deps", Array::from(std::vector<double>(40), {1, 5, 8}));
                            f.group("/model/debye/tau");
                          }),
            "error: FILE: no data set /model/debye/tau; did you mean \"/model/debye/deps\"?");
}

TEST(NativeModel, NamesTheFileOfWhatDoesNotFit) {
  EXPECT_EQ(error_of_file(ErrorKind::bad_input, [](Hdf5Writer& f) { f.attribute("/time", "dt", -1.0); }),
            "error: dt = -1 s: expected above 0\nwhile: reading FILE");
  EXPECT_EQ(error_of_file(ErrorKind::bad_input, [](Hdf5Writer& f) { f.attribute("/grid", "order", std::int64_t{5}); })
                    .find("\nwhile: reading FILE") != std::string::npos,
            true);
}

TEST(NativeModel, RefusesShotsOfDifferentSizesInAFile) {
  Experiment experiment = small_experiment();
  experiment.shots[1].receivers.pop_back();
  const TemporaryFolder folder;
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { write_native_model(folder.file("a.h5"), experiment); }),
            "error: shots of 2 and 1 points; a file holds as many in each");
}

TEST(NativeModel, SurvivesATruncatedFile) {
  const TemporaryFolder folder;
  std::vector<std::uint8_t> bytes = sonde::testing::read_bytes(written_by_hand(folder));
  bytes.resize(bytes.size() / 2);
  sonde::testing::write_bytes(folder.path() / "cut.h5", bytes);
  EXPECT_NE(error_of(ErrorKind::bad_file, [&] { (void)read_native_draft(folder.file("cut.h5")); }), "");
}

}  // namespace
}  // namespace sonde::maxwell
