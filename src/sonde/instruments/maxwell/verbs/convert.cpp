// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/report/provenance.h"
#include "sonde/engine/run/run.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/instruments/maxwell/field/field_files.h"
#include "sonde/instruments/maxwell/field/line_contents.h"
#include "sonde/instruments/maxwell/field/moveout.h"
#include "sonde/instruments/maxwell/field/processing.h"
#include "sonde/instruments/maxwell/grid/constants.h"
#include "sonde/instruments/maxwell/verbs/line_source.h"
#include "sonde/instruments/maxwell/verbs/run_parts.h"
#include "sonde/instruments/maxwell/verbs/verbs.h"

namespace sonde::maxwell {
namespace {

constexpr double nanosecond = 1e-9;

std::optional<double> number_in(std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// FieldInfo::check.
void require_time_zero(std::string_view text, std::string_view where) {
  if (text != "header" && text != "first-break" && !number_in(text))
    throw Error(ErrorKind::usage, fmt::format("{}: \"{}\"; expected header, first-break or ns", where, text));
}

struct ConvertOptions {
  std::string input, output;
  LineSource source;
  std::string subtracted, time_zero;
  std::optional<double> dewow, resample, to_2d, gain;
  std::optional<Index> background;
  double gain_limit = 60;
  bool layers = false;
  void describe(Fields& fields) {
    fields.positional("input", input,
                      {.help = "traces: of gprMax (one run or merged), of sonde, or of a field format",
                       .metavar = "IN.out|.h5|.dzt|.dt1|.rd3|.rd7|.sgy"});
    fields.positional("output", output,
                      {.help = "the same traces in the format of its ending",
                       .metavar = "OUT.dt1|.rd3|.rd7|.sgy|.h5|.nc|.npz|.out",
                       .optional = true});
    source.describe(fields);
    fields.heading("Processing, in this order");
    fields.add("subtract", subtracted,
               {.help = "a line to subtract, for instance of the antennas in free space: trace by trace, or its mean "
                        "where the numbers differ",
                .metavar = "FILE"});
    fields.add("time_zero", time_zero,
               {.help = "cut off what is before time zero: that of the file, that of the first break (a tenth of the "
                        "largest mean magnitude), or ns after the first sample",
                .metavar = "header|first-break|NS",
                .check = require_time_zero});
    fields.add("dewow", dewow,
               {.help = "subtract the running mean of this window; 0: of one period of the nominal frequency",
                .unit = "ns",
                .min = 0});
    fields.add("background", background,
               {.help = "subtract the mean of so many traces about each; 0: of all", .unit = "traces", .min = 0});
    fields.add("resample", resample, {.help = "sample interval, band-limited", .unit = "ns", .min = 1e-6});
    fields.add("to_2d", to_2d,
               {.help = "from three dimensions to two, with this mean relative permittivity of the ground", .min = 1});
    fields.add("gain", gain,
               {.help = "spreading and exponential compensation: proportional to time, and exponential at this rate",
                .unit = "dB/ns",
                .min = 0});
    fields.add("gain_limit", gain_limit, {.help = "largest gain", .unit = "dB", .min = 1, .max = 300});
    fields.heading("Velocities");
    fields.add(
        "layers", layers,
        {.help = "report the layers below a gather of one source (WARR, CMP), whose positions are distances from "
                 "it: by semblance of reflections, before any processing",
         .flag_only = true});
  }

  [[nodiscard]] bool processes() const {
    return layers || !subtracted.empty() || !time_zero.empty() || dewow || background || resample || to_2d || gain;
  }
};

bool is_field_output(const std::string& path) {
  const std::vector<std::string>& endings = written_field_endings();
  return std::find(endings.begin(), endings.end(), output_ending(path)) != endings.end();
}

void require_outputs(const std::string& output) {
  if (output.empty()) return;
  std::vector<std::string> endings = written_field_endings();
  endings.insert(endings.end(), {".h5", ".nc", ".npz", ".out"});
  (void)require_ending(output, "traces", endings);
  for (const std::string& file : field_files_of(output)) require_place(file);
}

/// Everything of a simulated file, in another one.
void convert_whole(const ConvertOptions& options, Run& run) {
  const GprmaxOutput traces = read_model_traces(options.input);
  const bool as_gprmax = output_ending(options.output) == ".out";
  if (as_gprmax) write_gprmax_output(options.output, traces);
  Contents contents = traces_contents(traces);
  contents.attribute("made_by", made_by_text());
  run.give(contents, as_gprmax ? "" : options.output);
  run.results()["receivers"] = static_cast<Index>(traces.receivers.size());
  run.results()["runs"] = std::max<Index>(1, traces.runs);
  run.results()["iterations"] = traces.iterations;
  run.results()["dt_s"] = traces.dt;
}

LineProcessing steps_of(const ConvertOptions& options, const FieldLine& line) {
  LineProcessing steps{.background = options.background, .eps_r_2d = options.to_2d, .gain = options.gain};
  steps.gain_limit = options.gain_limit;
  if (options.time_zero == "header")
    steps.time_zero = line.time_zero;
  else if (options.time_zero == "first-break")
    steps.time_zero = first_break(line);
  else if (!options.time_zero.empty())
    steps.time_zero = number_in(options.time_zero).value_or(0) * nanosecond;
  if (options.dewow) steps.dewow = *options.dewow * nanosecond;
  if (options.resample) steps.dt = *options.resample * nanosecond;
  return steps;
}

/// Another line of the same survey, read as this one.
FieldLine line_to_subtract(const ConvertOptions& options, Run& run) {
  const Reservation reserved = reserve_traces(options.subtracted, run);
  return options.source.read(options.subtracted);
}

/// What a shorter sample interval makes of the traces, and a file of it.
Reservation reserve_resampled(const ConvertOptions& options, const FieldLine& line, Run& run) {
  const double samples =
      options.resample ? static_cast<double>(line.samples) * line.dt / (*options.resample * nanosecond) : 0;
  const double bytes = 2 * sizeof(float) * static_cast<double>(line.traces) * samples;
  return run.host_budget().reserve(static_cast<std::size_t>(std::min(bytes, 1e18)), "the traces at the new interval",
                                   "raise " + setting("memory") + ", or give a longer " + setting("resample"));
}

void report_line(const FieldLine& line, Run& run) {
  Value& results = run.results();
  results["format"] = line.format;
  results["traces"] = line.traces;
  results["samples"] = line.samples;
  results["dt_s"] = line.dt;
  results["time_zero_s"] = line.time_zero;
  results["nominal_frequency_hz"] = line.nominal_frequency;
  results["separation_m"] = line.separation;
  results["channels"] = line.channels;
  results["history"] = line.history;
  results["warnings"] = line.warnings;
  run.say(fmt::format(
      "line      {} traces of {} samples, {:.6g} ns, {}", line.traces, line.samples, line.dt / nanosecond,
      line.positions.empty() ? "without positions"
                             : fmt::format("{:.6g} to {:.6g} m", line.positions.front(), line.positions.back())));
  for (const std::string& step : line.history) run.say("did       " + step);
}

void report_layers(const FieldLine& gather, Run& run) {
  const DirectWave first = direct_wave(gather);
  const std::vector<Reflection> found = reflections(gather, first.centre);
  Value& results = run.results()["gather"];
  results["first_velocity_m_per_s"] = first.velocity;
  results["layers"] = Value::list();
  run.say(fmt::format("first     {:.4g} m/ns, {:+.1f} % of waves in air, semblance {:.2f}", first.velocity * nanosecond,
                      100 * (first.velocity / c0 - 1), first.semblance));
  if (found.empty())
    return run.say(fmt::format("layers    none: no reflection has a semblance of {}", ReflectionSearch{}.least));
  for (const Reflection& each : found)
    run.say(fmt::format("reflects  after {:.4g} ns, {:.4g} m/ns, semblance {:.2f}", each.time / nanosecond,
                        each.velocity * nanosecond, each.semblance));
  const LayerFit fit = fit_layers(gather, first.centre, found);
  for (const Layer& each : fit.layers) {
    const double eps_r = std::pow(c0 / each.velocity, 2);
    Value& one = results["layers"].push_back(Value::object());
    one["velocity_m_per_s"] = each.velocity;
    one["thickness_m"] = each.thickness;
    one["eps_r"] = eps_r;
    run.say(fmt::format("layer     {:.4g} m of {:.4g} m/ns, eps_r {:.3g}", each.thickness, each.velocity * nanosecond,
                        eps_r));
  }
  results["residual_before_s"] = fit.before;
  results["residual_after_s"] = fit.after;
  run.say(fmt::format("fit       {:.3g} ns before, {:.3g} ns after, of {} times", fit.before / nanosecond,
                      fit.after / nanosecond, fit.times));
}

void convert_line(const ConvertOptions& options, Run& run) {
  auto reading = run.report().phase("read");
  FieldLine line = options.source.read(options.input);
  reading.end();
  {
    const auto processing = run.report().phase("process");
    if (options.layers) report_layers(line, run);
    if (!options.subtracted.empty()) subtract(line, line_to_subtract(options, run));
    const Reservation reserved = reserve_resampled(options, line, run);
    process(line, steps_of(options, line));
  }
  report_line(line, run);
  const auto writing = run.report().phase("write");
  const bool as_field = is_field_output(options.output);
  if (as_field) write_field_line(options.output, line);
  Contents contents = line_contents(line);
  contents.attribute("made_by", made_by_text());
  run.give(contents, as_field ? "" : options.output);
}

void run_convert(const ConvertOptions& options, Run& run) {
  require_outputs(options.output);
  if (options.output.empty() && !run.gives_arrays())
    throw Error(ErrorKind::usage, "output is missing").hint("name the file to write as the second word, OUT.dt1");
  const Reservation reserved = reserve_traces(options.input, run);
  const LineFile kind = line_file(options.input);
  options.source.require_meant_for(kind, options.input, run);
  const bool one_line = !has_runs(kind) || is_field_output(options.output) || options.processes() ||
                        run.given("component") || run.given("receiver");
  if (one_line && output_ending(options.output) == ".out")
    throw Error(ErrorKind::usage, options.output + ": one line is not written as a file of gprMax")
        .hint("give a name that ends in .h5, or one of a field format");
  if (one_line)
    convert_line(options, run);
  else
    convert_whole(options, run);
  if (!options.output.empty())
    for (const std::string& file : field_files_of(options.output)) wrote(file, run);
}

}  // namespace

Verb convert_verb() {
  return {
      .name = "maxwell convert",
      .summary = "Convert and process radar traces, simulated or measured",
      .details =
          "Reads files of gprMax and of `sonde maxwell run`, GSSI (DZT), Sensors & Software (DT1 with HD), MALA (RD3 "
          "or "
          "RD7 with RAD) and SEG-Y, and writes all but DZT. Of a simulated file all receivers are converted between "
          ".out "
          "and .h5; a field format, processing, component or receiver take one receiver, whose runs are the traces. "
          "What was done is kept in the written file and added to when it is processed again.\n\nDT1, RD3 and RD7 hold "
          "whole numbers: other samples are scaled to their range, and the header holds the scale. Times in SEG-Y are "
          "read and written in ps (sample interval) and ns (delay), as radar programs do. A file that contradicts "
          "itself "
          "is converted with a warning where its traces are certain, else refused.",
      .examples = {{"sonde maxwell convert LINE01.DZT line.h5", "A measured line as arrays"},
                   {"sonde maxwell convert LINE01.DT1 line.sgy --time-zero header --dewow 0 --background 0",
                    "Processed, for another program"},
                   {"sonde maxwell convert model_merged.out model.rd3 --component Ez",
                    "A simulated line as a measured one"},
                   {"sonde maxwell convert LINE01.DT1 line.h5 --to-2d 6 --resample 0.2",
                    "A measured line for an inversion in two dimensions"}},
      .invoke = invocation<ConvertOptions, run_convert>};
}

}  // namespace sonde::maxwell
