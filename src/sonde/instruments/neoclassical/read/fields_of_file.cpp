// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/read/fields_of_file.h"

#include <fmt/format.h>

#include <cmath>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/file.h"

namespace sonde::neoclassical {
namespace {

Error about(const NetcdfFile& file, const std::string& variable, const std::string& what) {
  return Error(ErrorKind::bad_file, fmt::format("{}: {} {}", file.path(), variable, what));
}

constexpr int most_quotient = 100000;

int mode_number(const NetcdfFile& file, const std::string& variable, double value, int divisor) {
  const double quotient = value / divisor;
  if (!(std::abs(quotient) <= most_quotient) || quotient != std::floor(quotient))
    throw about(file, variable,
                divisor == 1
                    ? fmt::format("holds {}, expected whole numbers", value)
                    : fmt::format("holds {}, which is not a multiple of the {} field periods", value, divisor));
  return static_cast<int>(quotient);
}

}  // namespace

void require_readable(const std::string& path) {
  try {
    const File file(path);
  } catch (const Error& error) {
    throw Error(ErrorKind::bad_file, error.message()).hint(error.marked_hint());
  }
}

std::vector<double> half_mesh(const NetcdfFile& file, const std::string& variable, Index surfaces) {
  std::vector<double> values = finite_numbers(file, variable, {surfaces});
  values.erase(values.begin());
  return values;
}

std::vector<double> finite_numbers(const NetcdfFile& file, const std::string& variable, const Shape& shape) {
  std::vector<double> numbers = file.numbers(variable, shape);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (!std::isfinite(numbers[i])) throw about(file, variable, fmt::format("is {} at element {}", numbers[i], i));
  return numbers;
}

double finite_number(const NetcdfFile& file, const std::string& variable) {
  const double number = file.number(variable);
  if (!std::isfinite(number)) throw about(file, variable, fmt::format("is {}", number));
  return number;
}

int bounded_integer(const NetcdfFile& file, const std::string& variable, int least, int most) {
  const Index number = file.integer(variable);
  if (number < least || number > most)
    throw about(file, variable, fmt::format("is {}, expected {} to {}", number, least, most));
  return static_cast<int>(number);
}

bool read_asymmetric(const NetcdfFile& file) {
  return file.has("lasym__logical__") && file.integer("lasym__logical__") != 0;
}

std::vector<Mode> read_modes(const NetcdfFile& file, const std::string& m, const std::string& n, int periods) {
  const Shape shape = file.shape(m);
  if (shape.rank() != 1 || shape[0] < 1) throw about(file, m, fmt::format("has the shape {}", shape.text()));
  const std::vector<double> poloidal = file.numbers(m), toroidal = file.numbers(n, shape);
  std::vector<Mode> modes;
  for (std::size_t i = 0; i < poloidal.size(); ++i)
    modes.push_back({mode_number(file, m, poloidal[i], 1), -mode_number(file, n, toroidal[i], periods)});
  return modes;
}

HarmonicTable read_table(const NetcdfFile& file, const std::string& cosine, const std::string& sine, Index rows,
                         Index columns, Index skipped) {
  const auto part = [&](const std::string& name) {
    std::vector<double> values;
    if (name.empty()) return values;
    values = finite_numbers(file, name, {rows, columns});
    values.erase(values.begin(), values.begin() + skipped * columns);
    return values;
  };
  return {rows - skipped, columns, part(cosine), part(sine)};
}

void require_equal_signs(const std::string& path, double s, double psi_a, double g_iota_i) {
  if (psi_a * g_iota_i > 0) return;
  throw Error(ErrorKind::bad_file,
              fmt::format("{}: at s = {:.6g} psi_a = {:.6g} T m^2 and G + iota I = {:.6g} T m differ in sign", path, s,
                          psi_a, g_iota_i))
      .hint("psi_a (phi of the edge / 2 pi) must be given with its sign");
}

}  // namespace sonde::neoclassical
