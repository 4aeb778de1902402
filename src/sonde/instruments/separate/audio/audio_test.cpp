// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numbers>

#include "tests/support/data.h"
#include "tests/support/errors.h"
#include "tests/support/files.h"

#include "sonde/instruments/separate/audio/audio_reader.h"
#include "sonde/instruments/separate/audio/audio_writer.h"

namespace sonde::separate {
namespace {

using sonde::testing::error_of;
using sonde::testing::TemporaryFolder;
using ::testing::HasSubstr;

std::vector<float> sines(Index channels, Index count, double rate, double frequency = 1000) {
  std::vector<float> samples;
  for (Index c = 0; c < channels; ++c) {
    for (Index i = 0; i < count; ++i) {
      const double t = static_cast<double>(i) / rate;
      samples.push_back(
          static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * frequency * t + static_cast<double>(c))));
    }
  }
  return samples;
}

void write(const std::string& path, const AudioWriteOptions& options, const std::vector<float>& samples) {
  AudioWriter writer(path, options);
  writer.write({samples.data(), options.channels, static_cast<Index>(samples.size()) / options.channels});
  writer.commit();
}

/// All samples, channel after channel.
std::vector<float> read(const std::string& path, const AudioReadOptions& options, Index piece = 10000) {
  AudioReader reader(path, options);
  std::vector<std::vector<float>> rows(static_cast<std::size_t>(options.channels));
  for (;;) {
    const auto part = reader.read(piece);
    if (part.empty()) break;
    const auto count = part.size() / rows.size();
    for (std::size_t c = 0; c < rows.size(); ++c) {
      rows[c].insert(rows[c].end(), part.begin() + static_cast<std::ptrdiff_t>(c * count),
                     part.begin() + static_cast<std::ptrdiff_t>((c + 1) * count));
    }
  }
  std::vector<float> all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return all;
}

/// A WAV of 16 bits as its format says, byte by byte.
std::string wav_bytes(std::uint16_t channels, std::uint32_t rate, const std::vector<std::int16_t>& samples) {
  std::string bytes;
  const auto put = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  const auto data_bytes = static_cast<std::uint32_t>(samples.size() * 2);
  bytes += "RIFF";
  put(36 + data_bytes);
  bytes += "WAVEfmt ";
  put(std::uint32_t{16}), put(std::uint16_t{1}), put(channels), put(rate), put(rate * channels * 2);
  put(static_cast<std::uint16_t>(channels * 2)), put(std::uint16_t{16});
  bytes += "data";
  put(data_bytes);
  for (const std::int16_t each : samples) put(each);
  return bytes;
}

void write_bytes(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

TEST(AudioReader, TakesSamplesAsAFileOfThem) {
  const TemporaryFolder folder;
  const auto samples = sines(1, 70000, 48000);
  write(folder.file("a.wav"), {.rate = 48000, .channels = 1}, samples);
  const AudioReadOptions options{.rate = 44100, .channels = 2};
  Index at = 0;
  AudioReader reader({.name = "a",
                      .info = {.format = "", .rate = 48000, .channels = 1, .frames = 70000},
                      .read =
                          [&](float* to, Index count) {
                            std::copy_n(samples.begin() + at, count, to);
                            at += count;
                          }},
                     options);
  AudioReader of_file(folder.file("a.wav"), options);
  EXPECT_EQ(reader.frames(), of_file.frames());
  EXPECT_EQ(reader.read(reader.frames()), of_file.read(of_file.frames()));
  EXPECT_TRUE(reader.read(1).empty());
}

TEST(AudioReader, DividesIntegersByTheirLargestPowerOfTwo) {
  const TemporaryFolder folder;
  write_bytes(folder.file("a.wav"), wav_bytes(2, 44100, {-32768, 1, 16384, -1}));
  EXPECT_EQ(read(folder.file("a.wav"), {}), (std::vector<float>{-1, 0.5F, 1.0F / 32768, -1.0F / 32768}));
}

TEST(AudioReader, PutsOneChannelIntoBoth) {
  const TemporaryFolder folder;
  write_bytes(folder.file("a.wav"), wav_bytes(1, 44100, {16384, -16384}));
  EXPECT_EQ(read(folder.file("a.wav"), {}), (std::vector<float>{0.5F, -0.5F, 0.5F, -0.5F}));
}

TEST(AudioReader, MixesManyChannelsOnlyWhenAsked) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.wav");
  write_bytes(path, wav_bytes(4, 44100, {4096, 8192, 0, -4096}));
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { AudioReader(path, {}); }),
            "error: " + path +
                ": 4 channels; expected at most 2\nhint: use --downmix first2 for the first two, or --downmix mean");
  EXPECT_EQ(read(path, {.downmix = Downmix::first_two}), (std::vector<float>{0.125F, 0.25F}));
  EXPECT_EQ(read(path, {.downmix = Downmix::mean}), (std::vector<float>{0.0625F, 0.0625F}));
}

TEST(AudioReader, ReadsAPartByItsSeconds) {
  const TemporaryFolder folder;
  write_bytes(folder.file("a.wav"), wav_bytes(1, 10, {0, 1, 2, 3, 4, 5, 6, 7}));
  const auto part = read(folder.file("a.wav"), {.rate = 10, .channels = 1, .from_s = 0.2, .seconds = 0.3});
  EXPECT_EQ(part, (std::vector<float>{2.0F / 32768, 3.0F / 32768, 4.0F / 32768}));
  EXPECT_EQ(error_of(ErrorKind::bad_input,
                     [&] { AudioReader(folder.file("a.wav"), {.rate = 10, .channels = 1, .from_s = 0.9}); }),
            "error: " + folder.file("a.wav") + ": --start = 0.9 s; the file ends at 0.800 s");
}

TEST(AudioReader, ResamplesASineToASine) {
  const TemporaryFolder folder;
  write(folder.file("a.wav"), {.rate = 48000}, sines(2, 48000, 48000));
  AudioReader reader(folder.file("a.wav"), {});
  EXPECT_EQ(reader.frames(), 44100);
  const auto got = read(folder.file("a.wav"), {}, 999);
  const auto expected = sines(2, 44100, 44100);
  ASSERT_EQ(got.size(), expected.size());
  // Beyond the filter's length from the ends: 28 bits of rejection, float32 samples below 1.
  for (std::size_t i = 2000; i < 42000; ++i) ASSERT_NEAR(got[i], expected[i], 3e-7) << i;
}

TEST(AudioReader, KnowsBeforehandHowManySamplesAnyLengthGives) {
  const std::vector<float> quiet(400);
  for (const Index rate : {8000, 22050, 32000, 48000, 88200, 96000}) {
    for (Index count = 1; count <= 400; ++count) {  // with lengths whose quotient lies between two numbers
      AudioReader reader({.name = "quiet",
                          .info = {.format = "", .rate = rate, .channels = 1, .frames = count},
                          .read = [&](float* to, Index wanted) { std::copy_n(quiet.begin(), wanted, to); }},
                         {.rate = 44100, .channels = 1});
      ASSERT_EQ(static_cast<Index>(reader.read(10000).size()), reader.frames()) << count << " at " << rate << " Hz";
    }
  }
}

TEST(AudioReader, ReadsOggOfOtherPrograms) {
  SONDE_NEED_DATA(data);
  AudioReader stereo((data / "separation/clips/vibe_ace.44k_stereo.ogg").string(), {});
  EXPECT_EQ(stereo.info().format, "Ogg, Vorbis");
  EXPECT_EQ(stereo.info().channels, 2);
  EXPECT_EQ(stereo.info().rate, 44100);
  EXPECT_NEAR(static_cast<double>(stereo.frames()) / 44100, 61.4, 0.2);
  AudioReader mono((data / "separation/clips/vibe_ace.22k_mono.ogg").string(), {});
  EXPECT_EQ(mono.frames(), 2 * mono.info().frames);
}

TEST(AudioReader, NamesChannelAndTimeOfWhatIsNoNumber) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.wav");
  auto samples = sines(2, 100, 44100);
  samples[150] = NAN;  // channel 2, sample 50
  write(path, {}, samples);
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { (void)read(path, {}); }),
            "error: " + path + ": channel 2 is nan at 0.001134 s\nhint: use --nan zero to put silence there");
  const auto zeroed = read(path, {.non_finite = NonFinite::zero});
  EXPECT_EQ(zeroed[150], 0);
  EXPECT_EQ(zeroed[149], samples[149]);
}

TEST(AudioReader, RefusesAFileThatEndsBeforeItsSamples) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.wav");
  write(path, {.type = SampleType::pcm16}, sines(2, 10000, 44100));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 4000);
  EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { (void)AudioReader(path, {}); }),
              HasSubstr("a.wav: damaged: 36000 bytes of samples, its head declares 40000"));
}

TEST(AudioReader, ReadsWhatAPipeWroteWithoutKnowingItsLength) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.wav");
  write(path, {.type = SampleType::pcm16}, sines(2, 1000, 44100));
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  bytes.replace(bytes.find("data") + 4, 4, "\xff\xff\xff\xff");
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(AudioReader(path, {}).frames(), 1000);
}

TEST(AudioReader, RefusesWhatIsNoAudioByName) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.m4a");
  write_bytes(path, std::string("\0\0\0\x20"
                                "ftypM4A \0\0\0\0",
                                16));
  EXPECT_EQ(error_of(ErrorKind::not_supported, [&] { AudioReader(path, {}); }),
            "error: " + path +
                ": M4A, MP4 or another file of QuickTime's; WAV, AIFF, FLAC, Ogg and MP3 are read\n"
                "hint: convert it: ffmpeg -i INPUT output.wav");
  write_bytes(path, "");
  EXPECT_EQ(error_of(ErrorKind::bad_file, [&] { AudioReader(path, {}); }), "error: " + path + ": empty file");
  for (const std::string& bytes : {std::string(100, 'x'), std::string("RIFF")}) {
    write_bytes(path, bytes);
    EXPECT_THAT(error_of(ErrorKind::bad_file, [&] { AudioReader(path, {}); }), HasSubstr(path + ": not an audio file"));
  }
  write_bytes(path, wav_bytes(2, 44100, {}));
  EXPECT_EQ(error_of(ErrorKind::bad_file, [&] { AudioReader(path, {}); }), "error: " + path + ": no samples");
}

TEST(AudioWriter, KeepsFloatsBeyondOneToTheBit) {
  const TemporaryFolder folder;
  const std::vector<float> samples = {0.1F, -3.5F, 1e-20F, 0.7F};
  write(folder.file("a.wav"), {}, samples);
  EXPECT_EQ(read(folder.file("a.wav"), {}), samples);
}

TEST(AudioWriter, WritesPlainWavBelowFourGigabytes) {
  const TemporaryFolder folder;
  write(folder.file("a.wav"), {.type = SampleType::pcm16, .dither = Dither::off}, {0.5F, -0.5F, 0.25F, -1});
  std::ifstream file(folder.file("a.wav"), std::ios::binary);
  std::string head(4, ' ');
  file.read(head.data(), 4);
  EXPECT_EQ(head, "RIFF");
  EXPECT_EQ(read(folder.file("a.wav"), {}), (std::vector<float>{0.5F, -0.5F, 0.25F, -1}));
}

TEST(AudioWriter, RoundsToTheNearestIntegerAndCountsWhatItClips) {
  const TemporaryFolder folder;
  AudioWriter writer(folder.file("a.flac"), {.format = AudioFormat::flac, .type = SampleType::pcm24, .channels = 1});
  const std::vector<float> samples = {0.25F, 1.5F, -1, -2};
  writer.write({samples.data(), 1, 4});
  writer.commit();
  EXPECT_EQ(writer.clipped(), 2);
  EXPECT_EQ(writer.peak(), 2);
  const float most = 1 - 1.0F / (1 << 23);
  EXPECT_EQ(read(folder.file("a.flac"), {.channels = 1}), (std::vector<float>{0.25F, most, -1, -1}));
}

TEST(AudioWriter, DithersWithNoiseOfTwoStepsThatIsTheSameEachTime) {
  const TemporaryFolder folder;
  const std::vector<float> samples(20000, 0.3F / 32768);
  write(folder.file("a.wav"), {.type = SampleType::pcm16}, samples);
  write(folder.file("b.wav"), {.type = SampleType::pcm16}, samples);
  const auto got = read(folder.file("a.wav"), {});
  EXPECT_EQ(got, read(folder.file("b.wav"), {}));
  double mean = 0, squares = 0;
  for (const float x : got) mean += static_cast<double>(x) * 32768 / 20000;
  for (const float x : got) squares += std::pow(static_cast<double>(x) * 32768 - mean, 2) / 20000;
  EXPECT_NEAR(mean, 0.3, 0.02);      // the mean survives: 4 standard errors
  EXPECT_NEAR(squares, 0.25, 0.02);  // 1/6 of the noise and 1/12 of the rounding, whatever the signal
}

TEST(AudioWriter, LeavesNothingWithoutCommit) {
  const TemporaryFolder folder;
  {
    AudioWriter writer(folder.file("a.wav"), {});
    const std::vector<float> samples(100);
    writer.write({samples.data(), 2, 50});
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(AudioWriter, RefusesFlacInFloatingPoint) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of(ErrorKind::bad_input, [&] { AudioWriter(folder.file("a.flac"), {.format = AudioFormat::flac}); }),
            "error: FLAC holds integers; --subtype = float\nhint: use --subtype pcm24, or --format wav");
}

TEST(AudioWriter, WritesOggAndMp3ThatAreCloseToTheSignal) {
  const TemporaryFolder folder;
  const auto samples = sines(2, 44100, 44100);
  for (const AudioFormat format : {AudioFormat::ogg, AudioFormat::mp3}) {
    const std::string path = folder.file("a" + ending(format));
    SCOPED_TRACE(path);
    write(path, {.format = format}, samples);
    const auto got = read(path, {});
    double power = 0;
    for (const float x : got)
      power += static_cast<double>(x) * static_cast<double>(x) / static_cast<double>(got.size());
    EXPECT_NEAR(power, 0.125, 0.01);  // that of the sine
  }
}

}  // namespace
}  // namespace sonde::separate
