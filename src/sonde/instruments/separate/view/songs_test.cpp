// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/view/songs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "sonde/instruments/separate/view/test_songs.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::HasSubstr;

class Songs : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  void text(const std::string& name, const std::string& what) const { std::ofstream(file(name)) << what; }
  TemporaryFolder folder_;
};

TEST_F(Songs, FilesOfAFolderAreTheStemsOfASong) {
  write_wav(file("song/snare.wav"), std::vector<float>(800));
  write_wav(file("song/kick.wav"), std::vector<float>(1600), 2);
  write_wav(file("song/mixture.wav"), std::vector<float>(900), 1, 16000);
  const auto songs = find_songs(file("song/"));
  ASSERT_EQ(songs.size(), 1u);
  EXPECT_EQ(songs[0].name, "song");
  EXPECT_EQ(songs[0].tracks.at(0).name, "kick");
  EXPECT_EQ(songs[0].tracks.at(2).name, "mixture");
  EXPECT_TRUE(songs[0].has_mixture);
  EXPECT_EQ(songs[0].stems(), 2);
  EXPECT_EQ(songs[0].channels, 2);
  EXPECT_EQ(songs[0].frames, 800);
}

TEST_F(Songs, FoldersInTheFolderAreSongs) {
  write_wav(file("out/one/kick.wav"), std::vector<float>(800));
  write_wav(file("out/two/kick.wav"), std::vector<float>(900));
  const auto songs = find_songs(file("out"));
  ASSERT_EQ(songs.size(), 2u);
  EXPECT_EQ(songs[1].name, "two");
  EXPECT_FALSE(songs[1].has_mixture);
}

TEST_F(Songs, TheInputOfTheSummaryIsTheMixture) {
  write_wav(file("song.wav"), std::vector<float>(800));
  write_wav(file("out/song/kick.wav"), std::vector<float>(800));
  text("out/song/separation.json", R"({"schema": "sonde.separation/1", "input": "song.wav"})");
  const auto songs = find_songs(file("out"));
  ASSERT_TRUE(songs.at(0).has_mixture);
  EXPECT_EQ(songs[0].tracks[1].path, file("song.wav"));
}

TEST_F(Songs, AnInputOfAnotherLengthOrASummaryThatIsNoneIsIgnored) {
  write_wav(file("song.wav"), std::vector<float>(2000));
  write_wav(file("out/song/kick.wav"), std::vector<float>(800));
  text("out/song/separation.json", R"({"input": "song.wav"})");
  EXPECT_FALSE(find_songs(file("out")).at(0).has_mixture);
  text("out/song/separation.json", "[[[[");
  EXPECT_FALSE(find_songs(file("out")).at(0).has_mixture);
}

TEST_F(Songs, StemsHaveTheAgreementThatTheSummarySays) {
  write_wav(file("song/kick.wav"), std::vector<float>(800));
  write_wav(file("song/snare.wav"), std::vector<float>(800));
  text("song/separation.json",
       R"({"quality": {"seconds": 1, "passes": 4, "stems": [{"name": "Kick", "agreement_db": 12, )"
       R"("agreement_db_over_time": [12, null]}, {"name": "toms", "agreement_db_over_time": [1, 2]}]}})");
  const Song song = find_songs(file("song")).at(0);
  const Value& kick = song.tracks[0].agreement;
  EXPECT_EQ(kick.find("passes")->as_whole(), 4);
  EXPECT_EQ(kick.find("all")->as_real(), 12);
  EXPECT_TRUE(kick.find("db")->items().at(1).is_null());
  EXPECT_TRUE(song.tracks[1].agreement.is_null());
}

TEST_F(Songs, AKitIsASongOfItsOwnBehindTheOneItWasMadeOf) {
  write_wav(file("out/song/drums.wav"), std::vector<float>(800));
  write_wav(file("out/song/vocals.wav"), std::vector<float>(800));
  write_wav(file("out/song/drums/kick.wav"), std::vector<float>(800));
  text("out/song/drums/separation.json", R"({"input": "drums.wav"})");
  write_wav(file("out/song/takes/one.wav"), std::vector<float>(800));  // no stem has this name
  const std::vector<Song> songs = find_songs(file("out"));
  ASSERT_EQ(songs.size(), 2u);
  EXPECT_EQ(songs[0].name, "song");
  EXPECT_EQ(songs[1].name, "song/drums");
  EXPECT_EQ(songs[1].stems(), 1);
  EXPECT_TRUE(songs[1].has_mixture);
}

TEST_F(Songs, FoldersWithoutAudioAndFoldersOfScansHaveNone) {
  std::filesystem::create_directories(file("empty"));
  EXPECT_TRUE(find_songs(file("empty")).empty());
  write_wav(file("scans/spoken.wav"), std::vector<float>(800));
  text("scans/scan_master.h5", "");
  EXPECT_TRUE(find_songs(file("scans")).empty());
}

TEST_F(Songs, StemsOfDifferentLengthsAreRefused) {
  write_wav(file("song/kick.wav"), std::vector<float>(800));
  write_wav(file("song/snare.wav"), std::vector<float>(801));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)find_songs(file("song")); }),
              ::testing::AllOf(HasSubstr("kick.wav: 800 samples, but"), HasSubstr("snare.wav: 801"),
                               HasSubstr("expected stems of one length")));
}

TEST_F(Songs, StemsOfDifferentRatesAreRefused) {
  write_wav(file("song/kick.wav"), std::vector<float>(800));
  write_wav(file("song/snare.wav"), std::vector<float>(800), 1, 44100);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)find_songs(file("song")); }),
              ::testing::AllOf(HasSubstr("kick.wav: 8000 Hz, but"), HasSubstr("snare.wav: 44100 Hz")));
}

TEST_F(Songs, MoreThanTwoChannelsAreRefused) {
  write_wav(file("song/kick.wav"), std::vector<float>(800), 8);
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)find_songs(file("song")); }),
              HasSubstr("kick.wav: 8 channels; the page plays one or two"));
}

TEST_F(Songs, MoreThan64StemsAreRefused) {
  for (int i = 0; i < 65; ++i) write_wav(file("song/" + std::to_string(i) + ".wav"), std::vector<float>(8));
  EXPECT_THAT(error_of(ErrorKind::bad_input, [&] { (void)find_songs(file("song")); }),
              HasSubstr("song: 65 audio files; the page shows at most 64"));
}

TEST_F(Songs, ADamagedFileIsNamed) {
  write_wav(file("song/kick.wav"), std::vector<float>(800));
  text("song/snare.flac", "not audio");
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)find_songs(file("song")); }), HasSubstr("snare.flac"));
}

}  // namespace
}  // namespace sonde::separate
