// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/options/value.h"
#include "sonde/instruments/separate/audio/audio_reader.h"
#include "sonde/instruments/separate/demix/demixer.h"
#include "sonde/instruments/separate/network/plan.h"
#include "sonde/instruments/separate/run/outputs.h"
#include "sonde/instruments/separate/run/stem_files.h"

namespace sonde::separate {

struct StemSource;

/// One file and what is made of it.
struct SeparationTask {
  std::string input;
  /// In place of the file: a stem that another network made. `input` stands for it in messages.
  std::shared_ptr<const StemSource> source{};
  std::vector<Output> outputs{};
  std::vector<std::string> paths{};  ///< of each output
  /// Path without ending of the summary (.json) and of what is kept between network and stems (.part). Empty: no
  /// summary, and the other beside the first output.
  std::string record{};
};

struct SeparationResult;

struct SeparationSettings {
  AudioReadOptions reading{};
  StemWriteSettings writing{};
  Index overlap = 1;
  Policy policy = Policy::fade;
  /// The mean over the file shifted in a circle by 0, 1/N, ... of its length.
  Index shifts = 1;
  /// The mean over each chunk as it is, with its channels in reverse order, and with the other sign.
  bool tta = false;
  /// Writes the stems after every pass over a file, of which the first one has a chunk for each sample only; each later
  /// one makes them better, and the last ones are the same up to the rounding of sums.
  bool preview = false;
  /// Finds out how far passes over the file agree; the same passes as of a preview.
  bool quality = false;
  [[nodiscard]] bool in_parts() const { return preview || quality; }
  bool resume = false;  ///< continues where an earlier run was interrupted, and skips what is complete
  bool keep = false;    ///< what is kept of a file stays when its stems are complete: the result has it
  /// What else decides the samples (the network), in lines of text: no other run's work is continued.
  std::string origin{};
  /// What is said of the network in every summary; called on the thread that writes.
  std::function<Value()> about = [] { return Value::object(); };
  /// Called when a file is begun, and for its stems as they are joined, on the thread that separates: for those who
  /// watch.
  struct Watching {
    std::function<void(const std::string& input, Index samples)> begin{};
    std::function<void(Index pass, Index passes, Index first, View<const float, 3> stems)> stems{};
  } watching{};
  /// Called when the stems of a preview have their names, on the thread that separates.
  std::function<void(const SeparationTask&, const SeparationResult&)> refined{};
};

/// Seconds of one file.
struct SeparationTimes {
  double decode = 0;  ///< with resampling, on a thread of its own
  double network = 0, first_chunk = 0;
  double joining = 0;       ///< of chunks, and keeping what is finished
  double waiting = 0;       ///< for what is decoded
  double write = 0;         ///< of the stems; the last ones while the next file is separated
  double first_result = 0;  ///< of a preview, from the beginning on
  double chunk_median = 0;
  Index slow_chunks = 0;  ///< which took more than twice the median
};

/// What was heard while a file was separated.
struct SeparationResult {
  AudioInfo input;
  bool was_complete = false;  ///< by an earlier run: all that follows is empty, but for `kept`
  Index resumed_at = 0;       ///< samples that an earlier run had finished
  Index samples = 0;          ///< of each channel, at the network's rate
  Index chunks = 0, unweighted = 0, zeroed = 0;
  Index passes = 1, passes_done = 0;  ///< over the file; all are done but in a preview
  WrittenStems written;
  Value quality{};  ///< as quality_value() says; null unless it was asked for
  SeparationTimes times;
  std::shared_ptr<Spool> kept{};  ///< with SeparationSettings::keep
};

/// How a network joins its chunks in this run.
[[nodiscard]] DemixSettings demix_settings(const Config& config, const SeparationSettings& settings);
/// Passes of chunks through the network for a signal of so many samples.
[[nodiscard]] Index network_passes(const Config& config, const SeparationSettings& settings, Index samples);
/// Memory that separate_files() takes beside the network.
[[nodiscard]] std::size_t bytes_for(const Config& config, const SeparationSettings& settings);
/// Bytes on disk of what is kept of a file between network and stems.
[[nodiscard]] double kept_bytes(const Config& config, const SeparationSettings& settings, Index samples);

/// With SeparationSettings::resume, where an earlier run has completed the files of a task: its result. With
/// SeparationSettings::keep only where what is kept of the file is there too. Throws what Spool throws.
[[nodiscard]] std::optional<SeparationResult> complete_before(const SeparationTask& task,
                                                              const SeparationSettings& settings, const Config& config);

/// Separates files one after the other, with memory that does not depend on their lengths: while the network works, the
/// next samples are decoded, of the next file too, and the stems of the file before are written. `finished` is called
/// for each file when its stems have their names, in their order, on this thread. Folders must be there. An interrupt
/// ends the work between two chunks; what a later run needs to resume is then kept, and removed after other errors.
/// Throws what reader, writer and Spool throw.
void separate_files(const std::vector<SeparationTask>& tasks, const SeparationSettings& settings, const Config& config,
                    Network& network, const std::function<void(std::size_t task, const SeparationResult&)>& finished);

/// The same for one file, whose folders are made.
[[nodiscard]] SeparationResult separate_file(const SeparationTask& task, const SeparationSettings& settings,
                                             const Config& config, Network& network);

}  // namespace sonde::separate
