// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/inversion_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/figure/chart_svg.h"
#include "sonde/engine/figure/html.h"
#include "sonde/engine/figure/html_page.h"
#include "sonde/engine/figure/image.h"
#include "sonde/instruments/maxwell/invert/trace_filter.h"
#include "sonde/instruments/maxwell/results/thinned_map.h"

namespace sonde::maxwell {
namespace {

/// Values [row][col] with every element as a rectangle of pixels, so that the picture has this size.
struct Field {
  Index rows = 0, cols = 0;
  std::vector<double> values;

  [[nodiscard]] Array sized(Index height, Index width) const {
    Array made(Device::cpu(), Shape{height, width}, DType::f64);
    const auto out = made.view<double, 2>();
    for (Index i = 0; i < height; ++i)
      for (Index j = 0; j < width; ++j)
        out(i, j) = values[static_cast<std::size_t>((i * rows / height) * cols + j * cols / width)];
    return made;
  }
};

struct Range {
  double low = 0, high = 0;
  void take(const std::vector<double>& values) {
    if (values.empty()) return;
    const auto [least, most] = std::ranges::minmax(values);
    if (low == high && low == 0) low = high = least;
    low = std::min(low, least);
    high = std::max(high, most);
  }
};

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double each : values) largest = std::max(largest, std::abs(each));
  return largest;
}

/// Sections of a model in its own proportions.
class Sections {
 public:
  explicit Sections(const GridSpec& grid) : grid_(grid) {
    constexpr double largest = 300;  // pixels: four beside each other on a page
    const double depth = along(Axis::z), length = along(Axis::x);
    pixels_per_m_ = largest / std::max(depth, length);
    height_ = std::max<Index>(40, std::lround(depth * pixels_per_m_));
    width_ = std::max<Index>(40, std::lround(length * pixels_per_m_));
  }

  [[nodiscard]] Panel panel(const std::string& label, const std::vector<double>& values, const Range& range,
                            const std::string& unit) const {
    ImageStyle style = usual(unit);
    style.colours = ColourMap::viridis;
    style.low = range.low;
    style.high = range.high > range.low ? range.high : range.low + std::max(1e-6, 1e-3 * std::abs(range.low));
    return {label, render_image(section(values).sized(height_, width_), style)};
  }
  [[nodiscard]] Panel signed_panel(const std::string& label, const std::vector<double>& values, double largest,
                                   const std::string& unit) const {
    ImageStyle style = usual(unit);
    style.colours = ColourMap::rdbu;
    style.low = -largest;
    style.high = largest;
    return {label, render_image(section(values).sized(height_, width_), style)};
  }

 private:
  [[nodiscard]] double along(Axis axis) const {
    return static_cast<double>(grid_.cells[dimension(axis)]) * grid_.spacing[dimension(axis)];
  }
  [[nodiscard]] ImageStyle usual(const std::string& unit) const {
    return {.zoom = 1, .pixel_size = 1 / pixels_per_m_, .unit = "m", .colour_bar = true, .value_unit = unit};
  }
  [[nodiscard]] Field section(const std::vector<double>& values) const {
    return {.rows = grid_.cells[0], .cols = grid_.cells[2], .values = middle_section(grid_, values)};
  }

  const GridSpec& grid_;
  double pixels_per_m_ = 1;
  Index height_ = 0, width_ = 0;
};

std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> made(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) made[i] = a[i] - b[i];
  return made;
}

/// One unknown: start, found, true and difference.
void add_row(std::vector<Panel>& to, const Sections& sections, const std::string& what, const std::string& unit,
             double factor, std::vector<double> start, std::vector<double> found, std::vector<double> truth) {
  Range range;
  for (auto* values : {&start, &found, &truth}) {
    for (double& each : *values) each *= factor;
    range.take(*values);
  }
  to.push_back(sections.panel(what + ", start", start, range, unit));
  to.push_back(sections.panel(what + ", found", found, range, unit));
  if (!truth.empty()) to.push_back(sections.panel(what + ", true", truth, range, unit));
  const std::vector<double> rest = difference(found, truth.empty() ? start : truth);
  to.push_back(sections.signed_panel(what + (truth.empty() ? ", found - start" : ", found - true"), rest,
                                     std::max(largest_of(difference(truth.empty() ? found : truth, start)), 1e-9),
                                     unit));
}

std::vector<std::vector<Panel>> model_rows(const InversionResult& result) {
  const Sections sections(result.grid);
  const std::vector<double> unknown;
  std::vector<std::vector<Panel>> rows;
  if (result.eps_r)
    add_row(rows.emplace_back(), sections, "eps_r", "", 1, result.start.eps_r, result.model.eps_r,
            result.truth ? result.truth->eps_r : unknown);
  if (result.sigma)
    add_row(rows.emplace_back(), sections, "sigma", "mS/m", 1e3, result.start.sigma, result.model.sigma,
            result.truth ? result.truth->sigma : unknown);
  return rows;
}

void add_uncertainty(HtmlPage& page, const InversionResult& result) {
  const auto& [deviation, information] = *result.uncertainty;
  page.section("Uncertainty");
  const Sections sections(result.grid);
  std::vector<Panel> panels;
  const auto add = [&](const std::string& what, std::vector<double> values, double factor, const std::string& unit) {
    for (double& each : values) each *= factor;
    panels.push_back(sections.panel("standard deviation of " + what, values, {0, largest_of(values)}, unit));
  };
  if (result.eps_r) add("eps_r", deviation.eps_r, 1, "");
  if (result.sigma) add("sigma", deviation.sigma, 1e3, "mS/m");
  page.figures({{"", "", html_image(montage(panels, std::ssize(panels)), "standard deviations of the model")}});
  const auto known = std::ranges::count_if(information, [](double each) { return each > 1; });
  page.text(fmt::format(
      "What noise in the records makes of the model, about the one found, when each unknown had a standard deviation "
      "of {:.3g} before. The records decide {} of the {} directions that were computed. Where the deviation is that "
      "of before, the records give no information. Bounds and regularisation are not in it, and neither are errors of "
      "the source, of positions, of the noise or of the equations: a true error may be larger.{}",
      result.prior, known, information.size(),
      !information.empty() && information.back() > 1
          ? " All directions computed are decided by the records, and more may be: with a larger inversion.uncertainty "
            "the deviations become smaller."
          : ""));
}

/// Of one shot, [step][receiver].
Field gather_field(const ObservedData& data, Index shot) {
  const auto shots = static_cast<Index>(data.shots.size());
  Field made{.rows = data.steps, .cols = data.receivers(), .values = {}};
  for (Index n = 0; n < made.rows; ++n)
    for (Index r = 0; r < made.cols; ++r)
      made.values.push_back(data.samples[static_cast<std::size_t>((n * shots + shot) * made.cols + r)]);
  return made;
}

ObservedData remainder_of(const InversionResult& result) {
  ObservedData made = result.observed;
  made.samples = difference(result.observed.samples, result.predicted.samples);
  return made;
}

/// Root mean square over all traces, by frequency.
std::vector<double> amplitude_spectrum(const ObservedData& data) {
  const TraceSpectrum spectrum(data.steps);
  TraceSpectrum::Scratch scratch = spectrum.scratch();
  const auto traces = static_cast<std::size_t>(data.receivers()) * data.shots.size();
  const auto steps = static_cast<std::size_t>(data.steps);
  std::vector<double> power(static_cast<std::size_t>(spectrum.frequencies())), trace(steps);
  for (std::size_t t = 0; t < traces; ++t) {
    for (std::size_t n = 0; n < steps; ++n) trace[n] = data.samples[n * traces + t];
    spectrum.forward(View<const double, 1>(trace.data(), data.steps), scratch);
    for (std::size_t k = 0; k < power.size(); ++k) power[k] += std::norm(scratch.spectrum[k]);
  }
  for (double& each : power) each = data.dt * std::sqrt(each / static_cast<double>(traces));
  return power;
}

std::string stage_text(const InversionStage& stage) {
  if (stage.band.low > 0) return fmt::format("{:.4g} to {:.4g} MHz", stage.band.low / 1e6, stage.band.high / 1e6);
  return std::isfinite(stage.band.high) ? fmt::format("to {:.4g} MHz", stage.band.high / 1e6)
                                        : std::string("all frequencies");
}

/// Highest frequency that the sources or the stages have, for the axis.
double highest_shown(const std::vector<double>& spectrum, double step) {
  const double most = *std::ranges::max_element(spectrum);
  std::size_t last = 0;
  for (std::size_t k = 0; k < spectrum.size(); ++k)
    if (spectrum[k] > 1e-3 * most) last = k;
  return static_cast<double>(last + 1) * step;
}

void add_tiles(HtmlPage& page, const InversionResult& result) {
  page.add("<div class=\"tiles\">\n");
  for (const StageEnd& end : result.ends)
    for (auto row = result.history.rbegin(); row != result.history.rend(); ++row)
      if (row->stage == end.stage) {
        page.add(html_tile(fmt::format("{:.3g}", remaining_misfit(result.history, end.stage)),
                           fmt::format("stage {}, {}: misfit of its start after {} iterations; {}", end.stage + 1,
                                       stage_text(result.stages[static_cast<std::size_t>(end.stage)]), row->iteration,
                                       text_of(end.reason))));
        break;
      }
  const InversionRow& last = result.history.back();
  if (std::isfinite(last.chi2)) page.add(html_tile(fmt::format("{:.3g}", last.chi2), "chi^2: residuals over noise"));
  if (result.truth) {
    const double eps_r = remaining_error(result.model.eps_r, result.start.eps_r, result.truth->eps_r);
    const double sigma = remaining_error(result.model.sigma, result.start.sigma, result.truth->sigma);
    if (std::isfinite(eps_r)) page.add(html_tile(fmt::format("{:.0f} %", 100 * eps_r), "of the error of eps_r remain"));
    if (std::isfinite(sigma)) page.add(html_tile(fmt::format("{:.0f} %", 100 * sigma), "of the error of sigma remain"));
  }
  page.add(html_tile(format_seconds(last.seconds), fmt::format("{} evaluations", last.evaluations)));
  page.add("</div>\n");
}

void add_survey(HtmlPage& page, const InversionResult& result) {
  std::vector<Index> cells;
  std::vector<double> spacing;
  for (const Axis axis : axes_of(result.grid.mode)) {
    cells.push_back(result.grid.cells[dimension(axis)]);
    spacing.push_back(result.grid.spacing[dimension(axis)]);
  }
  std::vector<std::pair<std::string, std::string>> facts{
      {"cells", fmt::format("{} of {} m", fmt::join(cells, " x "), fmt::join(spacing, " x "))},
      {"shots", fmt::format("{} with {} receivers each", result.observed.shots.size(), result.observed.receivers())},
      {"samples", fmt::format("{} of {:.4g} ns", result.observed.steps, 1e9 * result.observed.dt)},
      {"unknowns", result.eps_r && result.sigma ? "eps_r and sigma"
                   : result.eps_r               ? "eps_r"
                                                : "sigma"}};
  for (std::size_t s = 0; s < result.stages.size(); ++s)
    facts.emplace_back(fmt::format("stage {}", s + 1), stage_text(result.stages[s]));
  page.facts(facts);
}

}  // namespace

Array model_picture(const InversionResult& result) {
  std::vector<Panel> panels;
  for (std::vector<Panel>& row : model_rows(result))
    for (Panel& each : row) panels.push_back(std::move(each));
  return montage(panels, result.truth ? 4 : 3);
}

Array gather_picture(const InversionResult& result, Index shot) {
  const auto shots = static_cast<Index>(result.observed.shots.size());
  if (shot < 0 || shot >= shots)
    throw Error(ErrorKind::bad_input, fmt::format("shot {}: the records have {}", shot + 1, shots));
  const Field measured = gather_field(result.observed, shot), computed = gather_field(result.predicted, shot);
  Field rest = gather_field(remainder_of(result), shot);
  constexpr Index height = 360, least_width = 240;
  const Index width = std::max(least_width, measured.cols);
  const double largest = std::max(largest_of(measured.values), 1e-300);
  const bool electric = is_electric(result.observed.shots[static_cast<std::size_t>(shot)].receivers[0].component);
  // A good fit leaves nothing to see: what is left is enlarged by a power of ten, as its label says.
  const double times =
      std::pow(10, std::max(0.0, std::floor(std::log10(largest / std::max(largest_of(rest.values), 1e-6 * largest)))));
  for (double& each : rest.values) each *= times;
  const std::string of_rest = times > 1 ? fmt::format("difference x {:g}", times) : "difference";
  std::vector<Panel> panels;
  for (const auto& [label, field] :
       {std::pair<std::string, const Field*>{"measured", &measured}, {"computed", &computed}, {of_rest, &rest}})
    panels.push_back({fmt::format("shot {}, {}", shot + 1, label),
                      render_image(field->sized(height, width), {.colours = ColourMap::rdbu,
                                                                 .low = -largest,
                                                                 .high = largest,
                                                                 .zoom = 1,
                                                                 .colour_bar = true,
                                                                 .value_unit = electric ? "V/m" : "A/m"})});
  return montage(panels, 3);
}

Chart misfit_chart(const InversionResult& result) {
  Facet objective{.title = "Objective over its start", .x = {.title = "iteration"}, .y = {.log = true}};
  Facet chi2{.title = "chi^2", .x = {.title = "iteration"}, .y = {.log = true}, .references = {{.value = 1}}};
  for (std::size_t stage = 0; stage < result.stages.size(); ++stage) {
    Series of_stage{.name = fmt::format("stage {}, {}", stage + 1, stage_text(result.stages[stage])),
                    .mark = Mark::lines};
    Series noise = of_stage;
    for (std::size_t i = 0; i < result.history.size(); ++i) {
      const InversionRow& row = result.history[i];
      if (row.stage != static_cast<Index>(stage)) continue;
      of_stage.x.push_back(static_cast<double>(i));
      of_stage.y.push_back(row.objective);
      if (!std::isfinite(row.chi2)) continue;
      noise.x.push_back(static_cast<double>(i));
      noise.y.push_back(row.chi2);
    }
    if (of_stage.x.size() == 1) of_stage.mark = Mark::points;
    if (noise.x.size() == 1) noise.mark = Mark::points;
    if (!of_stage.x.empty()) objective.series.push_back(std::move(of_stage));
    if (!noise.x.empty()) chi2.series.push_back(std::move(noise));
  }
  Chart chart{.facets = {std::move(objective)}, .width = 560, .height = 360};
  if (chi2.series.empty()) return chart;
  chart.facets.push_back(std::move(chi2));
  chart.columns = 2;
  chart.width *= 2;
  return chart;
}

Chart spectrum_chart(const InversionResult& result) {
  const TraceSpectrum spectrum(result.observed.steps);
  const double step = 1 / (static_cast<double>(spectrum.padded()) * result.observed.dt);
  const std::vector<double> measured = amplitude_spectrum(result.observed);
  const double high = highest_shown(measured, step);
  Facet facet{.x = {.title = "frequency", .unit = "MHz", .low = 0.0, .high = high / 1e6},
              .y = {.title = "amplitude of a trace, rms", .log = true}};
  const auto add = [&](const std::string& name, const std::vector<double>& values) {
    Series series{.name = name, .mark = Mark::lines};
    for (std::size_t k = 0; k < values.size() && static_cast<double>(k) * step <= high; ++k) {
      if (!(values[k] > 0)) continue;  // has no place on a logarithmic axis
      series.x.push_back(static_cast<double>(k) * step / 1e6);
      series.y.push_back(values[k]);
    }
    if (series.x.size() > 1) facet.series.push_back(std::move(series));
  };
  add("measured", measured);
  add("computed", amplitude_spectrum(result.predicted));
  add("difference", amplitude_spectrum(remainder_of(result)));
  for (std::size_t s = 0; s < result.stages.size(); ++s)
    if (const double limit = result.stages[s].band.high; limit < high)
      facet.references.push_back({.value = limit / 1e6, .label = fmt::format("stage {}", s + 1), .upright = true});
  return {.facets = {std::move(facet)}, .width = 560, .height = 360};
}

bool has_other_sources(const InversionResult& result) { return result.given_sources != result.sources; }

Chart source_chart(const InversionResult& result) {
  Facet facet{.x = {.title = "time", .unit = "ns"}, .y = {.title = "source of the first shot"}};
  const auto add = [&](const std::string& name, const std::vector<std::vector<double>>& sources) {
    Series series{.name = name, .mark = Mark::lines};
    const auto steps = static_cast<std::size_t>(result.observed.steps);
    for (std::size_t n = 0; n < std::min(steps, sources.at(0).size()); ++n) {
      series.x.push_back(1e9 * result.observed.dt * (static_cast<double>(n) + 0.5));
      series.y.push_back(sources[0][n]);
    }
    facet.series.push_back(std::move(series));
  };
  add("given", result.given_sources);
  add("estimated", result.sources);
  return {.facets = {std::move(facet)}, .width = 560, .height = 360};
}

std::string inversion_page(const InversionResult& result, const std::string& name) {
  const std::string title = result.title.empty() ? name : result.title;
  HtmlPage page(title + " - full-waveform inversion");
  page.add(fmt::format("<h1>{}</h1>\n<p class=\"sub\">Full-waveform inversion of radar records, {}</p>\n",
                       html_text(title), html_text(name)));
  add_tiles(page, result);
  page.section("Model");
  // A row each: the page does not show higher pictures in their own size.
  for (const std::vector<Panel>& row : model_rows(result))
    page.figures({{"", "", html_image(montage(row, static_cast<Index>(row.size())), row.front().label)}});
  page.text(
      "Depth runs downwards. Fields of a row share their colours; those of the difference reach to the largest change "
      "that was to be found.");
  if (result.uncertainty) add_uncertainty(page, result);
  page.section("Records");
  const auto middle = static_cast<Index>(result.observed.shots.size()) / 2;
  page.figures(
      {{"",
        "Time runs downwards, receivers from left to right. All have the same colours; a small difference is enlarged.",
        html_image(gather_picture(result, middle), "records: measured, computed and difference")}});
  page.figures({{"", "Spectra over all traces.", chart_svg(spectrum_chart(result))}});
  page.section("Misfit");
  page.figures({{"", "Every stage is shown against its own start.", chart_svg(misfit_chart(result))}});
  if (has_other_sources(result)) {
    page.section("Source");
    page.figures({{"", "As it was given, and as the records suggest it.", chart_svg(source_chart(result))}});
  }
  page.section("Survey and settings");
  add_survey(page, result);
  page.folded("The run file that repeats this inversion", result.run_file);
  return page.take();
}

}  // namespace sonde::maxwell
