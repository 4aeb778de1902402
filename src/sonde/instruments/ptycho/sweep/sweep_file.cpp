// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/sweep/sweep_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "sonde/engine/base/error.h"
#include "sonde/engine/options/toml.h"

namespace sonde::ptycho {
namespace {

/// Whether trials that differ in it still share their counts and write nothing.
bool may_vary(const std::string& setting) {
  if (setting == "data.holdout") return true;
  for (const char* kept : {"data.", "output.", "quality.", "multi_start.", "compute.precision"})
    if (setting.starts_with(kept)) return false;
  return true;
}

void require_sense(const Variation& variation) {
  if (variation.setting.empty())
    throw Error(ErrorKind::bad_input, "a [[vary]] without a setting")
        .hint("for instance setting = \"probe.defocus_A\"");
  if (!may_vary(variation.setting))
    throw Error(ErrorKind::bad_input, fmt::format("{} cannot be varied in one sweep", variation.setting))
        .hint("trials of a sweep share what is read and write nothing of their own: make a sweep for each value");
  if (!variation.values.empty()) return;
  if (!(variation.low < variation.high) || (variation.log && !(variation.low > 0)))
    throw Error(ErrorKind::bad_input, fmt::format("{}: from {} to {} is no {}range", variation.setting, variation.low,
                                                  variation.high, variation.log ? "logarithmic " : ""));
}

}  // namespace

void SweepSettings::describe(Fields& fields) {
  fields.add("run", run, {.help = "the run file whose settings are varied", .metavar = "RUN.toml"});
  fields.add(
      "output", output,
      {.help = "folder of the table, the figure, the best run file and what a sweep continues from", .metavar = "DIR"});
  fields.choice("draw", draw, {{"grid", Draw::grid}, {"random", Draw::random}},
                {.help = "every combination, or as many as trials says at random"});
  fields.add("trials", trials, {.help = "how many are drawn at random", .min = 1, .max = 1e6});
  fields.add("seed", seed, {.help = "where random numbers begin", .min = 0});
  fields.add("halving", halving, {.help = "successive halving: only the best of each round continue"});
  fields.add("first", first, {.help = "iterations of the first round of halving", .min = 1});
  fields.add("keep_one_of", keep_one_of,
             {.help = "one of so many continues to so many times the iterations", .min = 2});
  fields.add("at_once", at_once,
             {.help = "how many trials work at the same time; 0: one for each thread, as far as the memory goes",
              .min = 0,
              .max = 1000});
}

SweepFile::SweepFile() {
  tables_.add("sweep", Fields(sweep));
  tables_.add_list("vary", {"values", "range"}, [this](const std::string& kind) {
    variations_.push_back(std::make_unique<Variation>());
    Variation& variation = *variations_.back();
    Fields fields;
    fields.add("setting", variation.setting, {.help = "a setting of the run file, for instance probe.defocus_A"});
    if (kind == "values") {
      fields.add("values", variation.values, {.help = "what it may be"});
      return fields;
    }
    fields.add("low", variation.low, {.help = "where the range begins"});
    fields.add("high", variation.high, {.help = "where it ends"});
    fields.add("steps", variation.steps, {.help = "values of a grid, both ends included", .min = 1, .max = 1e5});
    fields.add("log", variation.log, {.help = "even in the logarithm"});
    return fields;
  });
}

void SweepFile::read(const std::string& path) {
  read_toml(path, tables_);
  for (std::string* name : {&sweep.run, &sweep.output}) *name = path_from_file(*name, path);
}

void SweepFile::parse(std::string_view text, const std::string& name) { parse_toml(text, name, tables_); }

std::vector<std::string> SweepFile::settings() const {
  std::vector<std::string> names;
  for (const auto& variation : variations_) names.push_back(variation->setting);
  return names;
}

std::vector<Trial> SweepFile::trials() const {
  if (variations_.empty())
    throw Error(ErrorKind::bad_input, "the sweep file varies nothing")
        .hint("add a table [[vary]] with name = \"values\" or \"range\"");
  std::vector<Variation> variations;
  Problems problems;
  const Tables::Table& vary = *tables_.find("vary");
  for (std::size_t i = 0; i < variations_.size(); ++i)
    problems.collect([&] {
      const Variation& variation = *variations_[i];
      if (vary.items[i].kind == "values" && variation.values.empty())
        throw Error(ErrorKind::bad_input, fmt::format("{}: no values", variation.setting));
      require_sense(variation);
      if (std::any_of(variations.begin(), variations.end(),
                      [&](const Variation& v) { return v.setting == variation.setting; }))
        throw Error(ErrorKind::bad_input, fmt::format("{} is varied twice", variation.setting));
      variations.push_back(variation);
    });
  problems.throw_if_any("the sweep file has several problems");
  return sweep.draw == Draw::grid ? grid_trials(variations)
                                  : random_trials(variations, sweep.trials, static_cast<std::uint64_t>(sweep.seed));
}

std::vector<Round> SweepFile::rounds(Index total) const {
  const auto count = static_cast<Index>(trials().size());
  if (!sweep.halving) return {{count, std::nullopt}};
  return halving_rounds(count, sweep.first, sweep.keep_one_of, total);
}

}  // namespace sonde::ptycho
