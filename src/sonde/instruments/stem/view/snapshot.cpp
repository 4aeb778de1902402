// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/snapshot.h"

#include <fmt/format.h>

#include "sonde/engine/figure/html.h"

namespace sonde::stem {
namespace {

/// JSON inside of a script element: no "</" may end it early.
std::string json_for_script(std::string json) {
  for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos; at += 6) json.replace(at, 1, "\\u003c");
  return json;
}

}  // namespace

std::string to_html(const Snapshot& snapshot) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n<style>\n"
      ":root{{color-scheme:light dark}}body{{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;"
      "padding:0 1rem}}\nfigure{{display:inline-block;margin:0 1rem 1rem "
      "0}}img{{height:20rem;max-width:100%;object-fit:contain}}"
      "td{{padding:0 1rem 0 0;vertical-align:top}}\n</style>\n</head>\n<body>\n<h1>{}</h1>\n",
      html_text(snapshot.title), html_text(snapshot.title));
  for (const auto& [caption, png] : snapshot.pictures)
    html +=
        fmt::format("<figure><img alt=\"{}\" src=\"data:image/png;base64,{}\"><figcaption>{}</figcaption></figure>\n",
                    html_text(caption), base64(png), html_text(caption));
  html += "<table>\n";
  for (const auto& [what, value] : snapshot.facts)
    html += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", html_text(what), html_text(value));
  html += "</table>\n<script type=\"application/json\" id=\"state\">\n" + json_for_script(snapshot.state) +
          "\n</script>\n</body>\n</html>\n";
  return html;
}

}  // namespace sonde::stem
