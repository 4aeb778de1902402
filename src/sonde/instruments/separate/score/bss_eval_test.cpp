// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/score/bss_eval.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/python.h"

#include "sonde/engine/math/random.h"
#include "sonde/instruments/separate/audio/audio_reader.h"

namespace sonde::separate {
namespace {

using nlohmann::json;
using sonde::testing::error_of;

struct Signals {
  Index sources = 0, samples = 0;
  std::vector<double> values{};
  [[nodiscard]] View<const double, 2> view() const { return {values.data(), sources, samples}; }
};

/// The files 0.wav and so on, the mean of their channels.
Signals files_of(const std::filesystem::path& folder, Index sources) {
  Signals read{.sources = sources};
  for (Index j = 0; j < sources; ++j) {
    const std::string path = (folder / (std::to_string(j) + ".wav")).string();
    const AudioInfo info = AudioReader(path, {}).info();
    const auto samples = AudioReader(path, {.rate = info.rate, .channels = info.channels}).read(info.frames);
    read.samples = info.frames;
    for (Index i = 0; i < info.frames; ++i) {
      double sum = 0;
      for (Index c = 0; c < info.channels; ++c)
        sum += static_cast<double>(samples[static_cast<std::size_t>(c * info.frames + i)]);
      read.values.push_back(sum / static_cast<double>(info.channels));
    }
  }
  return read;
}

/// Noise, and mixtures of it with more noise.
struct Mixtures {
  Signals references, estimates;
  Mixtures(Index sources, Index samples, double interference, double artifacts)
      : references{.sources = sources, .samples = samples}, estimates(references) {
    Random random(static_cast<std::uint64_t>(100 * sources + samples));
    for (Index i = 0; i < sources * samples; ++i) references.values.push_back(random.normal());
    for (Index j = 0; j < sources; ++j) {
      for (Index i = 0; i < samples; ++i) {
        double value = artifacts * random.normal();
        for (Index k = 0; k < sources; ++k) {
          const double gain = k == j ? 1 : interference;
          value += gain * references.view()(k, i) + (i > 3 ? gain * 0.4 * references.view()(k, i - 3) : 0);
        }
        estimates.values.push_back(value);
      }
    }
  }
};

void expect_equal(const std::vector<double>& got, const std::vector<double>& expected, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(got[i])) << what;
    else if (expected[i] < 100)  // beyond, both are rounding errors
      EXPECT_NEAR(got[i], expected[i], 1e-3) << what;
    else
      EXPECT_GT(got[i], 99) << what;
  }
}

std::vector<double> numbers(const json& list) {
  std::vector<double> values;
  for (const json& each : list) values.push_back(each.is_null() ? std::nan("") : each.get<double>());
  return values;
}

/// Python writes NaN and Infinity, which JSON does not have.
json parsed(std::string text) {
  for (const auto& [word, value] : {std::pair<std::string, std::string>{"NaN", "null"}, {"Infinity", "1e9"}})
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;) text.replace(at, word.size(), value);
  return json::parse(text);
}

json expected_of(const std::filesystem::path& folder) {
  std::ifstream file(folder / "expected.json");
  std::stringstream text;
  text << file.rdbuf();
  return parsed(text.str());
}

class PublishedBssEval : public ::testing::TestWithParam<std::pair<const char*, Index>> {};

// Stored results of the authors' Matlab toolbox.
TEST_P(PublishedBssEval, IsReproduced) {
  SONDE_NEED_DATA(data);
  const auto folder = data / "separation/bss_eval" / GetParam().first;
  const Signals references = files_of(folder / "ref", GetParam().second);
  const Signals estimates = files_of(folder / "est", GetParam().second);
  const json expected = expected_of(folder);

  const BssEval whole = bss_eval(references.view(), estimates.view(), Pairing::best);
  const json& sources = expected.at("Sources");
  expect_equal(whole.sdr_db, numbers(sources.at("Source to Distortion")), "SDR");
  expect_equal(whole.sir_db, numbers(sources.at("Source to Interference")), "SIR");
  expect_equal(whole.sar_db, numbers(sources.at("Source to Artifact")), "SAR");
  EXPECT_EQ(whole.estimates, sources.at("Source permutation").get<std::vector<Index>>());

  const json& framewise = expected.at("Framewise");
  const Frames frames{.window = framewise.at("win").get<Index>(), .hop = framewise.at("hop").get<Index>()};
  const std::vector<BssEval> found = framewise_bss_eval(references.view(), estimates.view(), frames);
  for (std::size_t j = 0; j < whole.sdr_db.size(); ++j) {
    std::vector<double> sdr, sir, sar;
    for (const BssEval& each : found) {
      sdr.push_back(each.sdr_db[j]);
      sir.push_back(each.sir_db[j]);
      sar.push_back(each.sar_db[j]);
    }
    expect_equal(sdr, numbers(framewise.at("Source to Distortion")[j]), "SDR in frames");
    expect_equal(sir, numbers(framewise.at("Source to Interference")[j]), "SIR in frames");
    expect_equal(sar, numbers(framewise.at("Source to Artifact")[j]), "SAR in frames");
  }
}

INSTANTIATE_TEST_SUITE_P(Case, PublishedBssEval,
                         ::testing::Values(std::pair{"case01", Index{2}}, std::pair{"case05", Index{3}},
                                           std::pair{"case06", Index{2}}),
                         [](const auto& each) { return each.param.first; });

/// What python3-mir-eval makes of raw doubles: references, then estimates.
json of_mir_eval(const Signals& references, const Signals& estimates) {
  const sonde::testing::TemporaryFolder folder;
  const std::string path = folder.file("signals.f64");
  std::ofstream file(path, std::ios::binary);
  for (const Signals* each : {&references, &estimates})
    file.write(reinterpret_cast<const char*>(each->values.data()),
               static_cast<std::streamsize>(each->values.size() * sizeof(double)));
  file.close();
  return parsed(
      sonde::testing::python("import sys, json, warnings, numpy as np\n"
                             "warnings.simplefilter('ignore')\n"
                             "from mir_eval.separation import bss_eval_sources\n"
                             "r, e = np.fromfile(sys.argv[1]).reshape(2, " +
                                 std::to_string(references.sources) +
                                 ", -1)\n"
                                 "print(json.dumps([x.tolist() for x in bss_eval_sources(r, e)]))\n",
                             path));
}

void expect_as_mir_eval(const Signals& references, const Signals& estimates) {
  const json expected = of_mir_eval(references, estimates);
  const BssEval found = bss_eval(references.view(), estimates.view(), Pairing::best);
  expect_equal(found.sdr_db, numbers(expected[0]), "SDR");
  expect_equal(found.sir_db, numbers(expected[1]), "SIR");
  expect_equal(found.sar_db, numbers(expected[2]), "SAR");
  EXPECT_EQ(found.estimates, expected[3].get<std::vector<Index>>());
}

struct Shape {
  const char* name;
  Index sources, samples;
  double interference, artifacts;
};

class RandomBssEval : public ::testing::TestWithParam<Shape> {};

TEST_P(RandomBssEval, IsThatOfMirEval) {
  const Shape& shape = GetParam();
  Mixtures made(shape.sources, shape.samples, shape.interference, shape.artifacts);
  // In another order, which has to be found.
  std::rotate(made.estimates.values.begin(), made.estimates.values.begin() + shape.samples,
              made.estimates.values.end());
  expect_as_mir_eval(made.references, made.estimates);
}

INSTANTIATE_TEST_SUITE_P(Shape, RandomBssEval,
                         ::testing::Values(Shape{"one", 1, 3000, 0, 0.3}, Shape{"two", 2, 4001, 0.2, 0.1},
                                           Shape{"long", 2, 20000, 0.5, 0.01}, Shape{"clean", 2, 4096, 1e-3, 1e-3}),
                         [](const auto& each) { return each.param.name; });

TEST(BssEval, ReferencesThatDependOnEachOtherAreProjectedOnOnce) {
  // The second reference is the first, 7 samples later: the normal equations are singular, the span is that of 519
  // delays of one signal, which one reference with as many taps has.
  constexpr Index samples = 3000;
  Random random(4);
  Signals references{.sources = 2, .samples = samples}, estimates = references;
  std::vector<double> noise(samples);
  for (Index i = 0; i < samples - 600; ++i) noise[static_cast<std::size_t>(i)] = random.normal();
  references.values = noise;
  for (Index i = 0; i < samples; ++i) references.values.push_back(i < 7 ? 0 : noise[static_cast<std::size_t>(i - 7)]);
  for (Index i = 0; i < 2 * samples; ++i)
    estimates.values.push_back(noise[static_cast<std::size_t>(i % samples)] + 0.1 * random.normal());
  const BssEval both = bss_eval(references.view(), estimates.view(), Pairing::given);
  const BssEval one = bss_eval({noise.data(), 1, samples}, {estimates.values.data(), 1, samples}, Pairing::given, 519);
  EXPECT_NEAR(both.sar_db[0], one.sar_db[0], 1e-3);
}

TEST(BssEval, SilenceHasNoScore) {
  Mixtures made(2, 1000, 0.1, 0.1);
  std::fill_n(made.references.values.begin(), 1000, 0.0);
  const BssEval found = bss_eval(made.references.view(), made.estimates.view(), Pairing::best);
  EXPECT_TRUE(std::isnan(found.sdr_db[0]) && std::isnan(found.sir_db[1]) && std::isnan(found.sar_db[1]));
}

TEST(BssEval, RefusesOtherShapes) {
  const Mixtures two(2, 100, 0, 0), three(3, 100, 0, 0), nine(9, 100, 0, 0);
  EXPECT_EQ(error_of(ErrorKind::bad_input,
                     [&] { (void)bss_eval(two.references.view(), three.references.view(), Pairing::given); }),
            "error: BSS-Eval: 2 references of 100 samples and 3 estimates of 100; expected as many of the same length");
  EXPECT_EQ(error_of(ErrorKind::bad_input,
                     [&] { (void)bss_eval(nine.references.view(), nine.estimates.view(), Pairing::best); }),
            "error: BSS-Eval: 9 sources; the best order is looked for among at most 8");
}

}  // namespace
}  // namespace sonde::separate
