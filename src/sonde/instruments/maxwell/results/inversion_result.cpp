// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/inversion_result.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/maxwell/read/native_model.h"

namespace sonde::maxwell {
namespace {

/// Arrays of models: without y in two dimensions.
struct ModelAxes {
  explicit ModelAxes(const GridSpec& grid) {
    for (const Axis axis : axes_of(grid.mode)) {
      names.emplace_back(axis == Axis::z ? "z" : axis == Axis::y ? "y" : "x");
      lengths.push_back(grid.cells[dimension(axis)]);
    }
  }
  [[nodiscard]] Shape shape() const {
    return lengths.size() == 2 ? Shape{lengths[0], lengths[1]} : Shape{lengths[0], lengths[1], lengths[2]};
  }
  [[nodiscard]] Shape shape_of(Index count) const {
    return lengths.size() == 2 ? Shape{count, lengths[0], lengths[1]}
                               : Shape{count, lengths[0], lengths[1], lengths[2]};
  }
  [[nodiscard]] std::vector<std::string> names_of(const std::string& first) const {
    std::vector<std::string> made{first};
    made.insert(made.end(), names.begin(), names.end());
    return made;
  }
  std::vector<std::string> names{};
  std::vector<Index> lengths{};
};

void add_fields(Contents& to, const ModelAxes& axes, const std::string& group, const std::vector<double>& eps_r,
                const std::vector<double>& sigma, const std::string& eps_unit, const std::string& sigma_unit) {
  if (!eps_r.empty()) to.add(group + "/eps_r", axes.names, Array::from(eps_r, axes.shape())).unit(eps_unit);
  if (!sigma.empty()) to.add(group + "/sigma", axes.names, Array::from(sigma, axes.shape())).unit(sigma_unit);
}

void add_model(Contents& to, const ModelAxes& axes, const InversionResult& result) {
  add_fields(to, axes, "model", result.model.eps_r, result.model.sigma, "", "S/m");
  if (!result.model.mu_r.empty()) to.add("model/mu_r", axes.names, Array::from(result.model.mu_r, axes.shape()));
  std::vector<double> spacing, origin;
  for (const Axis axis : axes_of(result.grid.mode)) {
    spacing.push_back(result.grid.spacing[dimension(axis)]);
    origin.push_back(result.origin[dimension(axis)]);
  }
  to.attribute("model/spacing", spacing);
  to.attribute("model/origin", origin);
  for (const auto& [word, location] : material_location_words())
    if (location == result.model.location) to.attribute("model/material_location", word);
}

void add_kept(Contents& to, const ModelAxes& axes, const std::vector<KeptModel>& kept) {
  if (kept.empty()) return;
  const auto count = static_cast<Index>(kept.size());
  std::vector<double> eps_r, sigma;
  std::vector<std::int64_t> stages, iterations;
  for (const KeptModel& each : kept) {
    eps_r.insert(eps_r.end(), each.eps_r.begin(), each.eps_r.end());
    sigma.insert(sigma.end(), each.sigma.begin(), each.sigma.end());
    stages.push_back(each.stage + 1);
    iterations.push_back(each.iteration);
  }
  to.add("kept/eps_r", axes.names_of("model"), Array::from(eps_r, axes.shape_of(count)));
  to.add("kept/sigma", axes.names_of("model"), Array::from(sigma, axes.shape_of(count))).unit("S/m");
  to.add("kept/stage", {"model"}, Array::from(stages, Shape{count}));
  to.add("kept/iteration", {"model"}, Array::from(iterations, Shape{count}));
}

struct Column {
  const char* name;
  double (*of)(const InversionRow&);
};
constexpr std::array<Column, 8> columns{{
    {"stage", [](const InversionRow& row) { return static_cast<double>(row.stage + 1); }},
    {"iteration", [](const InversionRow& row) { return static_cast<double>(row.iteration); }},
    {"objective", [](const InversionRow& row) { return row.objective; }},
    {"misfit", [](const InversionRow& row) { return row.misfit; }},
    {"regularisation", [](const InversionRow& row) { return row.regularisation; }},
    {"chi2", [](const InversionRow& row) { return row.chi2; }},
    {"projected_gradient", [](const InversionRow& row) { return row.projected_gradient; }},
    {"evaluations", [](const InversionRow& row) { return static_cast<double>(row.evaluations); }},
}};

void add_history(Contents& to, const std::vector<InversionRow>& history) {
  for (const Column& column : columns) {
    std::vector<double> values;
    for (const InversionRow& row : history) values.push_back(column.of(row));
    to.add(fmt::format("history/{}", column.name), {"row"},
           Array::from(values, Shape{static_cast<Index>(values.size())}));
  }
}

void add_uncertainty(Contents& to, const ModelAxes& axes, const InversionResult& result) {
  if (!result.uncertainty) return;
  const auto& [deviation, information] = *result.uncertainty;
  const std::vector<double> none;
  add_fields(to, axes, "uncertainty", result.eps_r ? deviation.eps_r : none, result.sigma ? deviation.sigma : none, "",
             "S/m");
  to.attribute("uncertainty/prior", result.prior);
  to.add("uncertainty/information", {"direction"},
         Array::from(information, Shape{static_cast<Index>(information.size())}));
}

/// Of the moment: equal inversions differ in it.
void add_times(Contents& to, const std::vector<InversionRow>& history) {
  std::vector<double> seconds;
  for (const InversionRow& row : history) seconds.push_back(row.seconds);
  to.add("run/seconds", {"row"}, Array::from(seconds, Shape{static_cast<Index>(seconds.size())})).unit("s");
}

void add_sources(Contents& to, const std::string& name, const std::vector<std::vector<double>>& sources, Index steps) {
  if (sources.empty() || steps < 1) return;
  const std::size_t each = sources.front().size();
  std::vector<double> all;
  for (const std::vector<double>& shot : sources) {
    if (shot.size() != each) return;  // shots of different numbers of sources are no array
    all.insert(all.end(), shot.begin(), shot.end());
  }
  const auto count = static_cast<Index>(sources.size());
  to.add("source/" + name, {"shot", "source", "time"},
         Array::from(all, Shape{count, static_cast<Index>(each) / steps, steps}));
}

double squares_of_difference(const std::vector<double>& a, const std::vector<double>& b,
                             const std::vector<double>& share) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (share.empty() || share[i] > 0) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

}  // namespace

Contents contents_of(const InversionResult& result) {
  Contents made = contents_of(result.predicted);
  Contents own;
  own.attribute("schema", std::string("sonde.maxwell.inversion/1"));
  own.attribute("run_file", result.run_file);
  const ModelAxes axes(result.grid);
  add_model(own, axes, result);
  add_fields(own, axes, "start", result.start.eps_r, result.start.sigma, "", "S/m");
  if (result.truth) add_fields(own, axes, "true", result.truth->eps_r, result.truth->sigma, "", "S/m");
  add_kept(own, axes, result.kept);
  add_fields(own, axes, "gradient", result.gradient.eps_r, result.gradient.sigma, "", "");
  add_uncertainty(own, axes, result);
  add_history(own, result.history);
  add_times(own, result.history);
  add_sources(own, "given", result.given_sources, result.observed.steps);
  add_sources(own, "estimated", result.sources, result.observed.steps);
  const Contents observed = contents_of(result.observed);
  own.add("observed/data", {"time", "shot", "receiver"}, observed.find("receivers/data")->values.clone())
      .unit(observed.find("receivers/data")->unit());
  own.append(std::move(made));
  return own;
}

double remaining_misfit(const std::vector<InversionRow>& history, Index stage) {
  double first = std::numeric_limits<double>::quiet_NaN(), last = first;
  for (const InversionRow& row : history) {
    if (row.stage != stage) continue;
    if (std::isnan(first)) first = row.misfit;
    last = row.misfit;
  }
  return last / first;
}

std::string history_csv(const std::vector<InversionRow>& history, const std::string& note) {
  std::string text = "# " + note + "\n";
  for (const Column& column : columns) text += (&column == columns.data() ? "" : ",") + std::string(column.name);
  text += "\n";
  for (const InversionRow& row : history) {
    for (const Column& column : columns)
      text += fmt::format("{}{:.9g}", &column == columns.data() ? "" : ",", column.of(row));
    text += "\n";
  }
  return text;
}

Value history_value(const std::vector<InversionRow>& history) {
  Value made = Value::list();
  for (const InversionRow& row : history) {
    Value& one = made.push_back(Value::object());
    for (const Column& column : columns) {
      const double value = column.of(row);
      one[column.name] = std::isfinite(value) ? Value(value) : Value();
    }
  }
  return made;
}

Model read_true_model(const std::string& path, const GridSpec& grid) {
  const Hdf5File file = Hdf5File::open(path);
  const ModelAxes axes(grid);
  const auto read = [&](const std::string& name) {
    NumberArray found = read_numbers(file, "/model/" + name);
    if (found.shape != axes.shape())
      throw Error(ErrorKind::bad_input, fmt::format("{}: /model/{} has shape {}; the experiment has {}", path, name,
                                                    found.shape.text(), axes.shape().text()));
    return std::move(found.values);
  };
  Model made;
  made.eps_r = read("eps_r");
  made.sigma = read("sigma");
  return made;
}

double remaining_error(const std::vector<double>& found, const std::vector<double>& start,
                       const std::vector<double>& wanted, const std::vector<double>& share) {
  const double before = squares_of_difference(start, wanted, share);
  return before > 0 ? std::sqrt(squares_of_difference(found, wanted, share) / before)
                    : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace sonde::maxwell
