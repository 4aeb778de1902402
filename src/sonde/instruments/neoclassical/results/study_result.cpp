// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/results/study_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sonde/engine/base/error.h"
#include "sonde/instruments/neoclassical/convert/result_contents.h"

namespace sonde::neoclassical {
namespace {

Index refined_count(const GridSpec& grid, Refined refined) {
  return refined == Refined::n_xi ? grid.n_xi : refined == Refined::n_theta ? grid.n_theta : grid.n_zeta;
}

}  // namespace

Contents study_contents(const StudyResult& result, const Surface& surface, const Provenance& provenance) {
  Contents contents = result_contents();
  const Study& study = result.study;
  const CoefficientUnits units = coefficient_units(surface);
  const auto column = [&](const char* name, const std::string& unit, double first, auto&& value) {
    std::vector<double> values = {first};
    for (const StudyRow& row : study.rows) values.push_back(static_cast<double>(value(row)));
    const auto length = static_cast<Index>(values.size());
    contents.add(name, {"step"}, Array::from(values, Shape{length})).unit(unit);
  };
  const auto coefficient = [&](const char* name, const std::string& unit, double Coefficients::*member) {
    column(name, unit, study.start.*member, [member](const StudyRow& row) { return row.coefficients.*member; });
  };
  column("refined", "1", -1, [](const StudyRow& row) { return static_cast<int>(row.refined); });
  column("n_theta", "1", static_cast<double>(result.start.n_theta),
         [](const StudyRow& row) { return row.grid.n_theta; });
  column("n_zeta", "1", static_cast<double>(result.start.n_zeta), [](const StudyRow& row) { return row.grid.n_zeta; });
  column("n_xi", "1", static_cast<double>(result.start.n_xi), [](const StudyRow& row) { return row.grid.n_xi; });
  column("change", "1", std::numeric_limits<double>::quiet_NaN(), [](const StudyRow& row) { return row.change; });
  coefficient("D11", units.D11, &Coefficients::D11);
  coefficient("D31", units.D31, &Coefficients::D31);
  coefficient("D13", units.D31, &Coefficients::D13);
  coefficient("D33", "m", &Coefficients::D33);
  coefficient("residual", "1", &Coefficients::residual);
  coefficient("onsager_residual", "1", &Coefficients::onsager_residual);
  contents.add("nu_hat", result.at.nu_hat).unit("m^-1");
  contents.add("epsi_hat", result.at.epsi_hat);
  contents.add("tolerance", result.tolerance);
  contents.add("error", study.error);
  contents.add("converged", static_cast<std::int32_t>(study.converged));
  contents.add_text("source", result.source);
  contents.add_text("radial_label", units.label);
  add_provenance(contents, provenance, result.start, {name(study.start.path), name(study.start.precision)});
  return contents;
}

StudyResult read_study(const ResultFile& file) {
  const std::vector<double>&refined = file.numbers("refined"), &n_theta = file.numbers("n_theta"),
        &n_zeta = file.numbers("n_zeta"), &n_xi = file.numbers("n_xi"), &change = file.numbers("change");
  for (const std::vector<double>* column : {&n_theta, &n_zeta, &n_xi, &change})
    if (column->size() != refined.size() || refined.empty())
      throw Error(ErrorKind::bad_file, fmt::format("{}: the columns of the study differ in length", file.path()));
  const auto grid = [&](std::size_t i) {
    return GridSpec{static_cast<Index>(n_theta[i]), static_cast<Index>(n_zeta[i]), static_cast<Index>(n_xi[i])};
  };
  StudyResult result{.start = grid(0),
                     .at = {file.number("nu_hat"), file.number("epsi_hat")},
                     .tolerance = file.number("tolerance"),
                     .source = file.text("source")};
  for (std::size_t i = 1; i < refined.size(); ++i) {
    if (refined[i] != 0 && refined[i] != 1 && refined[i] != 2)
      throw Error(ErrorKind::bad_file, fmt::format("{}: refined is {}, expected 0, 1 or 2", file.path(), refined[i]));
    result.study.rows.push_back({grid(i), static_cast<Refined>(refined[i]), {}, change[i]});
  }
  result.study.error = file.number("error");
  result.study.converged = file.number("converged") != 0;
  return result;
}

Chart study_chart(const StudyResult& result) {
  Chart chart;
  chart.title =
      fmt::format("{} at ν/v = {:.3g} 1/m, E_hat = {:.3g}", result.source, result.at.nu_hat, result.at.epsi_hat);
  for (const Refined refined : {Refined::n_xi, Refined::n_theta, Refined::n_zeta}) {
    Facet facet{.title = fmt::format("refining {}", name(refined)),
                .x = {.title = name(refined)},
                .y = {.title = "change from the grid before", .log = true},
                .references = {{.value = result.tolerance / 3, .label = "tol/3: refinement ends"}}};
    sonde::Series series{.name = "largest of D11, D31, D13, D33"};
    for (const StudyRow& row : result.study.rows) {
      if (row.refined != refined) continue;
      const Index count = refined_count(row.grid, refined);
      series.x.push_back(static_cast<double>(count));
      series.y.push_back(std::max(row.change, 1e-17));
      facet.x.ticks.push_back({static_cast<double>(count), fmt::format("{}", count)});
    }
    if (series.x.empty()) continue;
    facet.x.low = series.x.front() - 1;
    facet.x.high = series.x.back() + 1;
    facet.series.push_back(std::move(series));
    chart.facets.push_back(std::move(facet));
  }
  return chart;
}

}  // namespace sonde::neoclassical
