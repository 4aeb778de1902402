// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/verbs/analysis_page.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/figure/chart_svg.h"
#include "sonde/engine/figure/html.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/report/json.h"
#include "sonde/engine/run/write_charts.h"

namespace sonde::stem {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// As the program names its settings: nobody sees which door made a page.
std::string in_words(std::string_view text) { return spelled(text, Spelling::flags); }

/// "rings     40 from 0 to 2 1/A" is a fact, its name and its value; a line without a name continues the one before.
Facts facts_of(const std::vector<std::string>& lines) {
  Facts facts;
  for (const std::string& line : lines) {
    const std::size_t end = line.find("  "), value = line.find_first_not_of(' ', end);
    if (end == std::string::npos || value == std::string::npos)
      facts.emplace_back("", in_words(line));
    else if (end == 0 && !facts.empty())
      facts.back().second += ", " + in_words(line.substr(value));
    else
      facts.emplace_back(line.substr(0, end), in_words(line.substr(value)));
  }
  return facts;
}

Facts given_settings(const Fields& settings) {
  Facts facts;
  for (const Field& field : settings.all())
    if (field.origin != Origin::built_in && !field.positional && field.key != "html")
      facts.emplace_back(field.flag(), field.text());
  return facts;
}

std::string all_settings(const Fields& settings) {
  std::string text;
  for (const Field& field : settings.all())
    if (!field.positional)
      text +=
          fmt::format("{} = {}{}{}\n", field.key, field.text(), field.info.unit.empty() ? "" : " ", field.info.unit);
  return text;
}

}  // namespace

Figure picture_figure(const Array& picture, std::string_view words) {
  return {.title = "", .caption = std::string(words), .markup = html_image(picture, words)};
}

std::vector<Figure> chart_figures(const Chart& chart, std::string_view words) {
  try {
    return {{.title = "", .caption = std::string(words), .markup = chart_svg(chart)}};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::not_supported) throw;
    return {};
  }
}

void describe_page(std::string& html, Fields& fields) {
  fields.add(
      "html", html,
      {.help = "write a page with pictures, figures, warnings and settings into this file, which needs nothing else",
       .metavar = "FILE.html"});
}

void require_page(const std::string& html) {
  if (html.empty()) return;
  (void)require_ending(html, "pages", {".html"});
  require_place(html);
}

void write_page(const AnalysisPage& page, const std::string& html, std::string_view command, Run& run) {
  if (html.empty()) return;
  const std::string name = std::filesystem::path(page.input).filename().string();
  HtmlPage written(fmt::format("{} - {}", page.title, name));
  written.add(fmt::format("<h1>{}</h1>\n<p class=\"sub\">{}</p>\n", html_text(page.title), html_text(name)));
  for (const std::string& warning : page.warnings)
    written.add(fmt::format("<p><span class=\"chip suspect\">warning</span> {}</p>\n", html_text(in_words(warning))));
  if (page.warnings.empty()) written.text("No warning: nothing in these figures asks for doubt.");
  if (!page.figures.empty()) written.section("Pictures");
  written.add("<div class=\"large\">\n");
  for (const Figure& figure : page.figures) written.figure(figure);
  written.add("</div>\n");
  written.section("What was found");
  written.facts(facts_of(page.lines));
  written.section("Settings and provenance");
  Facts provenance = given_settings(run.settings());
  provenance.emplace_back("input", page.input);
  provenance.emplace_back("command", command);
  provenance.emplace_back("sonde", build_info().version);
  written.facts(provenance);
  written.folded("All settings", all_settings(run.settings()));
  written.folded("The result as JSON", to_json(run.results()));
  AtomicFile file(html);
  file.write(written.take());
  file.commit();
  wrote(html, run);
}

}  // namespace sonde::stem
