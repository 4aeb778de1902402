// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/run/record.h"

#include <exception>
#include <filesystem>

#include <fmt/format.h>

#include "sonde/engine/base/as_error.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/base/sha256.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/separate/run/stem_source.h"

namespace sonde::separate {

std::string kept_path(const SeparationTask& task) {
  return (task.record.empty() ? task.paths.front() : task.record) + ".part";
}

namespace {

std::string origin_of_input(const SeparationTask& task) {
  if (const StemSource* source = task.source.get()) {
    return origin_of(source->song, source->settings, source->config) +
           fmt::format("stem {} {} {}\n", source->stem.name, source->stem.mixture, fmt::join(source->stem.stems, " "));
  }
  std::error_code none;
  const auto changed = std::filesystem::last_write_time(task.input, none).time_since_epoch().count();
  return fmt::format("input {}, {} bytes of {}\n", std::filesystem::path(task.input).filename().string(),
                     file_bytes(task.input).value_or(0), changed);
}

}  // namespace

std::string origin_of(const SeparationTask& task, const SeparationSettings& settings, const Config& config) {
  const AudioReadOptions& reading = settings.reading;
  return origin_of_input(task) +
         fmt::format("overlap {}\npolicy {}\nchunk {}\nshifts {}\ntta {}\n", settings.overlap,
                     settings.policy == Policy::fade ? "fade" : "uniform", config.chunk, settings.shifts,
                     settings.tta) +
         (settings.in_parts() ? "in parts\n" : "") + (settings.quality ? "quality\n" : "") +
         fmt::format("start {} s\nseconds {}\ndownmix {}\nnan {}\nresample_quality {}\n", reading.from_s,
                     reading.seconds, static_cast<int>(reading.downmix), static_cast<int>(reading.non_finite),
                     static_cast<int>(reading.quality)) +
         settings.origin;
}

std::string identity_of(const SeparationTask& task, const SeparationSettings& settings, const std::string& origin) {
  std::string text = origin;
  const AudioWriteOptions& file = settings.writing.file;
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    text += fmt::format("{} {} {}\n", std::filesystem::path(task.paths[i]).filename().string(), task.outputs[i].mixture,
                        fmt::join(task.outputs[i].stems, " "));
  }
  text +=
      fmt::format("{} {} {} {} {}", static_cast<int>(file.format), static_cast<int>(file.type),
                  static_cast<int>(file.dither), static_cast<int>(settings.writing.clip), settings.writing.keep_rate);
  return hexadecimal(sha256(text));
}

bool is_complete(const SeparationTask& task, const std::string& identity) {
  const std::string summary = task.record + ".json";
  if (task.record.empty() || !is_plain_file(summary)) return false;
  for (const std::string& path : task.paths) {
    if (!is_plain_file(path)) return false;
  }
  const InRun none(nullptr);  // looking at it makes no input of it
  try {
    const Value found = read_json(summary);
    const Value* const of = found.find("identity");
    return of != nullptr && of->is_text() && of->as_text() == identity;
  } catch (const Error&) {
    return false;  // whatever it is, it is no summary of these files
  }
}

void abandon(Spool& kept) {
  const ErrorKind kind = as_error(std::current_exception(), "").kind();
  const bool ended = kind == ErrorKind::interrupted || kind == ErrorKind::terminated;
  const bool nothing = kept.pass() == 0 && kept.finished() == 0;
  if (nothing || !ended) kept.remove();
}

Value summary_of(const SeparationTask& task, const SeparationResult& result, const std::string& identity,
                 const SeparationSettings& settings) {
  Value summary;
  summary["schema"] = "sonde.separation/1";
  summary["version"] = build_info().version;
  const Value about = settings.about();
  for (const Value::Member& each : about.members()) summary[each.key] = each.value;
  // A preview is no complete result, which a later run would skip.
  if (result.passes_done == result.passes) summary["identity"] = identity;
  summary["input"] = std::filesystem::path(task.input).filename().string();
  if (task.source) summary["stem_of"] = std::filesystem::path(task.source->song.input).filename().string();
  summary["policy"] = settings.policy == Policy::fade ? "fade" : "uniform";
  summary["overlap"] = settings.overlap;
  summary["shifts"] = settings.shifts;
  summary["tta"] = settings.tta;
  summary["passes"] = result.passes;
  summary["passes_done"] = result.passes_done;
  summary["samples"] = result.samples;
  summary["unweighted_samples"] = result.unweighted;
  summary["zeroed_samples"] = result.zeroed;
  summary["gain"] = result.written.gain;
  summary["consistency_db"] = result.written.consistency_db;
  if (!result.quality.is_null()) summary["quality"] = result.quality;
  for (std::size_t i = 0; i < task.outputs.size(); ++i) {
    Value& stem = summary["stems"].push_back(Value::object());
    stem["name"] = task.outputs[i].name;
    stem["file"] = std::filesystem::path(task.paths[i]).filename().string();
    stem["peak"] = result.written.outputs[i].peak;
    stem["rms"] = result.written.outputs[i].rms;
    stem["clipped"] = result.written.outputs[i].clipped;
  }
  return summary;
}

}  // namespace sonde::separate
