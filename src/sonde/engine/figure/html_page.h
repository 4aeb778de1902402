// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sonde/engine/array/array.h"

namespace sonde {

/// A picture of a page with its words, as plain text.
struct Figure {
  std::string title, caption;
  std::string markup;  ///< an <img> or an <svg>
};

/// An <img> that holds a picture, u8 (rows, cols, 3); `words` are for those who do not see it.
[[nodiscard]] std::string html_image(const Array& picture, std::string_view words);
/// A number with what it is, for a row of them: <div class="tiles">.
[[nodiscard]] std::string html_tile(std::string_view value, std::string_view what);

/// The page of a result, written from the top: one file without scripts, which fetches nothing and prints. Texts are
/// plain and become markup here.
class HtmlPage {
 public:
  explicit HtmlPage(const std::string& title);

  void add(const std::string& markup) { html_ += markup; }
  void section(std::string_view title);
  void figure(const Figure& figure);
  /// Beside each other.
  void figures(const std::vector<Figure>& all, bool small = false);
  /// A table of two columns; those without a value are left out.
  void facts(const std::vector<std::pair<std::string, std::string>>& facts);
  void text(std::string_view words);
  /// Code that opens when it is asked for.
  void folded(std::string_view title, std::string_view code);
  /// The whole page; nothing can be added afterwards.
  [[nodiscard]] std::string take() { return std::move(html_) + "</main>\n</body>\n</html>\n"; }

 private:
  std::string html_;
};

}  // namespace sonde
