// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/audio/audio_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/module.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/file.h"
#include "sonde/instruments/separate/audio/sndfile_functions.h"

namespace sonde::separate {
namespace {

// Frames of the file that are decoded at once.
constexpr Index frames_at_once = 65536;

/// "M4A or MP4" and so on: formats that users have and libsndfile does not know, by how their files begin.
std::optional<std::string> foreign_format(const File& file) {
  std::array<char, 16> head{};
  const std::size_t count = std::min<std::uint64_t>(head.size(), file.size());
  file.read_at(0, std::as_writable_bytes(std::span(head).first(count)));
  const std::string_view bytes(head.data(), count);
  using std::string_view_literals::operator""sv;
  if (bytes.substr(std::min<std::size_t>(4, count)).starts_with("ftyp"sv))
    return "M4A, MP4 or another file of QuickTime's";
  if (bytes.starts_with("\x1a\x45\xdf\xa3"sv)) return "Matroska or WebM";
  if (bytes.starts_with("\x30\x26\xb2\x75"sv)) return "WMA or another file of Windows Media's";
  if (bytes.starts_with("\xff\xf1"sv) || bytes.starts_with("\xff\xf9"sv)) return "AAC";
  if (bytes.starts_with("RIFF"sv) && bytes.substr(std::min<std::size_t>(8, count)).starts_with("AVI "sv)) return "AVI";
  return std::nullopt;
}

std::string format_name(int format) {
  struct Name {
    int code;
    const char* text;
  };
  static constexpr std::array<Name, 9> containers = {{{SF_FORMAT_WAV, "WAV"},
                                                      {SF_FORMAT_WAVEX, "WAV"},
                                                      {SF_FORMAT_RF64, "WAV (RF64)"},
                                                      {SF_FORMAT_W64, "Wave64"},
                                                      {SF_FORMAT_AIFF, "AIFF"},
                                                      {SF_FORMAT_FLAC, "FLAC"},
                                                      {SF_FORMAT_OGG, "Ogg"},
                                                      {SF_FORMAT_CAF, "CAF"},
                                                      {SF_FORMAT_MPEG, "MPEG"}}};
  static constexpr std::array<Name, 10> codings = {{{SF_FORMAT_PCM_16, "16 bit"},
                                                    {SF_FORMAT_PCM_24, "24 bit"},
                                                    {SF_FORMAT_PCM_32, "32 bit"},
                                                    {SF_FORMAT_PCM_U8, "8 bit"},
                                                    {SF_FORMAT_PCM_S8, "8 bit"},
                                                    {SF_FORMAT_FLOAT, "float32"},
                                                    {SF_FORMAT_DOUBLE, "float64"},
                                                    {SF_FORMAT_VORBIS, "Vorbis"},
                                                    {SF_FORMAT_OPUS, "Opus"},
                                                    {SF_FORMAT_MPEG_LAYER_III, "MP3"}}};
  const auto find = [](const auto& names, int code) -> std::string {
    const auto found = std::find_if(names.begin(), names.end(), [&](const Name& each) { return each.code == code; });
    return found == names.end() ? "another format of libsndfile's" : found->text;
  };
  return find(containers, format & SF_FORMAT_TYPEMASK) + ", " + find(codings, format & SF_FORMAT_SUBMASK);
}

}  // namespace

const SndfileFunctions& sndfile() {
  static const auto& opened =
      functions_of<SndfileFunctions>({.name = "sndfile", .library = "libsndfile", .package = "libsndfile1"});
  return opened;
}

struct AudioReader::Source {
  std::string path;
  AudioReadOptions options;
  std::optional<File> file;
  SndfileHandle handle;
  decltype(AudioSamples::read) given;  ///< in place of a file
  AudioInfo info;
  std::optional<Resampler> resampler;
  Index first = 0, planned = 0;  ///< frames of the file: where it begins, how many are read
  Index decoded = 0, zeroed = 0;
  bool ended = false;
  std::vector<float> raw, joined;  ///< as in the file; with the wanted channels
  std::vector<float> ready;        ///< interleaved, at the wanted rate
  std::size_t taken = 0;           ///< of ready

  Source(const std::string& of, const AudioReadOptions& with) : path(of), options(with), file(of) {
    open();
    begin();
  }
  Source(const AudioSamples& of, const AudioReadOptions& with)
      : path(of.name), options(with), given(of.read), info(of.info) {
    begin();
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() = default;

  void open();
  void begin();
  void choose_range();
  [[nodiscard]] Index fill(Index wanted);
  void decode();
  void check_numbers(Index frames);
  void join_channels(Index frames);
};

namespace {

/// Throws Error(bad_file) where a WAV or AIFF file ends before the samples that its head declares. Programs that write
/// into a pipe declare as much as they can: that says nothing.
void require_whole(const std::string& path, SNDFILE* handle) {
  std::array<char, 16384> log{};
  sndfile().command(handle, SFC_GET_LOG_INFO, log.data(), static_cast<int>(log.size()));
  for (const std::string& line : split(std::string(log.data()), '\n')) {
    double declared = 0, found = 0;
    const std::string text(trim(line));
    if (std::sscanf(text.c_str(), "data : %lf (should be %lf)", &declared, &found) != 2 &&
        std::sscanf(text.c_str(), "SSND : %lf (should be %lf)", &declared, &found) != 2)
      continue;
    if (found < declared && declared < 0x7fff0000)
      throw Error(ErrorKind::bad_file, fmt::format("{}: damaged: {} bytes of samples, its head declares {}", path,
                                                   static_cast<Index>(found), static_cast<Index>(declared)))
          .hint("the copy may be incomplete");
  }
}

}  // namespace

void AudioReader::Source::open() {
  if (file->size() == 0) throw Error(ErrorKind::bad_file, fmt::format("{}: empty file", path));
  if (const auto foreign = foreign_format(*file)) {
    throw Error(ErrorKind::not_supported, fmt::format("{}: {}; WAV, AIFF, FLAC, Ogg and MP3 are read", path, *foreign))
        .hint("convert it: ffmpeg -i INPUT output.wav");
  }
  SF_INFO found{};
  const int descriptor = dup(file->descriptor());
  handle.reset(sndfile().open_descriptor(descriptor, SFM_READ, &found, SF_TRUE));
  if (handle == nullptr) {
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: not an audio file that can be read ({})", path, sndfile().error_text(nullptr)))
        .hint("WAV, AIFF, FLAC, Ogg and MP3 are read; convert others: ffmpeg -i INPUT output.wav");
  }
  require_whole(path, handle.get());
  info = {.format = format_name(found.format),
          .rate = found.samplerate,
          .channels = found.channels,
          .frames = found.frames};
  if (info.channels < 1 || info.rate < 1 || info.frames < 1) {
    throw Error(ErrorKind::bad_file, fmt::format("{}: no samples", path));
  }
  // Floats beyond 1 are kept, and what is decoded is not scaled to its own peak.
  sndfile().command(handle.get(), SFC_SET_NORM_FLOAT, nullptr, SF_TRUE);
}

void AudioReader::Source::begin() {
  if (info.channels > options.channels && info.channels > 1 && options.downmix == Downmix::refuse) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: {} channels; expected at most {}", path, info.channels, options.channels))
        .hint(fmt::format("use {} first2 for the first two, or {} mean", setting("downmix"), setting("downmix")));
  }
  choose_range();
  if (info.rate != options.rate) resampler.emplace(info.rate, options.rate, options.channels, options.quality);
}

void AudioReader::Source::choose_range() {
  const double all = static_cast<double>(info.frames), rate = static_cast<double>(info.rate);
  const double begin = std::floor(options.from_s * rate + 0.5);
  if (!(begin >= 0 && begin < all)) {
    throw Error(ErrorKind::bad_input, fmt::format("{}: {} = {} s; the file ends at {:.3f} s", path, setting("start"),
                                                  options.from_s, all / rate));
  }
  first = static_cast<Index>(begin);
  planned = static_cast<Index>(std::min(all - begin, std::floor(options.seconds * rate + 0.5)));
  if (planned < 1) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{} = {}; expected more than a sample", setting("seconds"), options.seconds));
  }
  if (handle != nullptr && first > 0 && sndfile().seek(handle.get(), first, SEEK_SET) != first) {
    throw Error(ErrorKind::bad_file, fmt::format("{}: damaged: second {:.3f} cannot be reached", path, options.from_s));
  }
}

void AudioReader::Source::check_numbers(Index frames) {
  for (Index i = 0; i < frames * info.channels; ++i) {
    float& sample = raw[static_cast<std::size_t>(i)];
    if (std::isfinite(sample)) continue;
    if (options.non_finite == NonFinite::refuse) {
      const double seconds = static_cast<double>(first + decoded + i / info.channels) / static_cast<double>(info.rate);
      throw Error(ErrorKind::bad_input,
                  fmt::format("{}: channel {} is {} at {:.6f} s", path, i % info.channels + 1, sample, seconds))
          .hint(fmt::format("use {} zero to put silence there", setting("nan")));
    }
    sample = 0;
    ++zeroed;
  }
}

void AudioReader::Source::join_channels(Index frames) {
  const Index from = info.channels, to = options.channels;
  joined.resize(static_cast<std::size_t>(frames * to));
  for (Index i = 0; i < frames; ++i) {
    const float* const in = raw.data() + i * from;
    float mean = 0;
    if (from > to && options.downmix == Downmix::mean) {
      for (Index c = 0; c < from; ++c) mean += in[c] / static_cast<float>(from);
    }
    for (Index c = 0; c < to; ++c) {
      joined[static_cast<std::size_t>(i * to + c)] =
          from > to && options.downmix == Downmix::mean ? mean : in[std::min(c, from - 1)];
    }
  }
}

/// The next samples as they are in the file, into `raw`: how many there were.
Index AudioReader::Source::fill(Index wanted) {
  if (wanted == 0) return 0;
  if (handle != nullptr) return sndfile().read(handle.get(), raw.data(), wanted);
  given(raw.data(), wanted);
  return wanted;
}

void AudioReader::Source::decode() {
  const Index wanted = std::min(frames_at_once, planned - decoded);
  raw.resize(static_cast<std::size_t>(frames_at_once * info.channels));
  const Index got = fill(wanted);
  if (got < wanted || (handle != nullptr && sndfile().error(handle.get()) != SF_ERR_NO_ERROR)) {
    throw Error(ErrorKind::bad_file, fmt::format("{}: damaged: {} samples of each channel, expected {}", path,
                                                 first + decoded + got, info.frames));
  }
  ready.erase(ready.begin(), ready.begin() + static_cast<std::ptrdiff_t>(taken));
  taken = 0;
  check_numbers(got);
  join_channels(got);
  decoded += got;
  ended = decoded == planned;
  if (!resampler) {
    ready.insert(ready.end(), joined.begin(), joined.end());
    return;
  }
  if (got > 0) resampler->process(joined, ready);
  if (ended) resampler->process({}, ready);
}

AudioReader::AudioReader(const std::string& path, const AudioReadOptions& options)
    : source_(std::make_unique<Source>(path, options)) {}
AudioReader::AudioReader(const AudioSamples& samples, const AudioReadOptions& options)
    : source_(std::make_unique<Source>(samples, options)) {}
AudioReader::AudioReader(AudioReader&&) noexcept = default;
AudioReader& AudioReader::operator=(AudioReader&&) noexcept = default;
AudioReader::~AudioReader() = default;

const AudioInfo& AudioReader::info() const { return source_->info; }
Index AudioReader::zeroed() const { return source_->zeroed; }

Index AudioReader::source_frames() const { return source_->planned; }

Index AudioReader::frames() const {
  if (!source_->resampler) return source_->planned;
  // As the SoX Resampler library counts, also where the quotient lies between two numbers.
  const double step = static_cast<double>(source_->info.rate) / static_cast<double>(source_->options.rate);
  return static_cast<Index>(static_cast<double>(source_->planned) / step + 0.5);
}

std::vector<float> AudioReader::read(Index most) {
  Source& source = *source_;
  const auto channels = static_cast<std::size_t>(source.options.channels);
  while (source.ready.size() - source.taken < static_cast<std::size_t>(most) * channels && !source.ended)
    source.decode();
  const std::size_t count = std::min(static_cast<std::size_t>(most), (source.ready.size() - source.taken) / channels);
  std::vector<float> samples(count * channels);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t c = 0; c < channels; ++c) samples[c * count + i] = source.ready[source.taken + i * channels + c];
  }
  source.taken += count * channels;
  return samples;
}

}  // namespace sonde::separate
