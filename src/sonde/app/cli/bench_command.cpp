// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <set>

#include "sonde/app/cli/bench_cases.h"
#include "sonde/app/cli/bench_chart.h"
#include "sonde/app/cli/commands.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/log.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/bench/machine.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/figure/chart.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/ranks/ranks.h"
#include "sonde/engine/report/json.h"
#include "sonde/engine/report/progress.h"

namespace sonde::cli {
namespace {

struct BenchOptions {
  std::string bench_case;
  std::string sizes;
  std::string devices = "auto";
  std::string workers = "1,all";
  double seconds = 3;
  Index samples = 201;
  std::optional<std::string> output;
  bool files = true;
  std::optional<std::string> trace_dir, monkes;
  void describe(Fields& fields) {
    fields.positional(
        "case", bench_case,
        {.help = "case, or the beginning of several where none has that name; without one the cases are listed",
         .optional = true});
    fields.add("sizes", sizes, {.help = "sizes, smallest first; empty takes those of the case", .metavar = "A,B,..."});
    fields.add("devices", devices,
               {.help = "where to run; auto takes every device that can", .metavar = "auto|cpu,cuda"});
    fields.add("workers", workers, {.help = "threads on the CPU, one curve each", .metavar = "1,2,all"});
    fields.add("seconds", seconds,
               {.help = "time for each point once the fewest samples are there", .unit = "s", .min = 0, .max = 3600});
    fields.add("samples", samples, {.help = "most samples of each point", .min = 3, .max = 1e6});
    fields.add("output", output,
               {.help = "beginning of the names of the files (.json, .png, .pdf); unset takes sonde-bench-CASE here",
                .metavar = "PATH",
                .letter = 'o'});
    fields.add("files", files, {.help = "write files at all"});
    fields.add("trace_dir", trace_dir,
               {.help = "write every call with its times as CASE.trace.json there, for chrome://tracing and Perfetto",
                .metavar = "FOLDER"});
    fields.add("monkes", monkes, {.help = "executable of MONKES, for the case neoclassical-peers", .metavar = "PATH"});
  }
};

/// The case of that name; those whose names begin with it where there is none.
std::vector<const BenchCase*> chosen_cases(const std::string& wanted) {
  std::vector<const BenchCase*> chosen;
  std::vector<std::string> names;
  for (const BenchCase& each : bench_cases()) {
    if (each.name == wanted) return {&each};
    names.push_back(each.name);
    if (each.name.starts_with(wanted + "-")) chosen.push_back(&each);
  }
  if (chosen.empty())
    throw Error(ErrorKind::usage, fmt::format("unknown case \"{}\"{}", wanted, did_you_mean(wanted, names)))
        .hint("`sonde bench` lists the cases");
  return chosen;
}

std::vector<int> worker_counts(const std::string& text) {
  const int all = Device::cpu().info().compute_units;
  std::set<int> counts;  // once each, in order
  for (const std::string& word : split(text, ',')) {
    int count = 0;
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), count);
    if (word == "all")
      count = all;
    else if (status != std::errc() || end != word.data() + word.size() || count < 1 || count > 4096)
      throw Error(ErrorKind::usage, fmt::format("--workers: \"{}\" is not a number of threads", word))
          .hint("write for instance 1,2,all");
    counts.insert(count);
  }
  if (counts.empty()) throw Error(ErrorKind::usage, "--workers is empty").hint("write for instance 1,2,all");
  return {counts.begin(), counts.end()};
}

bool can_run(const BenchCase& bench_case, Device device) {
  return std::find(bench_case.devices.begin(), bench_case.devices.end(), device.kind()) != bench_case.devices.end();
}

std::vector<Device> chosen_devices(const BenchCase& bench_case, const std::string& text) {
  std::vector<Device> devices;
  if (text == "auto") {
    for (const Device& device : Device::all())
      if (can_run(bench_case, device)) devices.push_back(device);
    return devices;
  }
  for (const std::string& word : split(text, ',')) {
    const Device device = Device::parse(word).value;
    if (can_run(bench_case, device))
      devices.push_back(device);
    else
      log_warning(fmt::format("case {} does not run on {}", bench_case.name, device.name()));
  }
  return devices;
}

/// Kinds of devices that a case runs on and this machine lacks, with the reason.
Value absent_devices(const BenchCase& bench_case, const std::string& text) {
  Value absent = Value::list();
  if (text != "auto" || Device::why_no_gpu().empty()) return absent;
  if (std::find(bench_case.devices.begin(), bench_case.devices.end(), DeviceKind::cuda) == bench_case.devices.end())
    return absent;
  Value cuda;
  cuda["device"] = "cuda";
  cuda["because"] = Device::why_no_gpu();
  absent.push_back(std::move(cuda));
  return absent;
}

Value machine_limits(Run& run) {
  if (auto machine = cached_machine()) return *machine;
  log_note("measuring this machine once, for the fractions (`sonde machine` shows the numbers)");
  auto phase = run.report().phase("machine");
  Value machine = measure_machine();
  (void)keep_machine(machine);
  return machine;
}

const OutputRole measured_role = side_output("the file of what was measured", FileMark::json);

/// Where the files of a case go: with several cases, or without a name, each case adds its own.
std::string stem_of(const BenchCase& bench_case, const BenchOptions& options) {
  const std::string stem = options.output ? *options.output : "sonde-bench";
  const bool alone = options.output && bench_case.name == options.bench_case;
  return alone ? stem : stem + "-" + bench_case.name;
}

void write_files(const std::string& stem, const Value& result, const Chart& chart, Run& run) {
  const Value::List& points = result.find("points")->items();
  const bool anything = std::any_of(points.begin(), points.end(),
                                    [](const Value& point) { return point.find("operations")->size() > 0; });
  const ChartFiles files = anything ? write_chart(stem + "-chart", chart) : ChartFiles{};
  AtomicFile file(stem + ".json", measured_role);
  file.write(to_json(result) + "\n");
  file.commit();
  run.say("written: " + stem + ".json" + (files.pictures.empty() ? "" : ", " + join_words(files.pictures, ", ")));
}

Value build() {
  Value made;
  made["version"] = std::string(build_info().version);
  made["revision"] = std::string(build_info().revision);
  made["compiler"] = std::string(build_info().compiler);
  made["mpi"] = mpi_library();
  return made;
}

/// Cases that compare with a program only the user has: without it one of several is left out, and a single one
/// refused.
std::vector<const BenchCase*> those_with_programs(std::vector<const BenchCase*> chosen, const BenchOptions& options) {
  if (options.monkes && ::access(options.monkes->c_str(), X_OK) != 0)
    throw Error(ErrorKind::bad_file, fmt::format("--monkes {}: {}", *options.monkes, std::strerror(errno)))
        .hint("the path of the executable that MONKES's own makefile builds, main_monkes.x");
  if (options.monkes) return chosen;
  const auto lacks = [](const BenchCase* each) { return !each->needs_program.empty(); };
  if (chosen.size() == 1 && lacks(chosen.front()))
    throw Error(ErrorKind::usage, fmt::format("case {} compares with {}, which was not given", chosen.front()->name,
                                              chosen.front()->needs_program))
        .hint("--monkes PATH of its executable");
  for (const BenchCase* each : chosen)
    if (lacks(each)) log_note(fmt::format("case {} is left out: no {} was given", each->name, each->needs_program));
  std::erase_if(chosen, lacks);
  return chosen;
}

void run_case(const BenchCase& bench_case, const BenchOptions& options, const Value& machine, Run& run) {
  const std::vector<std::string> sizes = options.sizes.empty() ? bench_case.sizes : split(options.sizes, ',');
  Sampling sampling{
      .least = bench_case.least, .most = options.samples, .relative = bench_case.relative, .most_s = options.seconds};
  sampling.least = std::min(sampling.least, sampling.most);

  const std::string program = bench_case.needs_program.empty() ? "" : options.monkes.value_or("");
  std::vector<BenchPoint> points;
  for (const std::string& size : sizes)
    for (const Device& device : chosen_devices(bench_case, options.devices))
      if (device.is_cpu())
        for (const int workers : worker_counts(options.workers)) points.push_back({size, device, workers, program});
      else
        points.push_back({size, device, 1, program});
  if (points.empty())
    throw Error(ErrorKind::device, fmt::format("case {} runs on none of the devices", bench_case.name));

  auto phase = run.report().phase(bench_case.name);
  Value measured = Value::list();
  Trace trace;
  {
    ProgressMeter meter("bench " + bench_case.name, static_cast<Index>(points.size()), "points");
    const int threads = thread_count();
    for (const BenchPoint& point : points) {
      set_thread_count(point.workers);
      measured.push_back(run_bench_point(bench_case, point, machine_rates(machine, point.workers), sampling, &trace));
      meter.advance();
    }
    set_thread_count(threads);
  }
  Value result;
  result["schema"] = "sonde.bench/1";
  result["case"] = bench_case.name;
  result["summary"] = bench_case.summary;
  result["machine"] = *machine.find("identity");
  result["build"] = build();
  result["points"] = measured;
  result["speedups"] = speedups(measured);
  result["crossovers"] = crossovers(measured, bench_case.same_work);
  if (!bench_case.grows_with.empty()) result["growth"] = growth(measured);
  result["targets"] = judge_targets(bench_case.targets, measured, bench_case.sizes);
  result["absent_devices"] = absent_devices(bench_case, options.devices);
  run.say(fmt::format("{}: {}\n{}", bench_case.name, bench_case.summary, bench_text(measured)));
  if (const std::string items = items_text(measured, bench_case.item); !items.empty()) run.say(items);
  if (const Value* grown = result.find("growth"))
    for (const Value& each : grown->items())
      run.say(fmt::format("{}, {} x {}: time grows as ({})^{:.2f}, to {:.0f} %", text_at(each, "operation"),
                          text_at(each, "device"), number_at(each, "workers"), bench_case.grows_with,
                          number_at(each, "exponent"), 100 * number_at(each, "scatter")));
  for (const Value& each : result.find("speedups")->items())
    run.say(fmt::format("{}, {}: {} workers are {:.2f} times as fast as one, efficiency {:.2f}", text_at(each, "size"),
                        text_at(each, "operation"), number_at(each, "workers"), number_at(each, "speedup"),
                        number_at(each, "efficiency")));
  for (const Value& crossing : result.find("crossovers")->items())
    run.say(fmt::format("between {} and {} the fastest changes from {} to {}",
                        crossing.find("between")->items()[0].as_text(), crossing.find("between")->items()[1].as_text(),
                        crossing.find("from")->as_text(), crossing.find("to")->as_text()));
  if (result.find("targets")->size() > 0) run.say(targets_text(*result.find("targets")));
  for (const Value& absent : result.find("absent_devices")->items())
    run.say(fmt::format("no device {}: {}; from which size on it is faster than the CPU is not known",
                        text_at(absent, "device"), text_at(absent, "because")));
  if (options.files) {
    write_files(stem_of(bench_case, options), result, bench_chart(bench_case, measured, machine), run);
    if (bench_case.keep) run.say("kept:    " + bench_case.keep(measured));
  }
  if (options.trace_dir) {
    const std::string path = *options.trace_dir + "/" + bench_case.name + ".trace.json";
    trace.write(path);
    run.say("written: " + path);
  }
  run.results()["cases"].push_back(std::move(result));
}

void run_bench(const BenchOptions& options, Run& run) {
  if (options.bench_case.empty()) {
    run.results()["cases"] = Value::list();
    for (const BenchCase& each : bench_cases()) {
      Value row;
      row["case"] = each.name;
      row["summary"] = each.summary;
      row["sizes"] = each.sizes;
      run.results()["cases"].push_back(std::move(row));
      run.say(fmt::format("{:<20} {} (sizes {})", each.name, each.summary, join_words(each.sizes, ", ")));
    }
    return;
  }
  const std::vector<const BenchCase*> chosen = those_with_programs(chosen_cases(options.bench_case), options);
  (void)worker_counts(options.workers);  // before anything is measured
  for (const BenchCase* each : chosen) {
    if (!options.files) break;
    require_place(stem_of(*each, options) + ".json", measured_role);
    require_chart(stem_of(*each, options) + "-chart");
  }
  const Value machine = machine_limits(run);
  for (const BenchCase* each : chosen) run_case(*each, options, machine, run);
}

}  // namespace

Verb bench_command() {
  return {
      .name = "bench",
      .summary = "Measure how fast this program is on this machine",
      .details =
          "Prepares an input of known size, calls each operation once (the first call is reported apart), then all of\n"
          "them in turns until their medians are known to one percent. Rates are given as fractions of the limits "
          "that\n"
          "`sonde machine` measured. Other programs that do the same work run in the same turns where they are "
          "installed.\n"
          "Writes JSON, PNG and PDF.",
      .examples = {{"sonde bench", "List the cases"},
                   {"sonde bench copy --sizes 1M,256M --workers 1,2",
                    "One case with sizes and threads of your choice"}},
      .invoke = invocation<BenchOptions, run_bench>};
}

}  // namespace sonde::cli
