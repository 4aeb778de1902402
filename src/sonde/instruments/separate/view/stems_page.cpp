// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/view/stems_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "sonde/engine/base/as_error.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/separate/events/stem_events.h"
#include "sonde/instruments/separate/view/overview.h"
#include "sonde/instruments/separate/view/songs.h"

namespace sonde::separate {
namespace {

using panel::Command;

// A command goes on with the pass over a file for no longer, so that playing never waits for drawing.
constexpr std::chrono::milliseconds patience{100};
constexpr Index most_columns = 4096;
constexpr double longest_s = 10;                // of samples that are sent at once
constexpr Index most_numbers = Index{1} << 22;  // the same of all tracks together

/// A setting of events that the page has a slider for.
struct EventNumber {
  const char *key, *label, *unit;
  double min, max, step;
  double& (*of)(DrumSettings&);
};
constexpr std::array<EventNumber, 4> event_numbers = {{
    {"threshold", "Threshold", "", 0, 0.5, 0.005, [](DrumSettings& each) -> double& { return each.onsets.threshold; }},
    {"prominence", "Prominence", "dB", 0, 40, 0.5,
     [](DrumSettings& each) -> double& { return each.onsets.prominence_db; }},
    {"gate", "Gate", "", 0, 0.5, 0.005, [](DrumSettings& each) -> double& { return each.gate; }},
    {"gap", "Least gap", "ms", 10, 500, 5, [](DrumSettings& each) -> double& { return each.onsets.gap_ms; }},
}};

/// Whether the way in which events are found looks at it.
bool counts(const EventNumber& number, const DrumSettings& settings) {
  const bool flux = settings.onsets.detection == Detection::flux;
  const std::string_view key = number.key;
  return key == "threshold" ? flux : key != "prominence" || !flux;
}

Index whole(const Command& command, const char* name, Index least, Index most) {
  const Value* value = command.arguments.find(name);
  if (value == nullptr || !value->is_whole() || value->as_whole() < least || value->as_whole() > most) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: {} = {}; expected a whole number from {} to {}", command.name, name,
                            value == nullptr ? "nothing" : short_text(*value), least, most));
  }
  return value->as_whole();
}

/// Settings of events as a client says them, in place of the usual ones of the drum.
DrumSettings drum_settings(Drum drum, const Value* asked, const std::string& command) {
  DrumSettings settings = EventSettings()[drum];
  if (asked == nullptr || asked->is_null()) return settings;
  std::vector<std::string> keys;
  keys.reserve(event_numbers.size());
  for (const EventNumber& each : event_numbers) keys.emplace_back(each.key);
  for (const Value::Member& member : asked->members()) {
    const auto number = std::find_if(event_numbers.begin(), event_numbers.end(),
                                     [&](const auto& each) { return each.key == member.key; });
    if (number == event_numbers.end()) {
      throw Error(ErrorKind::bad_input,
                  fmt::format("{}: unknown setting \"{}\"{}", command, member.key, did_you_mean(member.key, keys)));
    }
    const double value = member.value.is_number() ? member.value.as_real() : number->min - 1;
    if (!(value >= number->min && value <= number->max)) {
      throw Error(ErrorKind::bad_input, fmt::format("{}: {} = {}; expected {} to {}", command, number->key,
                                                    short_text(member.value), number->min, number->max));
    }
    number->of(settings) = value;
  }
  return settings;
}

bool same(DrumSettings a, DrumSettings b) {
  return std::all_of(event_numbers.begin(), event_numbers.end(),
                     [&](const EventNumber& each) { return each.of(a) == each.of(b); });
}

/// The songs with what was drawn of them, for all clients.
class Stems {
 public:
  Stems(std::vector<Song> songs, Budget budget) : songs_(std::move(songs)), budget_(std::move(budget)) {
    for (const Song& song : songs_) drawn_.emplace_back(song.tracks.size());
  }
  [[nodiscard]] const std::vector<Song>& songs() const { return songs_; }
  [[nodiscard]] const Budget& budget() const { return budget_; }

  /// Calls body(overview) of a track, which no other client then has.
  template <class Body>
  void with_overview(Index song, Index track, Body&& body) {
    Drawn& drawn = drawn_[static_cast<std::size_t>(song)][static_cast<std::size_t>(track)];
    const std::lock_guard lock(drawn.mutex);
    if (!drawn.overview) {
      const Track& of = songs_[static_cast<std::size_t>(song)].tracks[static_cast<std::size_t>(track)];
      Reservation reserved = budget_.reserve(Overview::bytes_for(of.info.frames), "the picture of " + of.path);
      drawn.overview = std::make_unique<Overview>(of.path);
      drawn.reserved = std::move(reserved);
    }
    body(*drawn.overview);
  }

 private:
  struct Drawn {
    std::mutex mutex;
    Reservation reserved;
    std::unique_ptr<Overview> overview;
  };
  std::vector<Song> songs_;
  Budget budget_;
  std::vector<std::vector<Drawn>> drawn_;
};

/// The samples of a track at the rate and with the channels of its song, in any order; one part after the other is read
/// without looking for it.
class TrackSamples {
 public:
  /// (channels, count) of frames from `first` on; silence behind the end.
  std::vector<float> read(const Song& song, const Track& track, Index first, Index count) {
    if (!reader_ || first != next_) seek(song, track, first);
    next_ = first + count;
    const auto channels = static_cast<std::size_t>(song.channels), wanted = static_cast<std::size_t>(count);
    std::vector<float> samples(channels * wanted);
    if (!reader_) return samples;
    const std::vector<float> part = reader_->read(count);
    const std::size_t got = part.size() / channels;
    for (std::size_t c = 0; c < channels; ++c)
      std::copy_n(part.begin() + static_cast<std::ptrdiff_t>(c * got), got,
                  samples.begin() + static_cast<std::ptrdiff_t>(c * wanted));
    return samples;
  }

 private:
  void seek(const Song& song, const Track& track, Index first) {
    reader_.reset();
    // Resampling needs what was before.
    const Index before = track.info.rate == song.rate ? 0 : std::min(first, song.rate / 10);
    const double from_s = static_cast<double>(first - before) / static_cast<double>(song.rate);
    if (from_s * static_cast<double>(track.info.rate) >= static_cast<double>(track.info.frames) - 1 && first > 0)
      return;
    reader_.emplace(track.path,
                    AudioReadOptions{
                        .rate = song.rate, .channels = song.channels, .from_s = from_s, .non_finite = NonFinite::zero});
    if (before > 0) (void)reader_->read(before);
  }

  std::optional<AudioReader> reader_;
  Index next_ = 0;
};

/// A drum stem as a client wants its events.
struct Wanted {
  Index song = 0, stem = 0;
  StemKind kind{};
  DrumSettings settings{};
};

class StemsSession final : public panel::Session {
 public:
  StemsSession(std::shared_ptr<Stems> stems, std::shared_ptr<panel::Outlet> outlet)
      : stems_(std::move(stems)), outlet_(std::move(outlet)), finder_([this] { find_events_asked(); }) {}
  StemsSession(const StemsSession&) = delete;
  StemsSession& operator=(const StemsSession&) = delete;
  ~StemsSession() override {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    cancel_.request();
    asked_.notify_all();
    finder_.join();
  }

  void run(const Command& command) override {
    if (command.name == "overview") return send_overview(command);
    if (command.name == "samples") return send_samples(command);
    if (command.name == "events") return ask_for_events(command);
    if (command.name == "export") return send_file(command);
    throw Error(ErrorKind::bad_input, fmt::format("no command is called \"{}\"", command.name));
  }

  panel::File export_file(const Value& request) override {
    const Command command{0, "export", request};
    const Value* what = request.find("what");
    if (what == nullptr || !what->is_text() || what->as_text() != "midi")
      throw Error(ErrorKind::bad_input,
                  fmt::format("export: what = {}; expected midi", what == nullptr ? "nothing" : short_text(*what)));
    const Index number = song_of(command);
    const Song& song = stems_->songs()[static_cast<std::size_t>(number)];
    const Value* settings = request.find("settings");
    std::vector<StemEvents> found;
    for (Index stem = 0; stem < song.stems(); ++stem) {
      const Track& track = song.tracks[static_cast<std::size_t>(stem)];
      if (const auto kind = stem_kind(track.name)) {
        const Value* own = settings == nullptr ? nullptr : settings->find(std::to_string(stem));
        found.push_back(events_of({number, stem, *kind, drum_settings(kind->drum, own, "export")}));
      }
    }
    if (found.empty()) {
      throw Error(ErrorKind::bad_input, fmt::format("export: no stem of {} has the name of a drum", song.name))
          .hint("name the files kick, snare, toms, hihat or cymbals");
    }
    const std::string bytes = midi_bytes(midi_tracks(found, {}), {});
    panel::File file{.name = song.name + ".mid", .media_type = "audio/midi"};
    file.bytes.resize(bytes.size());
    std::memcpy(file.bytes.data(), bytes.data(), bytes.size());
    return file;
  }

 private:
  [[nodiscard]] Index song_of(const Command& command) const {
    return whole(command, "song", 0, static_cast<Index>(stems_->songs().size()) - 1);
  }

  template <class T>
  void send(const Command& command, panel::FrameKind kind, Index song, Index track, Index rows,
            const std::vector<T>& values) {
    panel::Frame frame = panel::make_frame<T>(kind, rows, static_cast<Index>(values.size()) / rows, std::span(values));
    frame.request = command.id;
    frame.dataset = static_cast<std::uint32_t>(song);
    frame.channel = static_cast<std::uint16_t>(track);
    outlet_->send(std::move(frame));
  }

  void send_overview(const Command& command) {
    const Index number = song_of(command);
    const Song& song = stems_->songs()[static_cast<std::size_t>(number)];
    const Index at = whole(command, "track", 0, static_cast<Index>(song.tracks.size()) - 1);
    const Index first = whole(command, "first", 0, song.frames - 1);
    const Index count = whole(command, "count", 1, song.frames - first);
    const Index columns = whole(command, "columns", 1, most_columns);
    const Track& track = song.tracks[static_cast<std::size_t>(at)];
    // Of the mixture the same time at its own rate.
    const double ratio = static_cast<double>(track.info.rate) / static_cast<double>(song.rate);
    const auto scaled = [&](Index frames) { return static_cast<Index>(static_cast<double>(frames) * ratio); };
    const Stretch stretch{std::min(scaled(first), track.info.frames - 1), std::max<Index>(1, scaled(count)), columns};
    Value reply;
    stems_->with_overview(number, at, [&](Overview& overview) {
      overview.advance(patience);
      send(command, peaks_frame, number, at, 3, overview.peaks(stretch));
      send(command, levels_frame, number, at, overview.style().bands, overview.levels(stretch));
      reply["done"] = overview.done();
      reply["range_db"] = Overview::range_db;
      reply["lowest_hz"] = overview.style().lowest_hz;
      reply["highest_hz"] = overview.style().highest_hz;
    });
    outlet_->reply(command, std::move(reply));
  }

  void send_samples(const Command& command) {
    const Index number = song_of(command);
    const Song& song = stems_->songs()[static_cast<std::size_t>(number)];
    const Index first = whole(command, "first", 0, song.frames - 1);
    const Index count = whole(command, "count", 1, longest(song));
    if (number != playing_) samples_.clear();
    playing_ = number;
    samples_.resize(song.tracks.size());
    const Index there = std::min(count, song.frames - first);
    for (std::size_t track = 0; track < song.tracks.size(); ++track) {
      send(command, samples_frame, number, static_cast<Index>(track), song.channels,
           samples_[track].read(song, song.tracks[track], first, there));
    }
    Value reply;
    reply["first"] = first;
    reply["count"] = there;
    outlet_->reply(command, std::move(reply));
  }

  void ask_for_events(const Command& command) {
    const Index number = song_of(command);
    const Song& song = stems_->songs()[static_cast<std::size_t>(number)];
    const Index stem = whole(command, "stem", 0, song.stems() - 1);
    const Track& track = song.tracks[static_cast<std::size_t>(stem)];
    const auto kind = stem_kind(track.name);
    if (!kind) throw Error(ErrorKind::bad_input, fmt::format("events: {} has not the name of a drum", track.name));
    const Wanted wanted{number, stem, *kind, drum_settings(kind->drum, command.arguments.find("settings"), "events")};
    {
      const std::lock_guard lock(mutex_);
      queue_.insert_or_assign(stem, std::pair(command, wanted));
    }
    asked_.notify_all();
  }

  /// Finding takes seconds; playing must not wait for it.
  void find_events_asked() {
    const CancelScope scope(&cancel_);
    for (;;) {
      std::unique_lock lock(mutex_);
      asked_.wait(lock, [&] { return over_ || !queue_.empty(); });
      if (over_) return;
      const auto [command, wanted] = queue_.begin()->second;
      queue_.erase(queue_.begin());
      lock.unlock();
      Value reply;
      reply["stem"] = wanted.stem;
      try {
        const StemEvents found = events_of(wanted);
        for (const char* list : {"times", "hits", "velocities"}) reply[list] = Value::list();
        for (const DrumEvent& each : found.events) {
          reply["times"].push_back(each.time_s);
          reply["hits"].push_back(info(each.hit).name);
          reply["velocities"].push_back(each.velocity);
        }
      } catch (...) {
        const Error error = as_error(std::current_exception(), "close other songs");
        if (error.kind() == ErrorKind::interrupted) return;
        reply["problem"] = error.message();
      }
      outlet_->reply(command, std::move(reply));
    }
  }

  /// The last ones of each stem are kept: a MIDI file is of what is shown.
  StemEvents events_of(const Wanted& wanted) {
    const std::pair place(wanted.song, wanted.stem);
    {
      const std::lock_guard lock(mutex_);
      const auto found = found_.find(place);
      if (found != found_.end() && same(found->second.first, wanted.settings)) return found->second.second;
    }
    const Song& song = stems_->songs()[static_cast<std::size_t>(wanted.song)];
    const Track& track = song.tracks[static_cast<std::size_t>(wanted.stem)];
    const StemFile file{.path = track.path, .name = track.name, .kind = wanted.kind};
    Budget budget = stems_->budget();
    const Index samples = song.frames * event_rate / song.rate + 1;
    const Reservation reserved = budget.reserve(event_bytes(samples), "the samples of " + track.path);
    EventSettings settings;
    settings[wanted.kind.drum] = wanted.settings;
    StemEvents events = read_events(file, settings, 1);
    const std::lock_guard lock(mutex_);
    found_.insert_or_assign(place, std::pair(wanted.settings, events));
    return events;
  }

  void send_file(const Command& command) {
    const panel::File file = export_file(command.arguments);
    std::vector<std::uint8_t> bytes(file.bytes.size());
    std::memcpy(bytes.data(), file.bytes.data(), bytes.size());
    send(command, panel::FrameKind::file, 0, 0, 1, bytes);
    Value reply;
    reply["name"] = file.name;
    reply["media_type"] = file.media_type;
    reply["bytes"] = file.bytes.size();
    outlet_->reply(command, std::move(reply));
  }

 public:
  /// Frames that are sent at once of a song.
  static Index longest(const Song& song) {
    const auto most = static_cast<Index>(longest_s * static_cast<double>(song.rate));
    return std::max<Index>(1, std::min(most, most_numbers / (static_cast<Index>(song.tracks.size()) * song.channels)));
  }

 private:
  std::shared_ptr<Stems> stems_;
  std::shared_ptr<panel::Outlet> outlet_;
  Index playing_ = -1;
  std::vector<TrackSamples> samples_;  ///< of the song that is played

  std::mutex mutex_;  ///< of all below
  std::condition_variable asked_;
  bool over_ = false;
  std::map<Index, std::pair<Command, Wanted>> queue_;
  std::map<std::pair<Index, Index>, std::pair<DrumSettings, StemEvents>> found_;
  Cancel cancel_;
  std::thread finder_;  ///< the last member: it uses the others
};

Value options_of(const Track& track, bool mixture) {
  Value told;
  told["name"] = track.name;
  told["format"] = track.info.format;
  if (!track.agreement.is_null()) told["agreement"] = track.agreement;
  const auto kind = mixture ? std::nullopt : stem_kind(track.name);
  if (!kind) return told;
  DrumSettings settings = EventSettings()[kind->drum];
  told["numbers"] = Value::list();
  for (const EventNumber& each : event_numbers) {
    if (!counts(each, settings)) continue;
    Value& number = told["numbers"].push_back(Value::object());
    number["key"] = each.key;
    number["label"] = each.label;
    number["unit"] = each.unit;
    number["min"] = each.min;
    number["max"] = each.max;
    number["step"] = each.step;
    number["value"] = each.of(settings);
  }
  return told;
}

Value options_of(const Song& song) {
  Value told;
  told["name"] = song.name;
  told["rate"] = song.rate;
  told["channels"] = song.channels;
  told["frames"] = song.frames;
  told["longest"] = StemsSession::longest(song);
  told["mixture"] = song.has_mixture;
  told["tracks"] = Value::list();
  for (const Track& each : song.tracks)
    told["tracks"].push_back(options_of(each, song.has_mixture && &each == &song.tracks.back()));
  return told;
}

}  // namespace

std::optional<panel::Page> stems_page(const std::string& folder, const Budget& budget) {
  std::vector<Song> songs = find_songs(folder);
  if (songs.empty()) return std::nullopt;
  panel::Page page{.title = songs.front().name, .view = "mixer"};
  panel::Panel mixer{.id = "mixer", .type = "mixer", .title = "Stems"};
  mixer.options["songs"] = Value::list();
  for (const Song& each : songs) mixer.options["songs"].push_back(options_of(each));
  page.panels.push_back(std::move(mixer));
  page.actions = {
      {.name = "overview", .help = "what is drawn of a track, and how much of it is there", .distinct = {"track"}},
      {.name = "samples", .help = "samples of all tracks, to be played", .latest = false},
      {.name = "events", .help = "what was hit in a stem of drums", .distinct = {"stem"}},
      {.name = "export", .help = "the events of all drums as a MIDI file", .latest = false},
  };
  page.open = [stems = std::make_shared<Stems>(std::move(songs), budget)](
                  std::shared_ptr<panel::Outlet> outlet) -> std::unique_ptr<panel::Session> {
    return std::make_unique<StemsSession>(stems, std::move(outlet));
  };
  return page;
}

}  // namespace sonde::separate
