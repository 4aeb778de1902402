// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/score/stem_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

#include "sonde/instruments/separate/audio/audio_writer.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;

class StemScores : public ::testing::Test {
 protected:
  StemScores() {
    std::filesystem::create_directory(truth());
    std::filesystem::create_directory(made());
  }
  [[nodiscard]] std::string truth(const std::string& name = "") const { return folder_.file("truth/" + name); }
  [[nodiscard]] std::string made(const std::string& name = "") const { return folder_.file("made/" + name); }
  static void write(const std::string& path, float value, Index samples = 100, Index rate = 8000, Index channels = 1) {
    const std::vector<float> all(static_cast<std::size_t>(samples * channels), value);
    AudioWriter writer(path, {.rate = rate, .channels = channels});
    writer.write({all.data(), channels, samples});
    writer.commit();
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(StemScores, FilesOfOneNameAreCompared) {
  for (const std::string& path : {truth("Kick.wav"), truth("toms.wav"), truth("mixture.wav"), made("kick.WAV"),
                                  made("ride.wav"), made("mixture.wav")})
    write(path, 0.5F);
  const StemPairs found = pair_stems(truth(), made());
  ASSERT_EQ(found.pairs.size(), 1u);
  EXPECT_EQ(found.pairs[0].name, "kick");
  EXPECT_EQ(found.pairs[0].estimate, made("kick.WAV"));
  EXPECT_EQ(found.mixture, truth("mixture.wav"));
  EXPECT_THAT(found.only_reference, ::testing::ElementsAre(truth("toms.wav")));
  EXPECT_THAT(found.only_estimate, ::testing::ElementsAre(made("ride.wav")));
  EXPECT_EQ(pair_stems(truth("toms.wav"), made("ride.wav")).pairs.size(), 1u);
}

TEST_F(StemScores, NamesWhatIsThereWhereNothingFits) {
  write(truth("kick.wav"), 0.5F);
  write(made("ride.wav"), 0.5F);
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)pair_stems(truth(), made()); }),
            "error: " + truth() + " and " + made() +
                ": no stem is in both; the first has kick, the second ride\nhint: give both files of a stem the same "
                "name, or compare two files");
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)pair_stems(truth(), made("ride.wav")); }),
            "error: " + made("ride.wav") + " and " + truth() + ": a file and a folder; expected two of a kind");
  write(truth("Kick.flac.wav"), 0.5F);
  write(truth("KICK.wav"), 0.5F);
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)pair_stems(truth(), made()); }),
            "error: " + truth("KICK.wav") + " and " + truth("kick.wav") +
                ": two files of one stem; expected one\nhint: move one of them to another folder");
}

TEST_F(StemScores, RatesAndLengthsMustBeEqualOrMadeSo) {
  write(truth("kick.wav"), 0.5F);
  write(made("kick.wav"), 0.5F, 90);
  const StemPairs shorter = pair_stems(truth(), made());
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)common_audio(shorter, {}, Lengths::refuse); }),
            "error: " + made("kick.wav") + ": 90 samples, but " + truth("kick.wav") +
                " has 100\nhint: --lengths shortest compares what all of them have");
  EXPECT_EQ(common_audio(shorter, {}, Lengths::shortest).samples, 90);
  write(made("kick.wav"), 0.5F, 200, 16000, 2);
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)common_audio(shorter, {}, Lengths::refuse); }),
            "error: " + made("kick.wav") + ": 16000 Hz, but " + truth("kick.wav") +
                " has 8000 Hz\nhint: --rate 8000 resamples all of them");
  const CommonAudio resampled = common_audio(shorter, 8000, Lengths::refuse);
  EXPECT_EQ(resampled.samples, 100);
  EXPECT_EQ(resampled.channels, 2);
}

TEST_F(StemScores, OfAnEstimateAndOfTheMixture) {
  write(truth("kick.wav"), 0.5F);
  write(truth("mixture.wav"), 1.0F);
  write(made("kick.wav"), 0.45F, 100, 8000, 2);  // one channel is put into both
  const StemPairs pairs = pair_stems(truth(), made());
  const auto scores = score_stems(pairs, common_audio(pairs, {}, Lengths::refuse), {.frames = {10, 10}});
  ASSERT_EQ(scores.size(), 1u);
  EXPECT_NEAR(scores[0].sdr_db, 20, 1e-4);
  EXPECT_NEAR(*scores[0].mixture_sdr_db, 0, 1e-4);
  EXPECT_EQ(scores[0].frames_sdr_db.size(), 10u);
  EXPECT_FALSE(scores[0].bss.has_value());
}

TEST_F(StemScores, OfThePublishedMixtureAreThePublishedOnes) {
  SONDE_NEED_DATA(data);
  const std::string piece = (data / "separation/demo/synth0").string();
  const StemPairs pairs = pair_stems(piece, piece);
  const auto scores = score_stems(pairs, common_audio(pairs, {}, Lengths::refuse), {.frames = {44100, 44100}});
  ASSERT_EQ(scores.size(), 4u);
  const double expected[] = {-19.241, 0.906, -1.857, -13.620};  // hihat, kick, other, snare of scores.json
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(scores[i].mixture_sdr_db.value(), expected[i], 6e-4) << scores[i].name;
}

TEST_F(StemScores, BssEvalTakesTheMeanOfChannels) {
  SONDE_NEED_DATA(data);
  const auto folder = data / "separation/bss_eval/case06";
  const StemPairs pairs = pair_stems((folder / "ref").string(), (folder / "est").string());
  const auto scores = score_stems(pairs, common_audio(pairs, {}, Lengths::refuse),
                                  {.frames = {.window = 1400, .hop = 700}, .bss_eval = true});
  EXPECT_NEAR(scores[0].bss->sdr_db, 13.78338204929278, 1e-3);  // expected.json
  EXPECT_NEAR(scores[0].bss_frames[0].sdr_db, 15.770861118084023, 1e-3);
  EXPECT_EQ(scores[1].bss_estimate, "1");
}

}  // namespace
}  // namespace sonde::separate
