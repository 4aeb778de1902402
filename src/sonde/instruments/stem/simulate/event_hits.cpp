// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/simulate/event_hits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/byte_order.h"
#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/engine/math/random.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/stem/simulate/frames.h"
#include "sonde/instruments/stem/simulate/truth_file.h"
#include "sonde/instruments/stem/timepix/event_options.h"
#include "sonde/instruments/stem/timepix/packets.h"

namespace sonde::stem {
namespace {

constexpr std::string_view raw_ending = ".tpx3";
constexpr double flyback_share = 0.25;
constexpr Ticks most_late = ticks_per_s / 10'000;  // 100 us
constexpr Ticks most_drift = 19;                   // 30 ns of charge between pixels
constexpr std::size_t chunk_words = 2000;
constexpr Index frames_together = 64;
constexpr double words_per_electron = 1.6 * (1 + flyback_share);

/// A hit as a word: fine time counts back from the next 25 ns.
std::uint64_t hit_word(Ticks time, Index row, Index col, unsigned tot) {
  const std::uint64_t within = static_cast<std::uint64_t>(time) & ((std::uint64_t{1} << hit_bits) - 1);
  const std::uint64_t next = (within + 15) >> 4, back = (next << 4) - within;
  const auto x = static_cast<std::uint64_t>(col), y = static_cast<std::uint64_t>(row);
  const std::uint64_t address = x / 2 << 9 | y / 4 << 3 | (x & 1) << 2 | (y & 3);
  return std::uint64_t{packet::hit} << 60 | address << 44 | (next & 0x3fff) << 30 | std::uint64_t{tot} << 20 |
         back << 16 | (next >> 14 & 0xffff);
}

std::uint64_t line_word(FineTicks time, std::uint64_t number) {
  const auto coarse = static_cast<std::uint64_t>(time / (2 * fine_per_tick)) & ((std::uint64_t{1} << 35) - 1);
  const auto fine = static_cast<std::uint64_t>(time % (2 * fine_per_tick)) + 1;
  return std::uint64_t{packet::tdc} << 60 | std::uint64_t{0xf} << 56 | (number & 0xfff) << 44 | coarse << 9 | fine << 5;
}

std::uint64_t global_word(Ticks time, bool high) {
  const auto coarse = static_cast<std::uint64_t>(time) >> 4;
  return std::uint64_t{packet::global} << 60 | std::uint64_t{high ? 5u : 4u} << 56 |
         (high ? coarse >> 32 & 0xffff : coarse & 0xffffffff) << 16;
}

/// Words on their way to the file, each at the time at which it is written.
class WordStream {
 public:
  WordStream(std::string path, Random random) : file_(std::move(path)), random_(random) {}

  /// Words of one time, which stay together.
  void add(Ticks time, std::initializer_list<std::uint64_t> words) {
    const Ticks late = random_.below(most_late);
    for (const std::uint64_t word : words) waiting_.emplace_back(time + late, word);
  }
  /// Writes what comes before this time, which no word to come is before.
  void release(Ticks time) {
    std::stable_sort(waiting_.begin(), waiting_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const auto end =
        std::partition_point(waiting_.begin(), waiting_.end(), [time](const auto& each) { return each.first < time; });
    for (auto each = waiting_.begin(); each != end; ++each) {
      chunk_.push_back(each->second);
      if (chunk_.size() == chunk_words) flush();
    }
    waiting_.erase(waiting_.begin(), end);
  }
  void commit() {
    release(std::numeric_limits<Ticks>::max());
    flush();
    file_.commit();
  }

 private:
  void flush() {
    if (chunk_.empty()) return;
    const std::uint64_t head = std::uint64_t{chunk_mark} | std::uint64_t{sizeof head * chunk_.size()} << 48;
    file_.write(std::as_bytes(std::span(&head, 1)));
    file_.write(std::as_bytes(std::span(chunk_)));  // little-endian: byte_order.h
    chunk_.clear();
  }

  AtomicFile file_;
  Random random_;
  std::vector<std::pair<Ticks, std::uint64_t>> waiting_;
  std::vector<std::uint64_t> chunk_;
};

/// When lines and positions are, in whole fine ticks where they are.
struct LineTimes {
  double dwell = 0;     // fine ticks
  FineTicks line = 0;   // from one to the next
  FineTicks start = 0;  // of the first
  Index cols = 0;

  LineTimes(const SimulateOptions& options, Index scan_rows, Index scan_cols) : cols(scan_cols) {
    const double exact = parse_duration(options.dwell, setting("dwell")) * fine_ticks_per_s;
    dwell = std::max(1.0, std::round(exact));
    line = static_cast<FineTicks>(std::ceil(dwell * static_cast<double>(cols) * (1 + flyback_share)));
    // The counter of hits is at its end in the middle of the scan.
    const FineTicks period = (FineTicks{1} << hit_bits) * fine_per_tick, half = line * scan_rows / 2;
    start = half < period ? period - half : period / 2;
  }
  [[nodiscard]] FineTicks of_line(Index row) const { return start + row * line; }
  /// The ticks that are at a position; the one after the last column is the flyback.
  [[nodiscard]] std::pair<Ticks, Ticks> ticks_of(Index row, Index col) const {
    const auto up = [](FineTicks fine) { return (fine + fine_per_tick - 1) / fine_per_tick; };
    const FineTicks begin = of_line(row) + static_cast<FineTicks>(dwell) * col;
    const FineTicks end = col == cols ? of_line(row + 1) : begin + static_cast<FineTicks>(dwell);
    return {up(begin), std::max(up(end), up(begin) + 1)};
  }
};

struct TrueElectron {
  Ticks time;
  std::uint32_t pixel;
};

/// An electron, and its second hit.
void write_hits(const TrueElectron& electron, Index cols, Random& random, WordStream& words) {
  const Index row = electron.pixel / cols, col = electron.pixel % cols;
  const auto tot = static_cast<unsigned>(20 + random.below(60));
  words.add(electron.time, {hit_word(electron.time, row, col, tot)});
  if (random.uniform() >= 0.6 || col + 1 == cols) return;
  const Ticks later = electron.time + random.below(most_drift + 1);
  words.add(later, {hit_word(later, row, col + 1, 1 + static_cast<unsigned>(random.below(tot / 3)))});
}

Model model_for(SimulateOptions options) {
  options.masked_pixels = options.hot_pixels = 0;  // of such a detector they are switched off
  Model model = model_of(options);
  if (model.optics().rows > chip_side || model.optics().cols > chip_side)
    throw Error(ErrorKind::bad_input, fmt::format("detector shape {}; a chip has at most {} x {} pixels",
                                                  options.detector_shape, chip_side, chip_side));
  return model;
}

}  // namespace

std::string events_truth_path(const std::string& output) {
  if (!output.ends_with(raw_ending))
    throw Error(ErrorKind::usage, fmt::format("{}: not a name of raw data of a Timepix3 detector", output))
        .hint("give a name that ends in .tpx3");
  return output.substr(0, output.size() - raw_ending.size()) + "_truth.h5";
}

EventSimulationPlan plan_events_simulation(const SimulateOptions& options) {
  const Model model = model_for(options);
  const LineTimes times(options, model.scan_rows(), model.scan_cols());
  EventSimulationPlan plan;
  plan.positions = model.positions();
  plan.electrons = model.optics().dose * static_cast<double>(plan.positions);
  plan.file_bytes = 8 * words_per_electron * plan.electrons;
  plan.duration_s = static_cast<double>(times.line * model.scan_rows()) / fine_ticks_per_s;
  const double late =
      std::min(1.0, static_cast<double>(most_late) / static_cast<double>(ticks_per_s) / plan.duration_s);
  const double in_line = 1 / static_cast<double>(model.scan_rows());
  plan.memory.add("frames", static_cast<std::size_t>(frames_together * model.pixels()) * sizeof(std::uint32_t),
                  "64 at a time");
  plan.memory.add("words", static_cast<std::size_t>((late + in_line) * 2 * plan.file_bytes) + (1u << 20),
                  "of a line and of 100 us, which are mixed");
  if (options.truth)
    plan.memory.add("truth", static_cast<std::size_t>(1.1 * plan.electrons) * 12 + (1u << 20), "12 bytes an electron");
  for (const MemoryPlan::Line& line : plan.memory.lines) plan.memory.peak_bytes += line.bytes;
  return plan;
}

Simulated simulate_events(const SimulateOptions& options, Budget budget) {
  const std::string beside = events_truth_path(options.output);
  const Reservation room =
      budget.reserve(plan_events_simulation(options).memory.peak_bytes, "simulating " + options.output,
                     "raise " + setting("memory") + ", or give a smaller " + setting("occupancy"));
  const Model model = model_for(options);
  const LineTimes times(options, model.scan_rows(), model.scan_cols());
  const auto seed = static_cast<std::uint64_t>(options.seed);
  // Streams that no frame uses.
  WordStream words(options.output, Random(seed, ~std::uint64_t{1}));
  Random random(seed, ~std::uint64_t{2});
  std::unique_ptr<Hdf5Writer> truth =
      options.truth ? std::make_unique<Hdf5Writer>(beside, side_output("the truth of the simulation", FileMark::hdf5))
                    : nullptr;
  const Index cols = model.optics().cols;
  std::vector<std::uint64_t> offsets = {0};
  std::vector<std::uint32_t> index;
  std::vector<std::int64_t> ticks;
  std::uint64_t electrons = 0, flyback = 0;
  std::vector<TrueElectron> here;
  const auto draw_time = [&](Index row, Index col) {
    const auto [first, last] = times.ticks_of(row, col);
    return first + random.below(last - first);
  };
  ProgressMeter progress("simulating", model.positions(), "positions");
  for (Index row = 0; row < model.scan_rows(); ++row) {
    const Ticks begin = times.of_line(row) / fine_per_tick;
    words.add(begin, {line_word(times.of_line(row), static_cast<std::uint64_t>(row))});
    words.add(begin, {global_word(begin, false), global_word(begin, true)});
    for (Index first = 0; first < model.scan_cols(); first += frames_together) {
      check_interrupt();
      const Index count = std::min(frames_together, model.scan_cols() - first);
      const Array frames = simulate_frames(model, seed, row * model.scan_cols() + first, count, DType::u32);
      for (Index k = 0; k < count; ++k) {
        here.clear();
        const auto* counts = static_cast<const std::uint32_t*>(frames.data()) + k * model.pixels();
        for (Index pixel = 0; pixel < model.pixels(); ++pixel)
          for (std::uint32_t electron = 0; electron < counts[pixel]; ++electron)
            here.push_back({draw_time(row, first + k), static_cast<std::uint32_t>(pixel)});
        std::sort(here.begin(), here.end(), [](const TrueElectron& a, const TrueElectron& b) {
          return std::pair(a.time, a.pixel) < std::pair(b.time, b.pixel);
        });
        for (const TrueElectron& electron : here) {
          write_hits(electron, cols, random, words);
          if (!truth) continue;
          index.push_back(electron.pixel);
          ticks.push_back(electron.time);
        }
        electrons += here.size();
        offsets.push_back(electrons);
      }
      progress.advance(count);
    }
    const auto in_flyback =
        static_cast<Index>(flyback_share * static_cast<double>(model.scan_cols()) * model.optics().dose);
    for (Index electron = 0; electron < in_flyback; ++electron)
      write_hits({draw_time(row, model.scan_cols()), static_cast<std::uint32_t>(random.below(model.pixels()))}, cols,
                 random, words);
    flyback += static_cast<std::uint64_t>(in_flyback);
    words.release(times.of_line(row + 1) / fine_per_tick);
  }
  if (truth) {
    truth->attribute("/", "schema", truth_schema);
    truth->value("/parameters", parameters_of(options));
    truth->value("/flyback", flyback);
    truth->array("/events/offsets", Array::from(offsets, {model.positions() + 1}));
    truth->array("/events/index", Array::from(index, {static_cast<Index>(index.size())}));
    truth->array("/events/ticks", Array::from(ticks, {static_cast<Index>(ticks.size())}));
  }
  words.commit();
  Simulated result;
  result.files = {options.output};
  if (truth) {
    truth->finish();
    result.files.push_back(beside);
  }
  result.frames = model.positions();
  result.counts_per_frame = static_cast<double>(electrons) / static_cast<double>(model.positions());
  return result;
}

}  // namespace sonde::stem
