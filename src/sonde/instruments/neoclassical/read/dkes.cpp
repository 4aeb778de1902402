// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/read/dkes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/instruments/neoclassical/read/text_lines.h"

namespace sonde::neoclassical {
namespace {

constexpr int most_dkes_mode = 10000;

/// What both forms collect.
class Collected {
 public:
  explicit Collected(const std::string& name) : name_(name) {}

  [[nodiscard]] Error error(const std::string& what) const {
    return Error(ErrorKind::bad_file, fmt::format("{}: {}", name_, what));
  }

  void set(std::optional<double>& target, const std::string& key, double value) const {
    if (target) throw error(key + " is given twice");
    target = value;
  }
  void set_periods(double value) {
    if (periods_) throw error("the number of field periods is given twice");
    if (!(value >= 1 && value <= most_dkes_mode) || value != std::floor(value))
      throw error(fmt::format("the number of field periods is {}", value));
    periods_ = static_cast<int>(value);
  }
  /// cos(m theta + n zeta) is the same for (-m, -n).
  void add(int m, int n, double value) {
    const Mode mode = m < 0 ? Mode{-m, -n} : Mode{m, n};
    if (!seen_.emplace(mode.m, mode.n).second)
      throw error(fmt::format("the harmonic m = {}, n = {} is given twice", m, n));
    b_.modes.push_back(mode);
    b_.cosine.push_back(value);
  }

  /// iota = `iota_sign` chip / psip where it is not given itself.
  AnalyticSurface finish(const char* periods, const char* b00, double iota_sign = -1) {
    if (!periods_) throw error(fmt::format("{} is missing", periods));
    if (!psip) throw error("psip is missing");
    if (*psip == 0) throw error("psip is zero");
    if (!iota && !chip) throw error("chip is missing");
    if (iota && chip) throw error("both iota and chip are given");
    if (!btheta) throw error("btheta is missing");
    if (!bzeta) throw error("bzeta is missing");
    if (!seen_.contains({0, 0})) throw error(fmt::format("{} is missing", b00));
    return {name_, *periods_, iota ? *iota : iota_sign * *chip / *psip, *psip, *btheta, *bzeta, std::move(b_)};
  }

  std::optional<double> chip, psip, iota, btheta, bzeta;

 private:
  const std::string& name_;
  std::optional<int> periods_;
  Series b_;
  std::set<std::pair<int, int>> seen_;
};

/// Assignments of a Fortran namelist, one after the other.
class Namelist {
 public:
  struct Assignment {
    std::string key;                        ///< lower case
    std::optional<std::string> subscripts;  ///< what stands between the parentheses
    std::vector<std::string> values;
  };

  Namelist(std::string_view text, const Collected& collected) : rest_(text), collected_(collected) {}

  /// Nothing at the end of the group or of the text.
  std::optional<Assignment> next() {
    skip_separators();
    if (at_end()) return std::nullopt;
    Assignment assignment;
    auto target = read_target();
    if (!target) throw collected_.error(fmt::format("\"{}\" is not an assignment", excerpt()));
    assignment.key = std::move(target->key);
    assignment.subscripts = std::move(target->subscripts);
    for (skip_separators(); !at_end() && !target_follows(); skip_separators())
      assignment.values.push_back(read_value());
    return assignment;
  }

 private:
  struct Target {
    std::string key;
    std::optional<std::string> subscripts;
  };

  static bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
  static bool is_name(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '%'; }
  static bool is_separator(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ','; }

  std::string excerpt() const { return std::string(rest_.substr(0, std::min<std::size_t>(rest_.find('\n'), 30))); }
  bool at_end() const { return rest_.empty() || rest_[0] == '/' || rest_[0] == '&' || rest_[0] == '$'; }

  void skip_separators() {
    while (!rest_.empty()) {
      if (is_separator(rest_[0])) {
        rest_.remove_prefix(1);
      } else if (rest_[0] == '!') {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else {
        return;
      }
    }
  }
  void skip_blanks() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t')) rest_.remove_prefix(1);
  }

  bool target_follows() {
    const std::string_view here = rest_;
    const bool follows = read_target().has_value();
    rest_ = here;
    return follows;
  }

  /// "name =" or "name(subscripts) ="; nothing read when that is not what follows.
  std::optional<Target> read_target() {
    const std::string_view here = rest_;
    const auto fail = [&] {
      rest_ = here;
      return std::nullopt;
    };
    std::size_t size = 0;
    while (size < rest_.size() && is_name(rest_[size])) ++size;
    if (size == 0 || !is_letter(rest_[0])) return fail();
    Target target{to_lower(rest_.substr(0, size)), std::nullopt};
    rest_.remove_prefix(size);
    skip_blanks();
    if (rest_.starts_with('(')) {
      const std::size_t close = rest_.find(')');
      if (close == std::string_view::npos) return fail();
      target.subscripts = std::string(rest_.substr(1, close - 1));
      rest_.remove_prefix(close + 1);
      skip_blanks();
    }
    if (!rest_.starts_with('=')) return fail();
    rest_.remove_prefix(1);
    return target;
  }

  std::string read_value() {
    if (rest_[0] == '\'' || rest_[0] == '"') {
      const std::size_t close = rest_.find(rest_[0], 1);
      const std::size_t size = close == std::string_view::npos ? rest_.size() : close + 1;
      std::string value(rest_.substr(0, size));
      rest_.remove_prefix(size);
      return value;
    }
    std::size_t size = 0;
    while (size < rest_.size() && !is_separator(rest_[size]) && rest_[size] != '/' && rest_[size] != '!') ++size;
    std::string value(rest_.substr(0, std::max<std::size_t>(size, 1)));
    rest_.remove_prefix(value.size());
    return value;
  }

  std::string_view rest_;
  const Collected& collected_;
};

double only_number(const Namelist::Assignment& assignment, const std::string& key, const Collected& collected) {
  if (assignment.values.size() != 1)
    throw collected.error(fmt::format("{} has {} values, expected one", key, assignment.values.size()));
  const auto number = fortran_number(assignment.values[0]);
  if (!number) throw collected.error(fmt::format("{} = \"{}\" is not a finite number", key, assignment.values[0]));
  return *number;
}

/// `n_sign` is that of n zeta in the phase.
void add_harmonic(const Namelist::Assignment& assignment, int n_sign, Collected& collected) {
  const std::string subscripts = assignment.subscripts.value_or("");
  std::vector<std::string_view> words;
  split_words(subscripts, words);
  const auto wrong = [&] {
    return collected.error(fmt::format("borbi({}) has no two whole subscripts n, m", subscripts));
  };
  if (words.size() != 2) throw wrong();
  const auto n = fortran_integer(words[0], most_dkes_mode), m = fortran_integer(words[1], most_dkes_mode);
  if (!n || !m) throw wrong();
  collected.add(*m, n_sign * *n, only_number(assignment, fmt::format("borbi({},{})", *n, *m), collected));
}

/// What stands behind the name of the group.
struct Group {
  std::string_view text;
  bool of_stellopt = false;
};

std::optional<Group> find_group(std::string_view text) {
  const std::string lower = to_lower(text);
  for (const auto& [name, of_stellopt] : {std::pair{"datain", false}, std::pair{"dkes_indata", true}})
    for (const char mark : {'&', '$'})
      if (const std::size_t at = lower.find(mark + std::string(name)); at != std::string::npos)
        return Group{text.substr(at + 1 + std::string_view(name).size()), of_stellopt};
  return std::nullopt;
}

/// What STELLOPT's form may say that would be read as something else. nvalsb lists toroidal modes in older files.
void require_plain(const Namelist::Assignment& assignment, const Collected& collected) {
  const auto refuse = [&](const std::string& what) {
    return Error(ErrorKind::not_supported, collected.error(what).message());
  };
  if (assignment.key == "nvalsb")
    throw refuse("borbi is counted by the list nvalsb").hint("write borbi(n,m) with the mode numbers themselves");
  if (assignment.key == "ibbi" && only_number(assignment, "ibbi", collected) != 1)
    throw refuse("borbi is not |B| (ibbi is not 1)").hint("write the harmonics of |B| with ibbi = 1");
}

AnalyticSurface finish_stellopt(Collected& collected, const std::string& name, Notes& notes) {
  AnalyticSurface made = collected.finish("nzperiod", "borbi(0,0)", 1);
  const double g_iota_i = made.b_zeta + made.iota * made.b_theta;
  if (made.psi_p * g_iota_i <= 0)
    throw collected
        .error(fmt::format("psip = {:.6g} and bzeta + iota btheta = {:.6g} differ in sign", made.psi_p, g_iota_i))
        .hint(
            "B^2 is their product over |sqrt g|: change the signs of psip and chip, or of btheta and "
            "bzeta");
  made.sign_jacobian = -1;
  notes.push_back(fmt::format("{}: left-handed angles, as VMEC has them, which dkes_indata does not say", name));
  return made;
}

}  // namespace

bool is_namelist(std::string_view text) { return find_group(text).has_value(); }

AnalyticSurface parse_dkes(std::string_view text, const std::string& name, Notes& notes) {
  Collected collected(name);
  const std::optional<Group> group = find_group(text);
  if (!group) throw collected.error("there is no namelist datain or dkes_indata");
  Namelist namelist(group->text, collected);
  std::vector<std::string> ignored;
  while (const auto assignment = namelist.next()) {
    const std::string& key = assignment->key;
    const auto number = [&] { return only_number(*assignment, key, collected); };
    if (group->of_stellopt) require_plain(*assignment, collected);
    if (key == "nzperiod")
      collected.set_periods(number());
    else if (key == "chip")
      collected.set(collected.chip, key, number());
    else if (key == "psip")
      collected.set(collected.psip, key, number());
    else if (key == "btheta")
      collected.set(collected.btheta, key, number());
    else if (key == "bzeta")
      collected.set(collected.bzeta, key, number());
    else if (key == "borbi")
      add_harmonic(*assignment, group->of_stellopt ? -1 : 1, collected);
    else if (std::find(ignored.begin(), ignored.end(), key) == ignored.end())
      ignored.push_back(key);
  }
  if (!ignored.empty()) notes.push_back(fmt::format("{}: ignored {}", name, join_words(ignored)));
  return group->of_stellopt ? finish_stellopt(collected, name, notes) : collected.finish("nzperiod", "borbi(0,0)");
}

AnalyticSurface parse_table(std::string_view text, const std::string& name) {
  Collected collected(name);
  TextLines lines(text, name);
  std::vector<std::string_view> words;
  while (const auto whole = lines.next()) {
    std::string line(whole->substr(0, whole->find_first_of("#!")));
    std::replace(line.begin(), line.end(), '=', ' ');
    split_words(line, words);
    if (words.empty()) continue;
    const auto number = fortran_number(words.back());
    if (!number) throw lines.error(fmt::format("\"{}\" is not a finite number", words.back()));
    if (words.size() == 3) {
      const auto m = fortran_integer(words[0], most_dkes_mode), n = fortran_integer(words[1], most_dkes_mode);
      if (!m || !n) throw lines.error("m and n are not whole numbers");
      collected.add(*m, *n, *number);
      continue;
    }
    const std::string key = words.size() == 2 ? to_lower(words[0]) : "";
    if (key == "nfp" || key == "nzperiod")
      collected.set_periods(*number);
    else if (key == "iota")
      collected.set(collected.iota, key, *number);
    else if (key == "chip")
      collected.set(collected.chip, key, *number);
    else if (key == "psi_p" || key == "psip")
      collected.set(collected.psip, key, *number);
    else if (key == "b_theta" || key == "btheta")
      collected.set(collected.btheta, key, *number);
    else if (key == "b_zeta" || key == "bzeta")
      collected.set(collected.bzeta, key, *number);
    else if (key.empty())
      throw lines.error("expected \"m n B_mn\" or a key with its value");
    else
      throw lines.error(fmt::format("unknown key {}{}", key,
                                    did_you_mean(key, {"nfp", "nzperiod", "iota", "chip", "psi_p", "psip", "b_theta",
                                                       "btheta", "b_zeta", "bzeta"})));
  }
  return collected.finish("nfp", "the harmonic m = 0, n = 0");
}

}  // namespace sonde::neoclassical
