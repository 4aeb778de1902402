// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/read/bc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/file.h"
#include "sonde/instruments/neoclassical/read/fields_of_file.h"
#include "sonde/instruments/neoclassical/read/text_lines.h"

namespace sonde::neoclassical {
namespace {

constexpr double pi = std::numbers::pi;
constexpr double mu0 = 4e-7 * pi;  // the value of before 2019, with which such files are made
constexpr int most_mode = 10000;

/// One surface as it stands in the file: cosines and sines by mode.
struct Rows {
  std::vector<Mode> modes;
  std::vector<std::array<double, 4>> cosine, sine;  ///< of R, Z, shift, B
  double s = 0, jacobian = 0;
};

class BcParser {
 public:
  BcParser(std::string_view text, const std::string& name) : lines_(text, name), name_(name) {}

  BoozerFile parse() {
    file_.path = name_;
    read_header();
    while (next_numbers()) read_surface();
    if (static_cast<Index>(surfaces_.size()) != declared_)
      throw Error(ErrorKind::bad_file,
                  fmt::format("{}: {} of {} surfaces: the file is cut off", name_, surfaces_.size(), declared_));
    gather();
    return std::move(file_);
  }

 private:
  /// The next line whose first word is a number, its words in words_; titles in between are passed over.
  bool next_numbers() {
    while (const auto line = lines_.next()) {
      split_words(*line, words_);
      if (words_.empty() || words_[0] == "CC" || !fortran_number(words_[0])) continue;
      return true;
    }
    return false;
  }
  double number(std::size_t i, const char* what) const {
    const auto value = i < words_.size() ? fortran_number(words_[i]) : std::nullopt;
    if (!value)
      throw lines_.error(i < words_.size() ? fmt::format("{}: \"{}\" is not a finite number", what, words_[i])
                                           : fmt::format("{} is missing", what));
    return *value;
  }
  int integer(std::size_t i, const char* what, int least, int most) const {
    const auto value = i < words_.size() ? fortran_integer(words_[i], most) : std::nullopt;
    if (!value || *value < least)
      throw lines_.error(fmt::format("{} is not a whole number of {} to {}", what, least, most));
    return *value;
  }

  void read_header() {
    if (!next_numbers())
      throw Error(ErrorKind::bad_file, fmt::format("{}: no line m0b n0b nsurf nper flux a R", name_));
    integer(0, "m0b", 0, most_mode);
    integer(1, "n0b", 0, most_mode);
    declared_ = integer(2, "nsurf", 1, 1000000);
    file_.periods = integer(3, "nper", 1, most_mode);
    const double flux = number(4, "flux");
    if (flux == 0) throw lines_.error("flux is 0");
    file_.psi_a = flux / (2 * pi);
    file_.minor_radius = number(5, "a");
    file_.major_radius = number(6, "R");
  }

  void read_surface() {
    Rows rows;
    rows.s = number(0, "s");
    if (!(rows.s > 0 && rows.s <= 1)) throw lines_.error(fmt::format("s = {} is outside of 0 < s <= 1", rows.s));
    if (!file_.s.empty() && !(rows.s > file_.s.back()))
      throw lines_.error(fmt::format("s = {} does not increase", rows.s));
    file_.s.push_back(rows.s);
    file_.iota.push_back(number(1, "iota"));
    file_.b_zeta.push_back(mu0 * number(2, "curr_pol") * file_.periods / (2 * pi));
    file_.b_theta.push_back(mu0 * number(3, "curr_tor") / (2 * pi));
    file_.pressure.push_back(0);  // the file has only its slope
    rows.jacobian = number(5, "sqrtg(0,0)");
    if (rows.jacobian == 0) throw lines_.error("sqrtg(0,0) is 0");
    const int sign = rows.jacobian > 0 ? 1 : -1;
    if (file_.s.size() > 1 && sign != file_.sign_jacobian) throw lines_.error("sqrtg(0,0) changes its sign");
    file_.sign_jacobian = sign;
    read_rows(rows);
    surfaces_.push_back(std::move(rows));
  }

  /// Rows of harmonics up to the next title.
  void read_rows(Rows& rows) {
    bool begun = false;
    while (true) {
      const TextLines before = lines_;
      const auto line = lines_.next();
      if (!line) break;
      split_words(*line, words_);
      if (words_.empty()) continue;
      if (!fortran_number(words_[0])) {
        if (!begun) continue;  // the title of the columns
        lines_ = before;
        break;
      }
      begun = true;
      const bool asymmetric = words_.size() == 10;
      if (words_.size() != 6 && !asymmetric)
        throw lines_.error(fmt::format("{} columns, expected m, n and four numbers, or eight", words_.size()));
      if (asymmetric != file_.asymmetric && !(rows.modes.empty() && surfaces_.empty()))
        throw lines_.error(fmt::format("{} columns, other rows have another number", words_.size()));
      file_.asymmetric = asymmetric;
      rows.modes.push_back({integer(0, "m", 0, most_mode), -integer(1, "n", -most_mode, most_mode)});
      static constexpr const char* names[] = {"r", "z", "the shift", "bmn"};
      std::array<double, 4> cosine{}, sine{};
      for (std::size_t i = 0; i < 4; ++i)
        if (asymmetric) {
          cosine[i] = number(2 + 2 * i, names[i]);
          sine[i] = number(3 + 2 * i, names[i]);
        } else {
          (i == 1 || i == 2 ? sine[i] : cosine[i]) = number(2 + i, names[i]);  // Z and the shift are odd
        }
      rows.cosine.push_back(cosine);
      rows.sine.push_back(sine);
    }
    if (!begun) throw lines_.error(fmt::format("the surface s = {} has no harmonics", rows.s));
  }

  /// Tables over the modes of all surfaces, after the checks of every surface.
  void gather() {
    const auto before = [](const Mode& a, const Mode& b) { return std::pair(a.m, -a.n) < std::pair(b.m, -b.n); };
    std::map<Mode, std::size_t, decltype(before)> columns(before);
    for (const Rows& rows : surfaces_)
      for (const Mode& mode : rows.modes) columns.emplace(mode, 0);
    for (auto& [mode, column] : columns) {
      column = file_.modes.size();
      file_.modes.push_back(mode);
      file_.mboz = std::max(file_.mboz, mode.m + 1);
      file_.nboz = std::max(file_.nboz, std::abs(mode.n));
    }
    const std::size_t width = columns.size(), size = width * surfaces_.size();
    constexpr std::size_t most_size = std::size_t{1} << 27;  // 1 GiB a table
    if (size > most_size) throw Error(ErrorKind::bad_file, fmt::format("{}: {} harmonics in all", name_, size));
    HarmonicTable* tables[] = {&file_.r, &file_.z, &file_.zeta_shift, &file_.b};
    for (std::size_t t = 0; t < 4; ++t) {
      tables[t]->rows = static_cast<Index>(surfaces_.size());
      tables[t]->columns = static_cast<Index>(width);
      const bool odd = t == 1 || t == 2;
      if (!odd || file_.asymmetric) tables[t]->cosine.assign(size, 0.0);
      if (odd || file_.asymmetric) tables[t]->sine.assign(size, 0.0);
    }
    for (std::size_t row = 0; row < surfaces_.size(); ++row) {
      const Rows& rows = surfaces_[row];
      std::vector<bool> seen(width, false);
      for (std::size_t i = 0; i < rows.modes.size(); ++i) {
        const std::size_t column = columns.at(rows.modes[i]);
        if (seen[column])
          throw Error(ErrorKind::bad_file, fmt::format("{}: the surface s = {} has the harmonic m = {}, n = {} twice",
                                                       name_, rows.s, rows.modes[i].m, -rows.modes[i].n));
        seen[column] = true;
        for (std::size_t t = 0; t < 4; ++t) {
          // The shift of the file is (phi_Boozer - phi) nper / 2 pi.
          const double unit = t == 2 ? 2 * pi / file_.periods : 1;
          const std::size_t at = row * width + column;
          if (!tables[t]->cosine.empty()) tables[t]->cosine[at] = unit * rows.cosine[i][t];
          if (!tables[t]->sine.empty()) tables[t]->sine[at] = unit * rows.sine[i][t];
        }
      }
    }
    file_.profile_s = file_.s;
    file_.pressure.clear();
    guess_mesh();
    check_jacobians();
  }

  /// The half mesh on which the surfaces lie, for writing boozmn files: the coarsest one; none leaves ns at 0.
  void guess_mesh() {
    constexpr Index most = 4000;
    for (Index ns = static_cast<Index>(file_.s.size()) + 1; ns <= most && file_.ns == 0; ++ns) {
      const bool all = std::all_of(file_.s.begin(), file_.s.end(), [&](double s) {
        const double j = s * static_cast<double>(ns - 1) + 0.5;
        return std::abs(j - std::round(j)) < 1e-4 * j + 1e-5 * static_cast<double>(ns);  // s has five digits
      });
      if (all) file_.ns = ns;
    }
  }

  /// sqrt(g) of the file against B, iota and the currents: a wrong unit or sign of any of them shows here.
  void check_jacobians() const {
    // The first surface that is wrong is named, whichever thread was quicker.
    std::vector<std::optional<Error>> found(surfaces_.size());
    parallel_for(static_cast<Index>(surfaces_.size()), 1, [&](Index first, Index last, Worker&) {
      for (auto row = static_cast<std::size_t>(first); row < static_cast<std::size_t>(last); ++row) {
        try {
          check_jacobian(row);
        } catch (const Error& error) {
          found[row] = error;
        }
      }
    });
    for (const std::optional<Error>& error : found)
      if (error) throw Error(*error);
  }
  void check_jacobian(std::size_t row) const {
    const double s = file_.s[row], g_iota_i = file_.b_zeta[row] + file_.iota[row] * file_.b_theta[row];
    require_equal_signs(name_, s, *file_.psi_a, g_iota_i);
    const Series b = radial_rule(file_.s, s)(file_.b, file_.modes);
    if (!(b.cosine_of({0, 0}) > 0))
      throw Error(ErrorKind::bad_file, fmt::format("{}: bmn(0,0) is {} T at s = {}", name_, b.cosine_of({0, 0}), s));
    const Mode largest = b.largest();
    const AngleGrid grid{2 * std::min(largest.m, 64) + 3, largest.n == 0 ? 1 : 2 * std::min(largest.n, 64) + 3,
                         file_.periods};
    double mean = 0;
    for (const double value : on_grid(b, grid).value) mean += 1 / (value * value);
    mean /= static_cast<double>(grid.count());
    const double expected = 4 * pi * pi / file_.periods * *file_.psi_a * g_iota_i * mean;
    const double found = std::abs(surfaces_[row].jacobian);
    constexpr double tolerance = 1e-4;  // the file has five digits; 1.9e-5 was the worst of 97 surfaces of one
    if (!(std::abs(found / expected - 1) < tolerance))
      throw Error(ErrorKind::bad_file,
                  fmt::format("{}: at s = {} sqrtg(0,0) = {:.6g}, but 4 pi^2/nper psi_a (G + iota I) <1/B^2> = {:.6g}",
                              name_, s, found, expected))
          .hint("flux, currents, iota and bmn do not belong together");
  }

  TextLines lines_;
  const std::string& name_;
  std::vector<std::string_view> words_;
  Index declared_ = 0;
  std::vector<Rows> surfaces_;
  BoozerFile file_;
};

}  // namespace

BoozerFile parse_bc(std::string_view text, const std::string& name) { return BcParser(text, name).parse(); }

BoozerFile read_bc(const std::string& path) {
  require_readable(path);
  return parse_bc(read_text(path, std::size_t{1} << 30), path);  // 97 surfaces of 1400 harmonics have 10 MB
}

}  // namespace sonde::neoclassical
