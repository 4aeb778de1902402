// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/verbs/choose_grid.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/maxwell/read/gprmax_cells.h"
#include "sonde/instruments/maxwell/read/gprmax_model.h"
#include "sonde/instruments/maxwell/read/resampled_model.h"
#include "sonde/instruments/maxwell/run/grid_options.h"

namespace sonde::maxwell {
namespace {

void require_accuracy(std::string_view text, std::string_view where) { (void)parse_accuracy(text, where); }

/// Numbers of the axes that are there.
template <class Value>
std::vector<Value> of_axes(const GridSpec& grid, const std::array<Value, 3>& values) {
  std::vector<Value> made;
  for (const Axis axis : axes_of(grid.mode)) made.push_back(values[dimension(axis)]);
  return made;
}

std::string cells_text(const GridSpec& grid) {
  Triple all = grid.cells;
  for (const std::size_t a : {0U, 1U, 2U}) all[a] += grid.pml[a][0] + grid.pml[a][1];
  return fmt::format("{}", fmt::join(of_axes(grid, all), " x "));
}

std::string spacing_text(const GridSpec& grid) {
  const std::vector<double> spacing = of_axes(grid, grid.spacing);
  for (const double each : spacing)
    if (std::abs(each - spacing.front()) > 1e-9 * each) return fmt::format("{:.4g}", fmt::join(spacing, " x "));
  return fmt::format("{:.4g}", spacing.front());
}

std::string percent(double part) { return fmt::format("{:.3g} %", 100 * part); }

void show_option(const GridOption& each, const GridOption& chosen, double wanted, const char* note, Run& run) {
  run.say(fmt::format("  {:<5} {:<16} {:<10.4g} {:<18} {:<9.3g} {:<6.3g} {:<9} {:<9.3g} {:<9} {}", each.grid.order,
                      spacing_text(each.grid), each.inner_dt(), cells_text(each.grid), each.cell_updates,
                      each.cost / chosen.cost, format_bytes(static_cast<double>(each.bytes)), each.cells_per_wavelength,
                      std::isfinite(each.velocity_error) ? percent(each.velocity_error) : "-",
                      *note != 0                     ? note
                      : each.velocity_error > wanted ? "not as accurate"
                                                     : ""));
}

Value value_of(const GridOption& each) {
  Value made = Value::object();
  made["order"] = Index{each.grid.order};
  made["spacing_m"] = Value::list();
  for (const double d : of_axes(each.grid, each.grid.spacing)) made["spacing_m"].push_back(d);
  made["dt_s"] = each.inner_dt();
  made["cells"] = Grid(each.grid).count();
  made["cell_updates"] = each.cell_updates;
  made["cost"] = each.cost;
  made["bytes"] = static_cast<Index>(each.bytes);
  made["cells_per_wavelength"] = each.cells_per_wavelength;
  if (std::isfinite(each.velocity_error)) {
    made["velocity_error"] = each.velocity_error;
    made["degrees_per_wavelength"] = 360 * each.velocity_error;
  }
  return made;
}

void report_options(const GridQuestion& question, const std::vector<GridOption>& options, const GridOption& chosen,
                    const GridOption& own, double wanted, Run& run) {
  const double f = question.band.highest_frequency, window = question.dt * static_cast<double>(question.steps);
  run.say(fmt::format("accuracy  phase velocity within {} up to {:.4g} Hz, {:.3g} degrees in a wavelength",
                      percent(wanted), f, 360 * wanted));
  run.say("  order cells of m       time step  with layers        updates   cost   memory    per wave  error");
  Value shown = Value::list();
  show_option(own, chosen, wanted, "as the model is", run);
  for (const GridOption& each : alternatives(options, chosen, wanted)) {
    const bool is_chosen = each.cost == chosen.cost && each.grid == chosen.grid;
    show_option(each, chosen, wanted, is_chosen ? "chosen" : "", run);
    shown.push_back(value_of(each));
  }
  // What travels for the whole window arrives early or late by that share of it.
  const double late = window * chosen.velocity_error, waves = f * window;
  run.say(
      fmt::format("          at the end of the window, {:.3g} s or {:.3g} periods of {:.4g} Hz: at most {:.3g} s or "
                  "{:.3g} degrees",
                  window, waves, f, late, 360 * waves * chosen.velocity_error));
  run.report().add_choice(
      "accuracy",
      Value(fmt::format("order {}, cells of {} m, steps of {:.5g} s", chosen.grid.order, spacing_text(chosen.grid),
                        chosen.inner_dt())),
      fmt::format("the least work with an error of the phase velocity of at most {} up to {:.4g} Hz: {}",
                  percent(wanted), f, percent(chosen.velocity_error)));
  Value& found = run.results()["accuracy"];
  found["wanted"] = wanted;
  found["highest_frequency_Hz"] = f;
  found["chosen"] = value_of(chosen);
  found["model"] = value_of(own);
  found["alternatives"] = shown;
  found["window_s"] = window;
  found["delay_at_end_s"] = late;
  found["degrees_at_end"] = 360 * waves * chosen.velocity_error;
}

Error none_accurate(const std::string& model, const GridQuestion& question, const std::vector<GridOption>& options,
                    double wanted, const std::string& why_cells_stay) {
  const GridOption* best = nullptr;
  for (const GridOption& each : options)
    if (std::isfinite(each.velocity_error) && (best == nullptr || each.velocity_error < best->velocity_error))
      best = &each;
  Error made(ErrorKind::bad_input,
             fmt::format("{}: no grid has a phase velocity within {} up to {:.4g} Hz{}", model, percent(wanted),
                         question.band.highest_frequency,
                         best == nullptr
                             ? ""
                             : fmt::format("; the best one, of order {} on cells of {} m, is within {}",
                                           best->grid.order, spacing_text(best->grid), percent(best->velocity_error))));
  made.hint(why_cells_stay.empty() ? "accept a larger error, or lower the frequency of the source"
                                   : "its cells keep their size: " + why_cells_stay);
  return made;
}

/// The cheapest grid; says what it was compared with.
GridOption chosen_grid(const std::string& accuracy, const std::string& model, const GridQuestion& question,
                       int own_order, const std::string& why_cells_stay, Run& run) {
  const double wanted = parse_accuracy(accuracy, setting("accuracy"));
  if (!(question.band.highest_frequency > 0))
    throw Error(ErrorKind::bad_input, model + ": no source signal, so no band of frequencies to be accurate in");
  const std::vector<GridOption> options = grid_options(question);
  const GridOption* chosen = cheapest(options, wanted, run.host_budget().available_bytes());
  if (chosen == nullptr) {
    const GridOption* const any = cheapest(options, wanted, static_cast<std::size_t>(-1));
    if (any == nullptr) throw none_accurate(model, question, options, wanted, why_cells_stay);
    throw Error(ErrorKind::budget, fmt::format("{}: a phase velocity within {} needs {}, {} are free", model,
                                               percent(wanted), format_bytes(static_cast<double>(any->bytes)),
                                               format_bytes(static_cast<double>(run.host_budget().available_bytes()))))
        .hint("raise " + setting("memory") + ", or accept a larger error");
  }
  report_options(question, options, *chosen, own_option(question, own_order), wanted, run);
  return *chosen;
}

std::optional<int> only_order(const ModelOptions& options, const Run& run) {
  return run.given("order") ? std::optional(options.order) : std::nullopt;
}

/// Of a run file: `text` reads as it is written there.
void set(RunFile& file, const char* table, const char* key, const Value& value) {
  file.tables().assign(table, 0, key, value, "accuracy", Origin::caller);
}

}  // namespace

void describe_accuracy(Fields& fields, std::string& value) {
  fields.add("accuracy", value,
             {.help = "choose order, cells and time step of least work whose phase velocity is wrong by no more than "
                      "this at any frequency of the source; the model is put on the chosen cells. Unset: order, cells "
                      "and steps as they are",
              .metavar = "1%",
              .check = require_accuracy});
}

void choose_grid(const std::string& accuracy, const ModelOptions& options, RunFile& file, Run& run) {
  const Experiment experiment = experiment_of(options, file, run);
  GridQuestion question = grid_question(experiment);
  question.order = only_order(options, run);
  const GridOption chosen =
      chosen_grid(accuracy, options.named(), question, experiment.grid.order, why_cells_stay(experiment), run);
  const GridSpec& grid = chosen.grid;
  set(file, "grid", "order", Value(Index{grid.order}));
  if (chosen.factor != 1) {
    std::vector<Index> layers;
    for (const Axis axis : axes_of(grid.mode))
      for (const Index width : grid.pml[dimension(axis)]) layers.push_back(width);
    set(file, "grid", "spacing", Value(fmt::format("{}", fmt::join(of_axes(grid, grid.spacing), ","))));
    set(file, "grid", "pml", Value(fmt::format("{}", fmt::join(layers, ","))));
  }
  if (question.keeps_dt) return set(file, "grid", "sub_steps", Value(chosen.ratio));
  set(file, "time", "dt", Value(chosen.dt));
  set(file, "time", "nt", Value(chosen.steps));
}

GprmaxInput choose_grid(const std::string& accuracy, ModelOptions& options, const GprmaxInput& input, Index runs,
                        Run& run) {
  const Reservation reserved =
      run.host_budget().reserve(gprmax_model_bytes(input), "the model of " + options.input, smaller_model());
  GridQuestion question = grid_question(input, runs);
  question.precision = options.dtype;
  question.order = only_order(options, run);
  const GridOption chosen = chosen_grid(accuracy, options.input, question, options.order, why_cells_stay(input), run);
  GprmaxInput made = with_time_step(with_cells(input, chosen.factor, runs).value(), chosen.dt);
  options.order = chosen.grid.order;
  const auto layers = [&](std::size_t side) {
    return fmt::format("{} {} {}", made.pml_cells[0][side], made.pml_cells[1][side], made.pml_cells[2][side]);
  };
  const std::string lines =
      fmt::format("#dx_dy_dz: {} {} {}, #time_step_stability_factor: {}, #pml_cells: {} {}", made.spacing[0],
                  made.spacing[1], made.spacing[2], made.stability_factor, layers(0), layers(1));
  run.say(fmt::format("          as with {}, {}{}", lines, setting("order", std::to_string(options.order)),
                      chosen.factor == 1 ? "" : "; dipoles keep their moment"));
  run.results()["accuracy"]["as"] = lines;
  return made;
}

}  // namespace sonde::maxwell
