// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/scan_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/file.h"
#include "sonde/instruments/stem/timepix/record_reader.h"

namespace sonde::stem {
namespace {

constexpr std::size_t surveyed_bytes = std::size_t{64} << 20, survey_step = std::size_t{1} << 20;
constexpr std::size_t most_edges = std::size_t{1} << 16;  // of a channel: more than enough for a median

TdcChannel trigger(bool second, Slope slope) {
  if (second) return slope == Slope::rise ? TdcChannel::tdc2_rise : TdcChannel::tdc2_fall;
  return slope == Slope::rise ? TdcChannel::tdc1_rise : TdcChannel::tdc1_fall;
}

EdgeSurvey survey_of(std::vector<FineTicks>& times, std::uint64_t count) {
  EdgeSurvey survey{.count = count};
  if (times.empty()) return survey;
  std::sort(times.begin(), times.end());
  survey.first = times.front();
  if (times.size() < 2) return survey;
  std::vector<FineTicks> distances;
  for (std::size_t i = 1; i < times.size(); ++i) distances.push_back(times[i] - times[i - 1]);
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  survey.period_s = static_cast<double>(*middle) / fine_ticks_per_s;
  return survey;
}

std::string edges_of(const FileSurvey& survey) {
  std::vector<std::string> found;
  for (int c = 0; c < tdc_channels; ++c) {
    const EdgeSurvey& edges = survey.edges[static_cast<std::size_t>(c)];
    if (edges.count == 0) continue;
    std::string text = fmt::format("{} {}", edges.count, name_of(static_cast<TdcChannel>(c)));
    if (edges.period_s) text += " " + format_seconds(*edges.period_s) + " apart";
    found.push_back(std::move(text));
  }
  return found.empty() ? "no edges of the TDC" : join_words(found);
}

ScanTiming start_at(FineTicks start, double delay_s, std::optional<TdcChannel> channel, std::string because) {
  return {.channel = channel,
          .start = start + static_cast<FineTicks>(std::llround(delay_s * fine_ticks_per_s)),
          .because = std::move(because)};
}

}  // namespace

std::string name_of(TdcChannel channel) {
  const bool second = channel == TdcChannel::tdc2_rise || channel == TdcChannel::tdc2_fall;
  const bool rise = channel == TdcChannel::tdc1_rise || channel == TdcChannel::tdc2_rise;
  return fmt::format("{} of TDC{}", rise ? "rises" : "falls", second ? 2 : 1);
}

FileSurvey survey_file(const std::string& path, const ChipLayout& layout, Damage damage) {
  const File file(path);
  FileSurvey survey{.file_bytes = file.size()};
  const std::unique_ptr<HitReader> reader = open_hits(path, layout, damage);
  PacketBlock block;
  std::vector<std::byte> piece;
  constexpr Ticks none = std::numeric_limits<Ticks>::max();
  Ticks earliest = none, second = none;
  std::array<std::vector<FineTicks>, tdc_channels> times;
  while (survey.read_bytes < std::min<std::uint64_t>(file.size(), surveyed_bytes)) {
    check_interrupt();
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(survey_step, file.size() - survey.read_bytes)));
    file.read_at(survey.read_bytes, piece);
    block.clear();
    reader->take(piece, block);
    survey.read_bytes += piece.size();
    // A damaged word is seconds after the latest time.
    const Ticks latest = reader->latest().value_or(0);
    for (const Hit& hit : block.hits)
      if (hit.time <= latest && hit.time < second) {
        second = std::max(earliest, hit.time);
        earliest = std::min(earliest, hit.time);
      }
    for (const TdcEdge& edge : block.edges) {
      std::vector<FineTicks>& of_channel = times[static_cast<std::size_t>(edge.channel)];
      if (edge.time / fine_per_tick <= latest && of_channel.size() < most_edges) of_channel.push_back(edge.time);
    }
  }
  if (survey.read_bytes == file.size() && (damage == Damage::stop || file.size() == 0)) reader->finish();
  survey.hits = reader->counts().hits;
  // The first word of a file, if it is damaged, is by itself too, and so is a hit long before the beam.
  if (second != none && second - earliest > WrapClock::slack) earliest = second;
  if (earliest != none) survey.first_hit = earliest * fine_per_tick;
  for (std::size_t c = 0; c < times.size(); ++c) survey.edges[c] = survey_of(times[c], reader->counts().edges[c]);
  return survey;
}

ScanTiming choose_timing(const std::string& path, const FileSurvey& survey, const TimepixOptions& options) {
  const TdcChannel channels[] = {trigger(false, options.edge), trigger(true, options.edge)};
  const auto missing = [&](TdcChannel channel, const std::string& key) {
    return Error(ErrorKind::bad_file,
                 fmt::format("{}: no {} in the first {}, but {}", path, name_of(channel),
                             format_bytes(static_cast<double>(survey.read_bytes)), edges_of(survey)))
        .hint("give another " + setting(key) + " or " + setting("edge"));
  };
  const double line_s = options.dwell_s() * static_cast<double>(options.scan_asked().second);
  if (options.lines == LineTrigger::tdc1 || options.lines == LineTrigger::tdc2) {
    const TdcChannel channel = channels[options.lines == LineTrigger::tdc1 ? 0 : 1];
    if (!survey.of(channel).first) throw missing(channel, "lines");
    return {.by_lines = true, .channel = channel, .because = "as asked"};
  }
  if (options.lines == LineTrigger::automatic && options.start == ScanStart::automatic)
    for (const TdcChannel channel : channels) {
      const auto& period = survey.of(channel).period_s;
      if (period && *period >= shortest_line * line_s && *period <= longest_line * line_s)
        return {.by_lines = true,
                .channel = channel,
                .because = fmt::format("they are {} apart, and a line takes {}", format_seconds(*period),
                                       format_seconds(line_s))};
    }
  if (options.start == ScanStart::tdc1 || options.start == ScanStart::tdc2) {
    const TdcChannel channel = channels[options.start == ScanStart::tdc1 ? 0 : 1];
    if (!survey.of(channel).first) throw missing(channel, "start");
    return start_at(*survey.of(channel).first, options.delay_s(), channel, "as asked");
  }
  if (options.start == ScanStart::automatic)
    for (const TdcChannel channel : channels)
      if (survey.of(channel).first)
        return start_at(*survey.of(channel).first, options.delay_s(), channel, "the file has edges of it");
  if (!survey.first_hit)
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: no hit in the first {}, but {}", path,
                            format_bytes(static_cast<double>(survey.read_bytes)), edges_of(survey)));
  return start_at(*survey.first_hit, options.delay_s(), std::nullopt,
                  options.start == ScanStart::hit ? "as asked" : "the file has no edge that marks it");
}

}  // namespace sonde::stem
