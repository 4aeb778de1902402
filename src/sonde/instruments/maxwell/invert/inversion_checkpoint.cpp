// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/checkpoint.h"
#include "sonde/instruments/maxwell/invert/inversion_stage.h"

namespace sonde::maxwell {
namespace {

using Reals = std::vector<double>;
using Wholes = std::vector<std::int64_t>;

/// Arrays without elements are left out.
template <class T>
void put(CheckpointWriter& checkpoint, const std::string& name, const std::vector<T>& values) {
  if (!values.empty()) checkpoint.array(name, Array::from(values, Shape{static_cast<Index>(values.size())}));
}

template <class T>
std::vector<T> get(const CheckpointReader& checkpoint, const std::string& name, std::size_t count) {
  if (count == 0) return {};
  const Array array = checkpoint.array(name, dtype_of<T>, Shape{static_cast<Index>(count)});
  const auto* first = static_cast<const T*>(array.data());
  return {first, first + count};
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

/// What save() never writes: another program did, and what it says would be looked up where nothing is.
void require_order(bool holds, const CheckpointReader& checkpoint) {
  if (!holds) throw Error(ErrorKind::bad_file, checkpoint.path() + ": stages, history and ends contradict each other");
}

constexpr std::size_t counter_count = 10, value_count = 8, row_reals = 5;
constexpr std::int64_t most_of_a_counter = std::int64_t{1} << 40;  // so that sizes of arrays do not overflow

}  // namespace

void Inversion::save(CheckpointWriter& checkpoint) const {
  const bool runs = stage_ != nullptr;
  const Point point = runs ? stage_->point() : Point{};
  const std::size_t pairs = point.pairs.size();
  put(checkpoint, "counters",
      Wholes{stage_number_, runs ? 1 : 0, runs ? stage_->iteration : 0, runs ? stage_->batch : 0, evaluations_,
             finished_ ? 1 : 0, static_cast<Index>(pairs), runs ? static_cast<Index>(stage_->seen.size()) : 0,
             static_cast<Index>(history_.size()), static_cast<Index>(ends_.size())});
  put(checkpoint, "numbers", numbers());
  Reals amplitudes, rows, seconds;
  for (const Reals& each : measurements_.amplitudes) append(amplitudes, each);
  put(checkpoint, "amplitudes", amplitudes);
  Wholes places, ends;
  for (const InversionRow& row : history_) {
    append(places, {row.stage, row.iteration, row.evaluations});
    append(rows, {row.objective, row.misfit, row.regularisation, row.chi2, row.projected_gradient});
    seconds.push_back(row.seconds);
  }
  for (const StageEnd& end : ends_) append(ends, {end.stage, static_cast<std::int64_t>(end.reason)});
  put(checkpoint, "history_places", places);
  put(checkpoint, "history", rows);
  put(checkpoint, "run/seconds", seconds);
  put(checkpoint, "ends", ends);
  if (!runs) return;
  put(checkpoint, "values",
      Reals{point.value, at_.misfit, at_.squares, at_.regularisation, stage_->scale, stage_->tolerance,
            stage_->first_move, point.forcing});
  put(checkpoint, "gradient", point.gradient);
  Reals steps, changes, seen;
  for (const auto& pair : point.pairs) {
    append(steps, pair.step);
    append(changes, pair.change);
  }
  put(checkpoint, "steps", steps);
  put(checkpoint, "changes", changes);
  put(checkpoint, "diagonal", stage_->diagonal);
  for (const Stage::Seen& each : stage_->seen) append(seen, {each.objective, each.chi2});
  put(checkpoint, "seen", seen);
}

void Inversion::restore(const CheckpointReader& checkpoint) {
  const Wholes counters = get<std::int64_t>(checkpoint, "counters", counter_count);
  const bool runs = counters[1] != 0;
  for (const std::int64_t each : counters)
    if (each < 0 || each > most_of_a_counter)
      throw Error(ErrorKind::bad_file,
                  fmt::format("{}: a counter is {}; expected 0 to {}", checkpoint.path(), each, most_of_a_counter));
  const auto stages = static_cast<Index>(settings_.stages.size());
  if (counters[0] > stages || (runs && counters[0] == stages) || counters[6] > settings_.memory)
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: the checkpoint is in stage {} with {} pairs; the inversion has {} stages and keeps {}",
                            checkpoint.path(), counters[0] + 1, counters[6], stages, settings_.memory));
  stage_number_ = counters[0];
  evaluations_ = counters[4];
  finished_ = counters[5] != 0;
  const std::size_t count = numbers_.size();
  numbers_ = get<double>(checkpoint, "numbers", count);

  std::size_t sources = 0;
  for (const Reals& each : measurements_.amplitudes) sources += each.size();
  const Reals amplitudes = get<double>(checkpoint, "amplitudes", sources);
  auto from = amplitudes.begin();
  for (Reals& each : measurements_.amplitudes) {
    std::copy_n(from, each.size(), each.begin());
    from += static_cast<std::ptrdiff_t>(each.size());
  }

  const auto rows = static_cast<std::size_t>(counters[8]), ended = static_cast<std::size_t>(counters[9]);
  const Index begun = stage_number_ + (runs ? 1 : 0);
  require_order(counters[9] == stage_number_ && (begun == 0 || rows > 0) &&
                    (finished_ ? !runs && begun > 0 : stage_number_ < stages),
                checkpoint);
  const Wholes places = get<std::int64_t>(checkpoint, "history_places", 3 * rows);
  const Reals values = get<double>(checkpoint, "history", row_reals * rows);
  const Reals seconds = get<double>(checkpoint, "run/seconds", rows);
  history_.clear();
  for (std::size_t i = 0; i < rows; ++i) {
    const double* row = &values[row_reals * i];
    require_order(places[3 * i] >= 0 && places[3 * i] < begun && places[3 * i + 1] >= 0, checkpoint);
    history_.push_back(
        {places[3 * i], places[3 * i + 1], row[0], row[1], row[2], row[3], row[4], places[3 * i + 2], seconds[i]});
  }
  const Wholes ends = get<std::int64_t>(checkpoint, "ends", 2 * ended);
  ends_.clear();
  for (std::size_t i = 0; i < ended; ++i) {
    if (ends[2 * i + 1] < 0 || ends[2 * i + 1] > static_cast<std::int64_t>(StopReason::wall_clock))
      throw Error(ErrorKind::bad_file,
                  fmt::format("{}: {} is not an end of a stage", checkpoint.path(), ends[2 * i + 1]));
    require_order(ends[2 * i] == static_cast<Index>(i), checkpoint);
    ends_.push_back({ends[2 * i], static_cast<StopReason>(ends[2 * i + 1])});
  }
  seconds_before_ = history_.empty() ? 0 : history_.back().seconds;
  watch_.restart();
  stage_.reset();
  if (runs) restore_stage(checkpoint, counters);
}

void Inversion::restore_stage(const CheckpointReader& checkpoint, const std::vector<std::int64_t>& counters) {
  if (counters[3] >= batches())
    throw Error(ErrorKind::bad_file, fmt::format("{}: the checkpoint is in batch {}, the inversion has {}",
                                                 checkpoint.path(), counters[3] + 1, batches()));
  const std::size_t count = numbers_.size(), pairs = static_cast<std::size_t>(counters[6]);
  make_stage(stage_number_);
  stage_->iteration = counters[2];
  choose_batch(counters[3]);
  const Reals values = get<double>(checkpoint, "values", value_count);
  last_ = at_ = {.objective = values[0], .misfit = values[1], .squares = values[2], .regularisation = values[3]};
  stage_->scale = values[4];
  stage_->tolerance = values[5];
  stage_->first_move = values[6];
  if (checkpoint.has("diagonal")) stage_->diagonal = get<double>(checkpoint, "diagonal", count);
  const Reals seen = get<double>(checkpoint, "seen", 2 * static_cast<std::size_t>(counters[7]));
  for (std::size_t i = 0; i < seen.size(); i += 2) stage_->seen.push_back({seen[i], seen[i + 1]});
  Point point{.x = numbers_, .gradient = get<double>(checkpoint, "gradient", count), .value = values[0]};
  point.forcing = values[7];
  const Reals steps = get<double>(checkpoint, "steps", pairs * count),
              changes = get<double>(checkpoint, "changes", pairs * count);
  for (std::size_t i = 0; i < pairs; ++i) {
    const auto at = static_cast<std::ptrdiff_t>(i * count), end = static_cast<std::ptrdiff_t>((i + 1) * count);
    point.pairs.push_back({{steps.begin() + at, steps.begin() + end}, {changes.begin() + at, changes.begin() + end}});
  }
  make_optimiser(std::move(point));
}

}  // namespace sonde::maxwell
