// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/events/midi.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde::separate {
namespace {

constexpr Index largest_delta = (Index{1} << 28) - 1;  // four bytes of seven bits
constexpr int note_off = 0x80, note_on = 0x90, system_exclusive = 0xF0, escape = 0xF7, meta = 0xFF;
constexpr int meta_name = 0x03, meta_end = 0x2F, meta_tempo = 0x51;

void put(std::string& bytes, Index value, int count) {
  for (int i = count - 1; i >= 0; --i) bytes += static_cast<char>((value >> (8 * i)) & 0xFF);
}

void put_variable(std::string& bytes, Index value) {
  for (int shift = 21; shift > 0; shift -= 7) {
    if (value >> shift != 0) bytes += static_cast<char>(0x80 | ((value >> shift) & 0x7F));
  }
  bytes += static_cast<char>(value & 0x7F);
}

void put_meta(std::string& bytes, int type, std::string_view content) {
  put_variable(bytes, 0);
  put(bytes, meta, 1), put(bytes, type, 1);
  put_variable(bytes, static_cast<Index>(content.size()));
  bytes += content;
}

void put_chunk(std::string& file, std::string_view type, const std::string& content) {
  file += type;
  put(file, static_cast<Index>(content.size()), 4);
  file += content;
}

/// What is switched at a tick. Ends come first, so that a note may begin where one of its pitch ends.
struct Switch {
  Index tick;
  bool on;
  Index channel, note, velocity;
  friend auto operator<=>(const Switch&, const Switch&) = default;
};

struct Placed {
  Index begin, end, velocity;
};

class Timing {
 public:
  explicit Timing(double tempo) : micros_(std::llround(60e6 / tempo)) {}
  [[nodiscard]] Index micros() const { return micros_; }
  [[nodiscard]] double tempo() const { return 60e6 / static_cast<double>(micros_); }
  /// By the tempo that is in the file: a whole number of microseconds.
  [[nodiscard]] Index ticks(double seconds) const {
    return std::llround(seconds * 1e6 * static_cast<double>(ticks_per_quarter) / static_cast<double>(micros_));
  }

 private:
  Index micros_;
};

void check(const MidiNote& each) {
  if (each.note < 0 || each.note > 127 || each.velocity < 1 || each.velocity > 127 || each.channel < 1 ||
      each.channel > 16) {
    throw Error(ErrorKind::bad_input,
                fmt::format("note {} with velocity {} on channel {}: expected 0 to 127, 1 to 127 and 1 to 16",
                            each.note, each.velocity, each.channel));
  }
  constexpr double longest_s = 1e9;  // so that its ticks are whole numbers of 64 bits at every tempo
  if (!(each.time_s >= 0 && each.time_s <= longest_s && each.duration_s >= 0 && each.duration_s <= longest_s)) {
    throw Error(ErrorKind::bad_input, fmt::format("a note at {} s of {} s: expected times from 0 to {:g} s",
                                                  each.time_s, each.duration_s, longest_s));
  }
}

std::vector<Switch> switches_of(const std::vector<MidiNote>& notes, const Timing& timing,
                                const Quantisation& quantisation) {
  std::map<std::pair<Index, Index>, std::vector<Placed>> pitches;  // of each channel
  const Index shortest = std::max<Index>(1, timing.ticks(shortest_note_s));
  for (const MidiNote& each : notes) {
    check(each);
    const Index begin = timing.ticks(quantisation.moved(each.time_s, timing.tempo()));
    pitches[{each.channel, each.note}].push_back(
        {begin, begin + std::max(shortest, timing.ticks(each.duration_s)), each.velocity});
  }
  std::vector<Switch> switches;
  for (auto& [pitch, placed] : pitches) {
    std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
    for (std::size_t i = 0; i < placed.size(); ++i) {
      if (i + 1 < placed.size() && placed[i + 1].begin == placed[i].begin) {
        placed[i + 1].velocity = std::max(placed[i].velocity, placed[i + 1].velocity);
        continue;
      }
      const Index end = i + 1 < placed.size() ? std::min(placed[i].end, placed[i + 1].begin) : placed[i].end;
      switches.push_back({placed[i].begin, true, pitch.first, pitch.second, placed[i].velocity});
      switches.push_back({end, false, pitch.first, pitch.second, 0});
    }
  }
  std::sort(switches.begin(), switches.end());
  return switches;
}

std::string track_bytes(const std::string& head, const std::vector<Switch>& switches) {
  std::string bytes = head;
  Index now = 0;
  for (const Switch& each : switches) {
    if (each.tick - now > largest_delta) {
      throw Error(ErrorKind::bad_input, fmt::format("a pause of {} ticks; a MIDI file has pauses of at most {}",
                                                    each.tick - now, largest_delta));
    }
    put_variable(bytes, each.tick - now);
    put(bytes, (each.on ? note_on : note_off) + each.channel - 1, 1);
    put(bytes, each.note, 1), put(bytes, each.velocity, 1);
    now = each.tick;
  }
  put_meta(bytes, meta_end, "");
  return bytes;
}

/// Reads a file from front to back, never beyond its end.
class Bytes {
 public:
  Bytes(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name), end_(bytes.size()) {}

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] std::size_t left() const { return end_ - at_; }
  [[noreturn]] void refuse(const std::string& fact) const {
    throw Error(ErrorKind::bad_file, fmt::format("{}: byte {}: {}", name_, at_, fact));
  }
  std::string_view take(std::size_t count, std::string_view what) {
    if (count > left()) refuse(fmt::format("{} of {} bytes, but {} are left", what, count, left()));
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  Index number(std::size_t count, std::string_view what) {
    Index value = 0;
    for (const char each : take(count, what)) value = value << 8 | static_cast<unsigned char>(each);
    return value;
  }
  [[nodiscard]] int peek() const { return static_cast<unsigned char>(bytes_[at_]); }
  Index variable(std::string_view what) {
    Index value = 0;
    for (int i = 0; i < 4; ++i) {
      const Index byte = number(1, what);
      value = value << 7 | (byte & 0x7F);
      if (byte < 0x80) return value;
    }
    refuse(fmt::format("{} of more than four bytes", what));
  }
  Index data(std::string_view what) {
    const Index value = number(1, what);
    if (value > 127) refuse(fmt::format("{} of {}; expected 0 to 127", what, value));
    return value;
  }
  /// The next `count` bytes by themselves.
  Bytes part(std::size_t count, std::string_view what) {
    take(count, what);
    Bytes inner = *this;
    inner.at_ = at_ - count, inner.end_ = at_;
    return inner;
  }

 private:
  std::string_view bytes_, name_;
  std::size_t at_ = 0, end_;
};

/// What happens, in ticks.
struct Happening {
  Index tick;
  enum class What { tempo, on, off } what;
  Index channel, note, value;
};

void read_track(Bytes bytes, std::vector<Happening>& happenings) {
  Index tick = 0, status = 0;
  while (bytes.left() > 0) {
    tick += bytes.variable("a time");
    if (bytes.left() == 0) bytes.refuse("a time without an event");
    if (bytes.peek() >= 0x80) status = bytes.number(1, "an event");
    if (status == 0) bytes.refuse("a running status without a status before it");
    if (status == meta) {
      const Index type = bytes.data("the type of a meta event");
      const auto length = static_cast<std::size_t>(bytes.variable("a length"));
      if (type == meta_end) return;
      Bytes content = bytes.part(length, "a meta event");
      if (type == meta_tempo) {
        const Index micros = length == 3 ? content.number(3, "a tempo") : 0;
        if (micros == 0) bytes.refuse(fmt::format("a tempo of {} bytes that is 0; expected three bytes, > 0", length));
        happenings.push_back({tick, Happening::What::tempo, 0, 0, micros});
      }
      status = 0;
    } else if (status == system_exclusive || status == escape) {
      bytes.take(static_cast<std::size_t>(bytes.variable("a length")), "a system exclusive message");
      status = 0;
    } else if (status > system_exclusive) {
      bytes.refuse(fmt::format("status {:#04x}, which files do not have", status));
    } else {
      const Index first = bytes.data("a data byte"), kind = status & 0xF0;
      const Index second = kind == 0xC0 || kind == 0xD0 ? 0 : bytes.data("a data byte");
      if (kind == note_on || kind == note_off) {
        const bool on = kind == note_on && second > 0;
        happenings.push_back(
            {tick, on ? Happening::What::on : Happening::What::off, (status & 0x0F) + 1, first, second});
      }
    }
  }
}

/// Seconds of a tick while the tempo is the same.
double tick_seconds(Index division, double micros) {
  if ((division & 0x8000) == 0) return micros * 1e-6 / static_cast<double>(division);
  // Minus the frames of a second in the upper byte, where 29 stands for 30 * 1000 / 1001; the parts of one in the
  // lower.
  const Index frames = 256 - (division >> 8);
  const double rate = frames == 29 ? 30000.0 / 1001.0 : static_cast<double>(frames);
  return 1 / (rate * static_cast<double>(division & 0xFF));
}

}  // namespace

Quantisation Quantisation::parse(std::string_view text, double strength, std::string_view where) {
  static const std::map<std::string, double> grids = {{"off", 0},        {"1/4", 1},        {"1/8", 0.5},
                                                      {"1/16", 0.25},    {"1/32", 0.125},   {"1/4t", 2.0 / 3},
                                                      {"1/8t", 1.0 / 3}, {"1/16t", 1.0 / 6}};
  const auto found = grids.find(to_lower(text));
  if (found == grids.end()) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: \"{}\" is not a grid; expected off, 1/4, 1/8, 1/16, 1/32 or triplets, "
                            "1/4T, 1/8T, 1/16T",
                            where, text));
  }
  return {found->second, strength};
}

double Quantisation::moved(double time_s, double tempo) const {
  if (quarters == 0) return time_s;
  const double step_s = quarters * 60 / tempo;
  const double place_s = begin_s + std::round((time_s - begin_s) / step_s) * step_s;
  return std::max(0.0, time_s + strength * (place_s - time_s));
}

std::string midi_bytes(std::span<const MidiTrack> tracks, const MidiWriteOptions& options) {
  const Timing timing(options.tempo);
  if (!(options.tempo > 0) || timing.micros() < 1 || timing.micros() >= 1 << 24) {
    throw Error(ErrorKind::bad_input, fmt::format("a tempo of {}; expected 3.6 to 6e7", options.tempo));
  }
  std::string tempo, head, file;
  put(tempo, timing.micros(), 3);
  put_meta(head, meta_tempo, tempo);
  std::vector<std::string> chunks;
  if (options.format == 0) {
    std::vector<MidiNote> all;
    for (const MidiTrack& each : tracks) all.insert(all.end(), each.notes.begin(), each.notes.end());
    chunks.push_back(track_bytes(head, switches_of(all, timing, options.quantisation)));
  } else {
    chunks.push_back(track_bytes(head, {}));
    for (const MidiTrack& each : tracks) {
      std::string named;
      put_meta(named, meta_name, each.name);
      chunks.push_back(track_bytes(named, switches_of(each.notes, timing, options.quantisation)));
    }
  }
  std::string header;
  put(header, options.format, 2), put(header, static_cast<Index>(chunks.size()), 2), put(header, ticks_per_quarter, 2);
  put_chunk(file, "MThd", header);
  for (const std::string& each : chunks) put_chunk(file, "MTrk", each);
  return file;
}

MidiFile parse_midi(std::string_view bytes, const std::string& name) {
  if (!bytes.starts_with("MThd")) throw Error(ErrorKind::bad_file, name + ": is not a MIDI file");
  Bytes file(bytes, name);
  file.take(4, "the header");
  const auto header_bytes = static_cast<std::size_t>(file.number(4, "the header"));
  if (header_bytes < 6) file.refuse(fmt::format("a header of {} bytes; expected 6", header_bytes));
  Bytes header = file.part(header_bytes, "the header");
  MidiFile midi{.format = header.number(2, "the format"), .tracks = header.number(2, "the number of tracks")};
  const Index division = header.number(2, "the ticks");
  if (midi.format == 2) {
    throw Error(ErrorKind::not_supported, name + ": is a MIDI file of format 2, independent patterns")
        .hint("save it as format 0 or 1");
  }
  if (midi.format > 2) file.refuse(fmt::format("format {}; expected 0 or 1", midi.format));
  if (division == 0 || ((division & 0x8000) != 0 && (division & 0xFF) == 0))
    file.refuse("0 ticks in a quarter or frame");

  std::vector<Happening> happenings;
  Index found = 0;
  while (found < midi.tracks) {
    if (file.left() == 0) file.refuse(fmt::format("the end, after {} of {} tracks", found, midi.tracks));
    const std::string_view type = file.take(4, "a chunk");
    Bytes content = file.part(static_cast<std::size_t>(file.number(4, "a chunk")), "a chunk");
    if (type != "MTrk") continue;  // chunks that are not known are to be ignored
    read_track(content, happenings);
    ++found;
  }
  std::stable_sort(happenings.begin(), happenings.end(), [](const Happening& a, const Happening& b) {
    const auto is_note = [](const Happening& each) { return each.what != Happening::What::tempo; };
    return a.tick != b.tick ? a.tick < b.tick : is_note(a) < is_note(b);
  });
  std::array<std::array<std::optional<std::size_t>, 128>, 17> sounding{};
  double now_s = 0, step_s = tick_seconds(division, 500000);  // 120 quarters a minute until a tempo is given
  Index now = 0;
  for (const Happening& each : happenings) {
    now_s += static_cast<double>(each.tick - now) * step_s;
    now = each.tick;
    if (each.what == Happening::What::tempo) {
      step_s = tick_seconds(division, static_cast<double>(each.value));
      if (!midi.tempo) midi.tempo = 60e6 / static_cast<double>(each.value);
      continue;
    }
    auto& held = sounding[static_cast<std::size_t>(each.channel)][static_cast<std::size_t>(each.note)];
    if (held) midi.notes[*held].duration_s = now_s - midi.notes[*held].time_s;
    held.reset();
    if (each.what == Happening::What::off) continue;
    held = midi.notes.size();
    midi.notes.push_back({.time_s = now_s, .note = each.note, .velocity = each.value, .channel = each.channel});
  }
  return midi;
}

}  // namespace sonde::separate
