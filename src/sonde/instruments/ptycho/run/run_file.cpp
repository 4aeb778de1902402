// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/run/run_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/checkpoint.h"
#include "sonde/engine/options/toml.h"
#include "sonde/instruments/ptycho/read/files.h"
#include "sonde/instruments/ptycho/results/log.h"
#include "sonde/instruments/ptycho/results/picture.h"

namespace sonde::ptycho {
namespace {

/// path_from_file() for FILE.npy and FILE.h5:DATASET; the name of a data set stays.
std::string named_from_file(const std::string& text, const std::string& file) {
  const ArrayName name = array_name(text, "");
  if (name.file.empty()) return text;
  return ArrayName{path_from_file(name.file, file), name.dataset}.text();
}

/// Probes and objects of a result or a .ptyr are named only by the file.
std::string array_or_file_from_file(const std::string& text, const std::string& file) {
  const std::string named = named_from_file(text, file);
  return named == text ? path_from_file(text, file) : named;
}

/// The names of a table of engines or constraints.
std::vector<std::string> names_of(const auto& kinds) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) names.emplace_back(kind.name);
  return names;
}

}  // namespace

void ComputeSettings::describe(Fields& fields) {
  fields.choice("precision", precision, {{"f32", ComputePrecision::f32}, {"f64", ComputePrecision::f64}},
                {.help = "of all computing; f64 is for checks"});
  fields.add("seed", seed, {.help = "where random numbers begin: orders, held-out frames", .min = 0});
  fields.add(
      "deterministic", deterministic,
      {.help = "the same bits in every run on this kind of processor, also where no transforms were measured before: "
               "their plans follow rules, and may be slower"});
  fields.add("band_limit", band_limit,
             {.help = "free space between slices lets two thirds of all frequencies through"});
  fields.choice("waves", waves, {{"full", Encoding::raw}, {"bf16", Encoding::bf16}},
                {.help = "how projection engines keep exit waves: as computed, or rounded to a quarter of the digits "
                         "and half the bytes"});
  fields.choice("wave_tier", wave_tier, {{"auto", std::nullopt}, {"host", Tier::host}, {"disk", Tier::disk}},
                {.help = "where exit waves are: in memory, or in a file"});
  fields.add("scratch", scratch,
             {.help = "folder for patterns and waves on the disk; empty: $TMPDIR, else /var/tmp", .metavar = "FOLDER"});
}

Choice<FftEffort> ComputeSettings::transforms() const {
  if (deterministic) return {FftEffort::quick, "deterministic: they follow rules"};
  return {FftEffort::measured, "the fastest on this machine, kept for later runs"};
}

void MultiStartSettings::describe(Fields& fields) {
  fields.add("starts", starts,
             {.help = "first objects to try, each with other random phases (object.init = \"random\")",
              .min = 1,
              .max = 1000});
  fields.add("iterations", iterations, {.help = "after how many only the best continues", .min = 1});
  fields.add("at_once", at_once,
             {.help = "how many work at the same time; 0: one for each thread, as far as the memory goes",
              .min = 0,
              .max = 1000});
}

void QualitySettings::describe(Fields& fields) {
  fields.add("half_data", half_data,
             {.help = "reconstruct both halves of the frames as well; how they agree gives the resolution"});
}

void OutputSettings::describe(Fields& fields) {
  fields.add("file", file, {.help = "the result file", .metavar = "FILE.h5"});
  fields.add("log", log, {.help = "metrics of every iteration as JSON lines; empty: none", .metavar = "FILE.jsonl"});
  fields.add("pictures", pictures, {.help = "phase and amplitude as PNG beside the result"});
  fields.add(
      "preview_every", preview_every,
      {.help = "iterations between pictures of the phase (FILE_phase.png) while the run works; 0: only at the end",
       .min = 0});
  fields.add("report", report, {.help = "a page with pictures, curves and assessments (HTML) beside the result"});
  fields.add("level_phase", level_phase,
             {.help = "give a linear phase of the object to the probe at the end, which no pattern can tell from it; "
                      "for objects of one slice. Wrong for a specimen with a step from one side to the other"});
  fields.add(
      "checkpoint_every", checkpoint_every,
      {.help = "iterations between checkpoints (FILE.ckpt.h5) from which `resume` continues; 0: none", .min = 0});
  fields.add("checkpoint_minutes", checkpoint_minutes,
             {.help = "minutes between checkpoints, after the iteration that passes them; 0: none. With either key "
                      "SIGTERM leaves one too",
              .unit = "min",
              .min = 0});
}

std::string OutputSettings::checkpoint() const {
  return std::filesystem::path(file).replace_extension(".ckpt.h5").string();
}

std::string OutputSettings::picture(const std::string& what) const {
  return std::filesystem::path(file).replace_extension().string() + "_" + what + ".png";
}

std::string OutputSettings::report_page() const {
  return std::filesystem::path(file).replace_extension().string() + "_report.html";
}

void OutputSettings::write_nothing() {
  for (const auto& [key, asked] : {std::pair("output.checkpoint_every", checkpoint_every > 0),
                                   std::pair("output.checkpoint_minutes", checkpoint_minutes > 0),
                                   std::pair("output.preview_every", preview_every > 0)})
    if (asked)
      throw Error(ErrorKind::usage, setting(key) + " writes beside the result, for which no file is named")
          .hint("give " + setting("output.file"));
  file.clear();
  pictures = report = false;
}

void OutputSettings::require_places() const {
  if (!file.empty()) require_place(file);
  if (!log.empty()) require_log(log);
  if (wants_checkpoints()) require_place(checkpoint(), checkpoint_role());
  if (pictures || preview_every > 0) require_place(picture("phase"), picture_role());
  if (pictures) require_place(picture("amplitude"), picture_role());
  if (report) require_place(report_page(), page_role());
}

RunFile::RunFile(std::span<const EngineKind> engines) : kinds_(engines) {
  tables_.add("data", Fields(data));
  tables_.add("geometry", Fields(geometry));
  tables_.add("probe", Fields(probe));
  tables_.add("object", Fields(object));
  tables_.add("low_resolution", Fields(low_resolution));
  tables_.add("direct", Fields(direct));
  tables_.add_list("engine", names_of(kinds_), [this](const std::string& kind) { return append_engine(kind); });
  Fields of_positions(positions);
  correction.describe(of_positions);
  tables_.add("positions", std::move(of_positions));
  tables_.add("opr", Fields(opr));
  tables_.add_list("constraint", names_of(constraint_kinds()),
                   [this](const std::string& kind) { return append_constraint(kind); });
  tables_.add("stop", Fields(stop));
  tables_.add("compute", Fields(compute));
  tables_.add("multi_start", Fields(multi_start));
  tables_.add("quality", Fields(quality));
  tables_.add("output", Fields(output));
}

Fields RunFile::append_engine(const std::string& kind) {
  std::shared_ptr<EngineSetup> setup = engine_kind(kind, kinds_).setup();
  engines_.push_back(std::make_unique<EngineRun>(EngineRun{.name = kind, .setup = setup}));
  setups_.push_back(std::move(setup));
  Fields fields;
  fields.add("iterations", engines_.back()->iterations, {.help = "how many at most", .min = 1, .max = 1e6});
  setups_.back()->describe(fields);
  return fields;
}

Fields RunFile::append_constraint(const std::string& kind) {
  const ConstraintKind& row = constraint_kind(kind);
  std::shared_ptr<ConstraintSetup> setup = row.setup();
  Fields fields;
  setup->describe(fields);
  constraints_.push_back({row.name, std::move(setup)});
  return fields;
}

void RunFile::read(const std::string& path) {
  read_toml(path, tables_);
  data.file = path_from_file(data.file, path);
  data.positions = named_from_file(data.positions, path);
  data.mask = named_from_file(data.mask, path);
  probe.file = array_or_file_from_file(probe.file, path);
  object.file = array_or_file_from_file(object.file, path);
  compute.scratch = path_from_file(compute.scratch, path);
  output.file = path_from_file(output.file, path);
  output.log = path_from_file(output.log, path);
}

void RunFile::parse(std::string_view text, const std::string& name) { parse_toml(text, name, tables_); }

Schedule RunFile::schedule() const {
  if (engines_.empty())
    throw Error(ErrorKind::bad_input, "the run file names no engine")
        .hint("add a table [[engine]] with name = \"" + names_of(kinds_).front() + "\"; known are " +
              join_words(names_of(kinds_)));
  Schedule schedule;
  for (const auto& engine : engines_) schedule.engines.push_back(*engine);
  schedule.object_start = object.start;
  schedule.probe_start = probe.start;
  schedule.positions = correction;
  schedule.opr = opr;
  schedule.constraints = constraints_;
  schedule.stop = stop;
  schedule.holdout = data.holdout;
  schedule.seed = static_cast<std::uint64_t>(compute.seed);
  schedule.transforms = compute.transforms().value;
  schedule.limits.wave_tier = compute.wave_tier.value_or(Tier::host);
  schedule.limits.wave_encoding = compute.waves;
  return schedule;
}

std::string RunFile::text() const { return to_toml(tables_.echo()); }

}  // namespace sonde::ptycho
