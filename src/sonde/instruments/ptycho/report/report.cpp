// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/report/report.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <utility>

#include "sonde/engine/base/text.h"
#include "sonde/engine/figure/chart_svg.h"
#include "sonde/engine/figure/html.h"
#include "sonde/engine/figure/html_page.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/instruments/ptycho/report/advice.h"
#include "sonde/instruments/ptycho/report/curves.h"
#include "sonde/instruments/ptycho/report/pictures.h"
#include "sonde/instruments/ptycho/results/changes.h"
#include "sonde/instruments/ptycho/results/picture.h"

namespace sonde::ptycho {
namespace {

std::string length_unit(const Result& result) { return result.sampling.calibrated() ? "Å" : "px"; }

void add_head(HtmlPage& page, const Result& result, const Findings& findings, const std::string& name) {
  page.add(fmt::format("<h1>{}</h1>\n", html_text(name)));
  const Box view = result.field_of_view();
  std::string sub = fmt::format("Ptychography, {} patterns of {} × {} pixels", result.positions.size(),
                                result.sampling.rows, result.sampling.cols);
  if (result.sampling.calibrated())
    sub += fmt::format("; field of view {:.3g} × {:.3g} nm, pixel {:.3g} Å",
                       static_cast<double>(view.rows) * result.sampling.pixel_row() / 10,
                       static_cast<double>(view.cols) * result.sampling.pixel_col() / 10, result.sampling.pixel_col());
  else
    sub += fmt::format("; field of view {} × {} pixels", view.rows, view.cols);
  page.add(fmt::format("<p class=\"sub\">{}</p>\n<div class=\"tiles\">\n", html_text(sub)));
  if (!findings.outcome.empty())
    page.add(html_tile(findings.outcome, fmt::format("after {} iterations", findings.iterations)));
  page.add(html_tile(
      fmt::format("{:.4f}", findings.r_intensity),
      findings.outcome == "diverged" ? fmt::format("R_I of the best iteration, {}", findings.best_iteration) : "R_I"));
  if (findings.floor > 0)
    page.add(html_tile(fmt::format("{:.2f} ×", findings.r_intensity / findings.floor),
                       findings.outcome == "diverged" ? std::string("the floor, before it diverged")
                                                      : fmt::format("its floor: {}", words_of(findings.fit))));
  if (findings.r_free) page.add(html_tile(fmt::format("{:.4f}", *findings.r_free), "R_free, frames held out"));
  if (findings.half_data) {
    const std::optional<double> resolution = findings.half_data->resolution();
    const double finest = findings.half_data->frequency.empty() ? 0 : 1 / findings.half_data->frequency.back();
    page.add(html_tile(resolution ? fmt::format("{:.3g} {}", *resolution, length_unit(result))
                                  : fmt::format("≤ {:.3g} {}", finest, length_unit(result)),
                       "resolution, half-bit"));
  }
  Index suspects = 0;
  for (const Diagnosis& diagnosis : findings.diagnoses) suspects += diagnosis.verdict == Verdict::suspect ? 1 : 0;
  page.add(html_tile(std::to_string(suspects), suspects == 1 ? "suspect diagnosis" : "suspect diagnoses"));
  page.add("</div>\n");
  if (!findings.because.empty() && findings.outcome != "finished")
    page.add(fmt::format("<p class=\"sub\" style=\"margin-top:12px\">{}: {}</p>\n", html_text(findings.outcome),
                         html_text(findings.because)));
}

void add_advice(HtmlPage& page, const Findings& findings) {
  page.section("What to try next");
  for (const std::string& warning : findings.warnings)
    page.add(fmt::format("<p><span class=\"chip suspect\">warning</span> {}</p>\n", html_text(warning)));
  const std::vector<Advice> all = advice_for(findings);
  if (all.empty()) return page.text("No diagnosis is suspect: the fit is as good as the counts allow.");
  page.add("<ol class=\"next\">\n");
  for (const Advice& advice : all)
    page.add(fmt::format("<li><b>{}</b><span>{}</span>{}</li>\n", html_text(advice.what), html_text(advice.why),
                         advice.settings.empty() ? "" : "<pre>" + html_text(advice.settings) + "</pre>"));
  page.add("</ol>\n");
}

void add_positions(HtmlPage& page, const Result& result, const Findings& findings) {
  page.section("Positions");
  page.add("<div class=\"row\">\n");
  page.figure(position_figure(result, findings));
  page.add("<div>\n");
  const double pixel = result.sampling.calibrated() ? result.sampling.pixel_col() : 1;
  const std::string unit = length_unit(result);
  const Movement& movement = findings.movement;
  if (movement.any())
    page.facts({{"method", findings.position_method},
                {"movement, rms", fmt::format("{:.3g} {}", movement.rms * pixel, unit)},
                {"movement, largest", fmt::format("{:.3g} {}", movement.largest * pixel, unit)},
                {"rms beside the affine part", fmt::format("{:.3g} {}", movement.rms_beside * pixel, unit)},
                {"scale of the scan", fmt::format("{:+.3f} %", 100 * (movement.affine.scale() - 1))},
                {"rotation", fmt::format("{:+.3f}°", movement.affine.rotation() * 180 / std::numbers::pi)},
                {"shear", fmt::format("{:.3f} %", 100 * movement.affine.shear())}});
  else
    page.text("The positions are those of the file: no correction was asked for.");
  page.add("</div>\n</div>\n");
}

Figure half_data_figure(const Result& result, const RingCorrelation& rings) {
  const Value* told = result.diagnostics.find("half_data");
  const std::string settings = told != nullptr ? text_at(*told, "settings") : "";
  const std::optional<double> resolution = rings.resolution();
  return {"Two halves of the data",
          fmt::format("Fourier ring correlation of two reconstructions that share no frame, in the field of view. {}{}",
                      settings.empty() ? "" : "Their settings are " + settings + " of the run throughout. ",
                      resolution ? fmt::format("It falls below the half-bit threshold at {:.3g} {}.", *resolution,
                                               length_unit(result))
                                 : "It stays above the half-bit threshold up to the finest detail that was measured."),
          chart_svg(half_data_curve(rings, result.sampling.calibrated()))};
}

void add_missing_half_data(HtmlPage& page, const Result& result) {
  const Value* told = result.diagnostics.find("half_data");
  const std::string because = told != nullptr ? text_at(*told, "because") : "";
  page.add("<div class=\"beside\"><h3>Two halves of the data</h3>\n");
  page.text(because.empty() ? "Not part of this run. With half_data = true in [quality] the run reconstructs every "
                              "second frame and the others apart; how far they agree is the resolution."
                            : "There is none: " + because);
  page.add("</div>\n");
}

void add_resolution(HtmlPage& page, const Result& result, const Findings& findings) {
  page.section("Resolution");
  page.add("<div class=\"row\">\n");
  if (const std::optional<Figure> spectrum = spectrum_figure(result, findings)) page.figure(*spectrum);
  if (findings.half_data)
    page.figure(half_data_figure(result, *findings.half_data));
  else
    add_missing_half_data(page, result);
  page.add("</div>\n");
}

void add_diagnoses(HtmlPage& page, const Findings& findings) {
  page.section("Diagnoses");
  page.add(
      "<table>\n<tr><th>symptom</th><th>value</th><th>threshold</th><th>verdict</th><th>cause and remedy</th></tr>\n");
  for (const Diagnosis& diagnosis : findings.diagnoses) {
    const bool suspect = diagnosis.verdict == Verdict::suspect, unknown = diagnosis.verdict == Verdict::unknown;
    const char* word = suspect ? "suspect" : unknown ? "unknown" : "good";
    std::string name(diagnosis.name);
    for (char& c : name) c = c == '_' ? ' ' : c;
    page.add(fmt::format(
        "<tr><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{:.3g}</td><td><span "
        "class=\"chip {}\">{}</span></td><td>{}</td></tr>\n",
        html_text(name), unknown ? "–" : fmt::format("{:.3g}", diagnosis.value), diagnosis.threshold, word, word,
        suspect ? fmt::format("{}.<br><b>{}</b>", html_text(diagnosis.cause), html_text(diagnosis.fix)) : ""));
  }
  page.add("</table>\n");
}

void add_measurement(HtmlPage& page, const Result& result, const Findings& findings) {
  page.section("Measurement");
  const std::string unit = length_unit(result);
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add = [&](std::string what, std::string value) { facts.push_back({std::move(what), std::move(value)}); };
  const Sampling& sampling = result.sampling;
  if (sampling.calibrated()) {
    add("wavelength", fmt::format("{:.5g} Å", sampling.wavelength));
    add("detector pixel",
        fmt::format("{:.4g} × {:.4g} mrad", 1000 * sampling.angle_row(), 1000 * sampling.angle_col()));
    if (findings.semiangle) add("semiangle", fmt::format("{:.4g} mrad", 1000 * *findings.semiangle));
  }
  add("object", fmt::format("{} × {} × {} pixels, {}", result.object.shape()[0], result.object.shape()[1],
                            result.object.shape()[2], result.type == ObjectType::potential ? "potential" : "complex"));
  if (findings.acquisition) {
    const Acquisition& a = *findings.acquisition;
    const bool counts = a.counts_per_frame > 0;
    const auto known = [&](std::string text) { return counts ? text : std::string("not known"); };
    add("counts per pattern", known(fmt::format("{:.4g}", a.counts_per_frame)));
    add("counts per detector pixel", known(fmt::format("{:.3g}", a.counts_per_pixel)));
    add("dose", known(fmt::format("{:.3g} / {}²", a.dose, unit)));
    add("step of the scan", fmt::format("{:.3g} {}", a.step, unit));
    add("probe, 99 % of its power", fmt::format("{:.3g} {} wide", a.probe_diameter, unit));
    add("overlap of neighbours", fmt::format("{:.0f} %", 100 * a.overlap));
    add("finest detail measured", fmt::format("{:.3g} {}", a.finest, unit));
    add("measured numbers per unknown", fmt::format("{:.3g}", a.redundancy));
  }
  page.facts(facts);
}

void add_provenance(HtmlPage& page, const Result& result) {
  page.section("Settings and provenance");
  std::vector<std::pair<std::string, std::string>> facts;
  const auto add_members = [&](const Value& object, const std::string& prefix, const auto& self) -> void {
    if (!object.is_object()) return;
    for (const auto& [key, value] : object.members()) {
      if (value.is_object())
        self(value, prefix + key + " ", self);
      else if (!value.is_list())
        facts.emplace_back(prefix + key, short_text(value));
    }
  };
  add_members(result.provenance, "", add_members);
  if (const double seconds = number_at(result.timing, "iterate_s"); seconds > 0)
    facts.emplace_back("time of the iterations", format_seconds(seconds));
  if (const double threads = number_at(result.timing, "threads"); threads > 0)
    facts.emplace_back("threads", fmt::format("{:.0f}", threads));
  page.facts(facts);
  const Value* told = result.diagnostics.find("changes");
  const std::vector<Change> changes = told != nullptr ? changes_of(*told) : std::vector<Change>{};
  if (!changes.empty()) {
    std::vector<std::pair<std::string, std::string>> rows;
    for (const Change& change : changes)
      rows.emplace_back(fmt::format("after iteration {}", change.after), in_words(change));
    page.add("<h3>Changed while the run worked</h3>\n");
    page.facts(rows);
  }
  page.folded(
      changes.empty() ? "The run file that repeats this reconstruction" : "The run file, with the settings of the end",
      result.settings);
}

}  // namespace

std::string report_html(const Result& result, const Findings& findings, const std::string& name) {
  HtmlPage page(name + " - ptychography");
  add_head(page, result, findings, name);
  page.section("Object");
  page.figures(object_figures(result));
  page.section("Probe");
  page.figures(probe_figures(result, findings), true);
  if (variation_count(result) > 0)
    page.figures(
        {{"How the probe varies", "amount of every variation in the probe of each pattern, in the order of the scan",
          chart_svg(variation_curves(result))}});
  page.section("Convergence");
  page.add("<div class=\"row\">\n");
  page.figure(
      {"",
       "R_I and R_A of the frames that are fitted, R_free of those held out. R_I is judged by its distance to the "
       "floor that counting noise sets.",
       chart_svg(error_curves(result, findings))});
  page.figure({"", "", chart_svg(change_curves(result))});
  page.add("</div>\n");
  add_positions(page, result, findings);
  add_resolution(page, result, findings);
  add_diagnoses(page, findings);
  add_advice(page, findings);
  add_measurement(page, result, findings);
  add_provenance(page, result);
  return page.take();
}

void write_report(const std::string& path, const Result& result, const Findings& findings, const std::string& name,
                  const OutputRole& role) {
  AtomicFile file(path, role);
  file.write(report_html(result, findings, name));
  file.commit();
}

}  // namespace sonde::ptycho
