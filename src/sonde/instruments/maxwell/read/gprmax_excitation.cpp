// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/gprmax_excitation.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "sonde/engine/base/text.h"
#include "sonde/instruments/maxwell/read/gprmax_words.h"

namespace sonde::maxwell {
namespace {

/// Rows of a text; counts its lines for messages.
class Rows {
 public:
  Rows(std::string_view text, const std::string& name) : rest_(text), name_(&name) {}

  /// The words of the next line that has any; none at the end.
  std::vector<std::string> next() {
    std::vector<std::string> words;
    while (words.empty() && !rest_.empty()) {
      const std::size_t end = rest_.find('\n');
      words = words_of(rest_.substr(0, end).substr(0, rest_.find('#')));
      rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
      ++line_;
    }
    return words;
  }
  [[nodiscard]] Error error(const std::string& what) const {
    return {ErrorKind::bad_file, fmt::format("{}, line {}: {}", *name_, line_, what)};
  }

 private:
  std::string_view rest_;
  const std::string* name_;
  Index line_ = 0;
};

}  // namespace

GprmaxExcitation parse_gprmax_excitation(std::string_view text, const std::string& name) {
  Rows rows(text, name);
  GprmaxExcitation made;
  made.ids = rows.next();
  if (made.ids.empty()) throw Error(ErrorKind::bad_file, fmt::format("{}: no names of waveforms", name));
  std::vector<std::vector<double>> columns(made.ids.size());
  for (std::vector<std::string> words = rows.next(); !words.empty(); words = rows.next()) {
    if (words.size() != columns.size())
      throw rows.error(fmt::format("{} numbers; expected {}, one for each name", words.size(), columns.size()));
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::optional<double> value = number_of(words[i]);
      if (!value) throw rows.error(fmt::format("\"{}\"; expected a number", words[i]));
      columns[i].push_back(*value);
    }
    if (const std::vector<double>& first = columns[0];
        to_lower(made.ids[0]) == "time" && first.size() > 1 && !(first.back() > first[first.size() - 2]))
      throw rows.error(fmt::format("time = {}; expected later than the row before", words[0]));
  }
  if (columns[0].empty()) throw Error(ErrorKind::bad_file, fmt::format("{}: no numbers below the names", name));
  if (to_lower(made.ids[0]) == "time") {
    made.times = std::move(columns[0]);
    columns.erase(columns.begin());
    made.ids.erase(made.ids.begin());
  }
  made.values = std::move(columns);
  return made;
}

}  // namespace sonde::maxwell
