// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/orient/atom_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <gemmi/c4322.hpp>
#include <gemmi/elem.hpp>
#include <gemmi/symmetry.hpp>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde::stem {
namespace {

constexpr std::size_t longest_operation = 60;  // "-1/2*x+..." of three parts is shorter

/// Digits are read as an int by gemmi, and multiplied by 24.
bool has_large_number(const std::string& text) {
  std::size_t digits = 0;
  for (const char c : text) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > 3) return true;
  }
  return false;
}

SymmetryOperation from_gemmi(const gemmi::Op& op, const std::string& where) {
  SymmetryOperation made;
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      if (op.rot[i][j] % gemmi::Op::DEN != 0)
        throw Error(ErrorKind::bad_file, where + ": not an operation of a crystal");
      made.turn[i][j] = op.rot[i][j] / gemmi::Op::DEN;
      if (std::abs(made.turn[i][j]) > 2) throw Error(ErrorKind::bad_file, where + ": not an operation of a crystal");
    }
    made.shift[i] = static_cast<double>(op.tran[i]) / gemmi::Op::DEN;
  }
  const auto& t = made.turn;
  const int volume = t[0][0] * (t[1][1] * t[2][2] - t[1][2] * t[2][1]) -
                     t[0][1] * (t[1][0] * t[2][2] - t[1][2] * t[2][0]) +
                     t[0][2] * (t[1][0] * t[2][1] - t[1][1] * t[2][0]);
  if (volume != 1 && volume != -1) throw Error(ErrorKind::bad_file, where + ": not an operation of a crystal");
  return made;
}

const gemmi::SpaceGroup* find_group(const std::string& symbol, double alpha, double gamma) {
  if (const auto* found = gemmi::find_spacegroup_by_name(symbol, alpha, gamma)) return found;
  // Older files write F m 3 m for F m -3 m.
  const std::size_t three = symbol.find('3');
  if (three == std::string::npos || three == 0) return nullptr;
  std::string newer = symbol;
  return gemmi::find_spacegroup_by_name(newer.insert(three, "-"), alpha, gamma);
}

}  // namespace

int atomic_number(std::string_view symbol) {
  if (symbol.empty() || symbol.size() > 2) return 0;
  const gemmi::El found = gemmi::find_element(std::string(symbol).c_str());
  return found == gemmi::El::D ? 1 : static_cast<int>(found);
}

std::string element_symbol(int atomic_number) { return gemmi::element_name(static_cast<gemmi::El>(atomic_number)); }

double electron_factor(int atomic_number, double g) {
  const auto s_squared = g * g / 4;  // s = sin(theta) / lambda = g / 2
  return gemmi::C4322<double>::get(static_cast<gemmi::El>(atomic_number)).calculate_sf(s_squared);
}

SymmetryOperation parse_operation(const std::string& text, const std::string& where) {
  if (text.size() > longest_operation || has_large_number(text))
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: \"{}\" is not an operation", where, text.substr(0, longest_operation)));
  try {
    return from_gemmi(gemmi::parse_triplet(text), fmt::format("{}: \"{}\"", where, text));
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {
    throw Error(ErrorKind::bad_file, fmt::format("{}: \"{}\" is not an operation", where, text))
        .hint("operations are written like x+1/2, -y, z");
  }
}

std::vector<SymmetryOperation> operations_of_group(const std::string& symbol, double alpha, double gamma,
                                                   const std::string& where) {
  const std::string tidy = symbol.substr(0, 40);
  const gemmi::SpaceGroup* const group = tidy.empty() ? nullptr : find_group(tidy, alpha, gamma);
  if (group == nullptr) throw Error(ErrorKind::bad_file, fmt::format("{}: unknown space group \"{}\"", where, tidy));
  const bool origins = group->ext == '1' || group->ext == '2';
  if (origins && tidy.find(':') == std::string::npos)
    throw Error(ErrorKind::bad_file, fmt::format("{}: space group \"{}\" has two choices of the origin", where, tidy))
        .hint(fmt::format("list the operations in the file, or write \"{0}:1\" or \"{0}:2\"", group->hm));
  std::vector<SymmetryOperation> made;
  for (const gemmi::Op& op : group->operations().all_ops_sorted()) made.push_back(from_gemmi(op, where));
  return made;
}

}  // namespace sonde::stem
