// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace sonde::stem {
namespace {

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += c;
  }
  return safe;
}

/// JSON inside of a script element: no "</" may end it early.
std::string json_for_script(std::string json) {
  for (std::size_t at = 0; (at = json.find('<', at)) != std::string::npos; at += 6) json.replace(at, 1, "\\u003c");
  return json;
}

}  // namespace

std::string base64(const std::vector<std::byte>& bytes) {
  constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0);
    const std::size_t given = std::min<std::size_t>(3, bytes.size() - i);
    for (std::size_t k = 0; k < 4; ++k) text += k <= given ? letters[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string to_html(const Snapshot& snapshot) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n<style>\n"
      ":root{{color-scheme:light dark}}body{{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;"
      "padding:0 1rem}}\nfigure{{display:inline-block;margin:0 1rem 1rem 0}}img{{max-width:32rem;width:100%}}"
      "td{{padding:0 1rem 0 0;vertical-align:top}}\n</style>\n</head>\n<body>\n<h1>{}</h1>\n",
      escaped(snapshot.title), escaped(snapshot.title));
  for (const auto& [caption, png] : snapshot.pictures)
    html +=
        fmt::format("<figure><img alt=\"{}\" src=\"data:image/png;base64,{}\"><figcaption>{}</figcaption></figure>\n",
                    escaped(caption), base64(png), escaped(caption));
  html += "<table>\n";
  for (const auto& [what, value] : snapshot.facts)
    html += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", escaped(what), escaped(value));
  html += "</table>\n<script type=\"application/json\" id=\"state\">\n" + json_for_script(snapshot.state) +
          "\n</script>\n</body>\n</html>\n";
  return html;
}

}  // namespace sonde::stem
