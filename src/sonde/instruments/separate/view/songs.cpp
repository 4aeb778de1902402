// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/view/songs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/separate/run/outputs.h"

namespace sonde::separate {
namespace {

namespace fs = std::filesystem;
constexpr Index most_stems = 64;

std::vector<FoundInput> audio_in(const std::string& folder) {
  try {
    return find_inputs({folder}, false);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input) throw;
    return {};  // a folder without audio files
  }
}

Track track_of(const std::string& path) {
  Track track{.path = path, .name = fs::path(path).stem().string()};
  track.info = AudioReader(path, {.channels = 1024}).info();
  if (track.info.channels > 2) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: {} channels; the page plays one or two", path, track.info.channels));
  }
  return track;
}

bool is_mixture(const Track& track) {
  const std::string name = to_lower(track.name);
  return name == "mixture" || name == "mix";
}

double seconds(Index frames, Index rate) { return static_cast<double>(frames) / static_cast<double>(rate); }

/// The input that the summary names.
std::optional<Track> input_of(const fs::path& folder, const Song& song) {
  const fs::path summary = folder / "separation.json";
  if (!is_plain_file(summary)) return std::nullopt;
  try {
    const fs::path input = text_at(read_json(summary.string()), "input");
    if (input.empty()) return std::nullopt;
    for (const fs::path& place :
         {folder / input, folder.parent_path() / input, folder.parent_path().parent_path() / input}) {
      if (!is_plain_file(place)) continue;
      Track track = track_of(place.string());
      constexpr double resampling_s = 0.01;
      if (std::abs(seconds(track.info.frames, track.info.rate) - seconds(song.frames, song.rate)) < resampling_s)
        return track;
    }
  } catch (const Error&) {
    // Whatever it is, it is no summary of these stems: the page has everything but the mixture.
  }
  return std::nullopt;
}

/// What the summary says of how far the stems can be trusted.
void add_agreement(const fs::path& folder, Song& song) {
  const fs::path summary = folder / "separation.json";
  if (!is_plain_file(summary)) return;
  Value quality;
  try {
    const Value found = read_json(summary.string());
    if (const Value* of = found.find("quality")) quality = *of;
  } catch (const Error&) {
    return;  // whatever it is, it is no summary of these stems
  }
  const Value *const seconds = quality.find("seconds"), *const passes = quality.find("passes"),
                     *const stems = quality.find("stems");
  if (seconds == nullptr || passes == nullptr || stems == nullptr || !stems->is_list()) return;
  for (const Value& stem : stems->items()) {
    const Value* const db = stem.find("agreement_db_over_time");
    const auto track = std::find_if(song.tracks.begin(), song.tracks.end(), [&](const Track& each) {
      return to_lower(each.name) == to_lower(text_at(stem, "name"));
    });
    if (db == nullptr || !db->is_list() || track == song.tracks.end()) continue;
    track->agreement["seconds"] = *seconds;
    track->agreement["passes"] = *passes;
    const Value* const all = stem.find("agreement_db");
    track->agreement["all"] = all != nullptr ? *all : Value();
    track->agreement["db"] = *db;
  }
}

void require_alike(const Song& song) {
  const Track& first = song.tracks.front();
  for (const Track& each : song.tracks) {
    if (each.info.rate != first.info.rate) {
      throw Error(ErrorKind::bad_input, fmt::format("{}: {} Hz, but {}: {} Hz; expected stems of one sample rate",
                                                    first.path, first.info.rate, each.path, each.info.rate));
    }
    if (each.info.frames != first.info.frames) {
      throw Error(ErrorKind::bad_input, fmt::format("{}: {} samples, but {}: {}; expected stems of one length",
                                                    first.path, first.info.frames, each.path, each.info.frames))
          .hint("put the stems of each song into a folder of its own");
    }
  }
}

std::optional<Song> song_in(const std::string& folder) {
  const std::vector<FoundInput> files = audio_in(folder);
  if (files.empty()) return std::nullopt;
  if (static_cast<Index>(files.size()) > most_stems) {
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: {} audio files; the page shows at most {}", folder, files.size(), most_stems))
        .hint("put the stems of each song into a folder of its own");
  }
  // With a slash at its end a folder has an empty name.
  const fs::path place = absolute_path(folder);
  Song song{.name = (place.has_filename() ? place : place.parent_path()).filename().string()};
  for (const FoundInput& each : files) song.tracks.push_back(track_of(each.path));
  const auto mixture = std::find_if(song.tracks.begin(), song.tracks.end(), is_mixture);
  std::optional<Track> made_of;
  if (mixture != song.tracks.end() && song.tracks.size() > 1) {
    made_of = std::move(*mixture);
    song.tracks.erase(mixture);
  }
  require_alike(song);
  const Track& first = song.tracks.front();
  song.rate = first.info.rate;
  song.frames = first.info.frames;
  const fs::path folder_itself = place.has_filename() ? place : place.parent_path();
  if (!made_of) made_of = input_of(folder_itself, song);
  add_agreement(folder_itself, song);
  song.has_mixture = made_of.has_value();
  if (made_of) song.tracks.push_back(*std::move(made_of));
  for (const Track& each : song.tracks) song.channels = std::max(song.channels, each.info.channels);
  return song;
}

/// What a second network made of stems of the song, in folders of their names.
std::vector<Song> kits_of(const fs::path& folder, const Song& song) {
  std::vector<Song> kits;
  for (const Track& each : song.tracks) {
    const fs::path place = folder / each.name;
    if (!is_folder(place)) continue;
    if (auto kit = song_in(place.string())) {
      kit->name = song.name + "/" + kit->name;
      kits.push_back(*std::move(kit));
    }
  }
  return kits;
}

}  // namespace

std::vector<Song> find_songs(const std::string& folder) {
  std::vector<fs::path> entries = entries_of(folder);
  std::sort(entries.begin(), entries.end());
  // Scans and their folders are shown by others.
  for (const fs::path& each : entries)
    if (to_lower(each.extension().string()) == ".h5") return {};
  std::vector<Song> songs;
  if (auto song = song_in(folder)) songs.push_back(*std::move(song));
  for (const fs::path& each : entries) {
    if (!is_folder(each)) continue;
    auto song = song_in(each.string());
    if (!song) continue;
    std::vector<Song> kits = kits_of(each, *song);
    songs.push_back(*std::move(song));
    std::move(kits.begin(), kits.end(), std::back_inserter(songs));
  }
  return songs;
}

}  // namespace sonde::separate
