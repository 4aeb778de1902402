// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/figure/html_page.h"

#include <fmt/format.h>

#include "sonde/engine/figure/html.h"

namespace sonde {
namespace {

constexpr std::string_view style = R"(
*{box-sizing:border-box}
body{margin:0;background:#fff;color:#1d2129;font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif}
svg text{font-family:inherit}
main{max-width:1160px;margin:0 auto;padding:28px 28px 60px}
h1{font-size:26px;margin:0;letter-spacing:-.01em}
h2{font-size:18px;margin:44px 0 14px;padding-bottom:6px;border-bottom:1px solid #d9dde3}
h3{font-size:15px;margin:0 0 6px}
p{margin:0 0 10px}
.sub{color:#5a6472;margin:4px 0 20px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(165px,1fr));gap:10px}
.tile{border:1px solid #d9dde3;border-radius:8px;padding:10px 14px}
.tile b{display:block;font-size:22px;font-weight:600;font-variant-numeric:tabular-nums;line-height:1.3}
.tile span{color:#5a6472;font-size:13px;display:block}
.row{display:flex;flex-wrap:wrap;gap:22px 26px;align-items:flex-start}
figure{margin:0;max-width:100%}
figure img{display:block;max-width:100%;max-height:400px;image-rendering:pixelated}
.large figure img{max-height:none}
.small figure img{max-height:256px}
.row+.row{margin-top:22px}
.row+p{margin-top:10px;color:#5a6472;font-size:13px}
.beside{max-width:30em}
figure svg{display:block;max-width:100%;height:auto}
figcaption{color:#5a6472;font-size:13px;margin-top:6px;width:0;min-width:100%}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th{text-align:left;font-weight:600;color:#5a6472;font-size:13px}
td,th{padding:6px 14px 6px 0;border-bottom:1px solid #eceff3;vertical-align:top}
td.n{white-space:nowrap}
table.facts{width:auto;min-width:360px}
table.facts td:first-child{color:#5a6472;white-space:nowrap}
.chip{display:inline-block;border-radius:10px;padding:0 9px;font-size:13px;font-weight:600;white-space:nowrap}
.good{background:#e3f3e6;color:#146c2e}
.suspect{background:#fde8e6;color:#a3160f}
.unknown{background:#eceff3;color:#5a6472}
ol.next{padding-left:22px;margin:0}
ol.next li{margin-bottom:12px}
ol.next span{color:#5a6472;display:block}
pre{background:#f5f7f9;border:1px solid #e3e7ec;border-radius:6px;padding:8px 12px;margin:6px 0 0;overflow:auto;font:13px/1.45 ui-monospace,"DejaVu Sans Mono",monospace}
details{margin-top:10px}
summary{cursor:pointer;font-weight:600}
@media print{main{max-width:none;padding:0}h2{break-after:avoid}figure,tr,.tile,li{break-inside:avoid}}
)";

}  // namespace

std::string html_image(const Array& picture, std::string_view words) {
  return fmt::format("<img alt=\"{}\" src=\"{}\">", html_text(words), png_data(picture));
}

std::string html_tile(std::string_view value, std::string_view what) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", html_text(value), html_text(what));
}

HtmlPage::HtmlPage(const std::string& title)
    : html_(fmt::format(
          "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"generator\" "
          "content=\"sonde\">\n<meta name=\"viewport\" "
          "content=\"width=device-width\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n",
          html_text(title), style)) {}

void HtmlPage::section(std::string_view title) { html_ += fmt::format("<h2>{}</h2>\n", html_text(title)); }

void HtmlPage::figure(const Figure& figure) {
  html_ += fmt::format("<figure>{}{}<figcaption>{}</figcaption></figure>\n",
                       figure.title.empty() ? "" : "<h3>" + html_text(figure.title) + "</h3>", figure.markup,
                       html_text(figure.caption));
}

void HtmlPage::figures(const std::vector<Figure>& all, bool small) {
  html_ += small ? "<div class=\"row small\">\n" : "<div class=\"row\">\n";
  for (const Figure& each : all) figure(each);
  html_ += "</div>\n";
}

void HtmlPage::facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  html_ += "<table class=\"facts\">\n";
  for (const auto& [what, value] : facts)
    if (!value.empty()) html_ += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", html_text(what), html_text(value));
  html_ += "</table>\n";
}

void HtmlPage::text(std::string_view words) { html_ += fmt::format("<p>{}</p>\n", html_text(words)); }

void HtmlPage::folded(std::string_view title, std::string_view code) {
  html_ += fmt::format("<details><summary>{}</summary><pre>{}</pre></details>\n", html_text(title), html_text(code));
}

}  // namespace sonde
