// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numbers>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/file.h"
#include "sonde/instruments/stem/orient/cif_text.h"
#include "sonde/instruments/stem/orient/crystal.h"

namespace sonde::stem {
namespace {

constexpr std::size_t most_operations = 400;  // 192 are in the tables

[[noreturn]] void refuse_cif(const std::string& name, const std::string& fact, const std::string& hint = {}) {
  Error error(ErrorKind::bad_file, name + ": " + fact);
  if (!hint.empty()) error.hint(hint);
  throw error;
}

/// "4.078(3)" is 4.078: the bracket is its standard uncertainty.
double cif_number(const std::string& text, const std::string& name, std::string_view what) {
  std::string_view digits = text;
  if (const std::size_t bracket = digits.find('('); bracket != std::string_view::npos)
    digits = digits.substr(0, bracket);
  if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
  double value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || problem != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value))
    refuse_cif(name, fmt::format("{} is \"{}\"; expected a number", what, text.substr(0, 40)));
  return value;
}

UnitCell cell_of(const CifBlock& block, const std::string& name) {
  const auto number = [&](std::string_view tag) {
    const std::string text = block.first({tag});
    if (text.empty())
      refuse_cif(name, fmt::format("{} is missing", tag), "a crystal needs three lengths and three angles");
    return cif_number(text, name, tag);
  };
  return {number("_cell_length_a"),    number("_cell_length_b"),   number("_cell_length_c"),
          number("_cell_angle_alpha"), number("_cell_angle_beta"), number("_cell_angle_gamma")};
}

/// "Fe3+", "O2-" and labels such as "Fe12A": the first two letters where they are an element, else the first.
int element_of(const std::string& text) {
  std::size_t letters = 0;
  while (letters < 2 && letters < text.size() && std::isalpha(static_cast<unsigned char>(text[letters])) != 0)
    ++letters;
  for (; letters > 0; --letters)
    if (const int found = atomic_number(std::string_view(text).substr(0, letters))) return found;
  return 0;
}

/// The rows of the loop of sites.
class CifSites {
 public:
  CifSites(const CifBlock& block, const std::string& name) : block_(block), name_(name) {
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string tag = fmt::format("_atom_site_fract_{}", "xyz"[i]);
      position_[i] = block.column({tag});
      if (position_[i] == nullptr) refuse_cif(name, tag + " is missing", "sites need coordinates in parts of the cell");
    }
    symbol_ = column({"_atom_site_type_symbol"});
    label_ = column({"_atom_site_label"});
    occupancy_ = column({"_atom_site_occupancy"});
    b_ = column({"_atom_site_b_iso_or_equiv"});
    u_ = column({"_atom_site_u_iso_or_equiv"});
    for (const auto* each : position_)
      if (each->size() != position_[0]->size()) refuse_cif(name, "columns of _atom_site_ have different lengths");
    if (symbol_ == nullptr && label_ == nullptr)
      refuse_cif(name, "sites have neither _atom_site_type_symbol nor _atom_site_label");
  }

  [[nodiscard]] std::vector<Atom> read() const {
    std::vector<Atom> sites;
    for (std::size_t row = 0; row < position_[0]->size(); ++row) sites.push_back(site(row));
    return sites;
  }

 private:
  using Column = const std::vector<std::string>*;

  [[nodiscard]] Column column(const std::vector<std::string_view>& tags) const {
    const Column found = block_.column(tags);
    if (found != nullptr && found->size() != position_[0]->size())
      refuse_cif(name_,
                 fmt::format("{} has {} values for {} sites", tags.front(), found->size(), position_[0]->size()));
    return found;
  }

  [[nodiscard]] Atom site(std::size_t row) const {
    const auto text = [&](Column of) { return of == nullptr ? std::string() : (*of)[row]; };
    Atom atom;
    atom.label = text(label_).empty() ? fmt::format("{}", row + 1) : text(label_).substr(0, 40);
    const std::string symbol = text(symbol_).empty() ? text(label_) : text(symbol_);
    atom.atomic_number = element_of(symbol);
    if (atom.atomic_number == 0)
      refuse_cif(name_, fmt::format("site {}: unknown element \"{}\"", atom.label, symbol.substr(0, 40)));
    const std::string where = fmt::format("{}: site {}", name_, atom.label);
    for (std::size_t i = 0; i < 3; ++i) atom.position[i] = cif_number((*position_[i])[row], where, "a coordinate");
    if (!text(occupancy_).empty()) atom.occupancy = cif_number(text(occupancy_), where, "the occupancy");
    if (!text(b_).empty())
      atom.b = cif_number(text(b_), where, "B");
    else if (!text(u_).empty())
      atom.b = 8 * std::numbers::pi * std::numbers::pi * cif_number(text(u_), where, "U");
    return atom;
  }

  const CifBlock& block_;
  const std::string& name_;
  std::array<Column, 3> position_{};
  Column symbol_ = nullptr, label_ = nullptr, occupancy_ = nullptr, b_ = nullptr, u_ = nullptr;
};

std::string group_of(const CifBlock& block) {
  return block.first({"_space_group_name_h-m_alt", "_symmetry_space_group_name_h-m", "_space_group_name_h-m_full",
                      "_space_group_name_h-m_ref"});
}

std::vector<SymmetryOperation> operations_of(const CifBlock& block, const UnitCell& cell, const std::string& name,
                                             std::vector<std::string>& warnings) {
  const std::vector<std::string>* const listed =
      block.column({"_space_group_symop_operation_xyz", "_symmetry_equiv_pos_as_xyz"});
  if (listed != nullptr && !listed->empty()) {
    if (listed->size() > most_operations)
      refuse_cif(name, fmt::format("{} operations; expected at most {}", listed->size(), most_operations));
    std::vector<SymmetryOperation> made;
    for (const std::string& text : *listed) made.push_back(parse_operation(text, name));
    return made;
  }
  std::string group = group_of(block);
  if (group.empty()) group = block.first({"_space_group_it_number", "_symmetry_int_tables_number"});
  if (!group.empty()) return operations_of_group(group, cell.alpha, cell.gamma, name);
  warnings.push_back(
      "the file names neither operations nor a space group: its sites were taken as all atoms of the cell");
  return {parse_operation("x,y,z", name)};
}

}  // namespace

Crystal crystal_from_cif(const std::string& text, const std::string& name) {
  const std::vector<CifBlock> blocks = parse_cif(text, name);
  const auto has_cell = [](const CifBlock& block) { return block.column({"_cell_length_a"}) != nullptr; };
  const auto block = std::find_if(blocks.begin(), blocks.end(), has_cell);
  if (block == blocks.end())
    refuse_cif(name, "no block has a cell (_cell_length_a)", "give the CIF file of a crystal structure");
  const UnitCell cell = cell_of(*block, name);
  std::vector<std::string> warnings;
  const auto operations = operations_of(*block, cell, name, warnings);
  try {
    Crystal crystal = make_crystal(name, cell, CifSites(*block, name).read(), operations);
    crystal.space_group = group_of(*block);
    crystal.warnings = std::move(warnings);
    return crystal;
  } catch (const Error& error) {
    Error of_cif(ErrorKind::bad_file, error.marked_message());
    if (!error.marked_hint().empty()) of_cif.hint(error.marked_hint());
    throw of_cif;
  }
}

Crystal read_crystal(const std::string& path) { return crystal_from_cif(read_text(path), path); }

}  // namespace sonde::stem
