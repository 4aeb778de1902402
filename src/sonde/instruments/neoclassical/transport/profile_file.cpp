// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/profile_file.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <map>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/hdf5.h"

namespace sonde::neoclassical {
namespace {

using Columns = std::map<std::string, std::vector<double>>;

Error bad(const std::string& path, const std::string& what) {
  return Error(ErrorKind::bad_file, fmt::format("{}: {}", path, what));
}

Columns parse_table(std::string_view text, const std::string& path) {
  std::vector<std::string> names;
  std::vector<std::vector<double>> values;
  std::size_t number = 0;
  for (const std::string& whole : split(text, '\n')) {
    ++number;
    const std::string line(trim(std::string_view(whole).substr(0, whole.find('#'))));
    if (line.empty()) continue;
    std::vector<std::string> cells;
    for (const std::string& cell : split(line, ',')) cells.emplace_back(trim(cell));
    if (names.empty()) {
      names = cells;
      values.resize(names.size());
      continue;
    }
    if (cells.size() != names.size())
      throw bad(path,
                fmt::format("line {} has {} columns, the first line names {}", number, cells.size(), names.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      double value = 0;
      const char* end = cells[i].data() + cells[i].size();
      if (const auto [at, error] = std::from_chars(cells[i].data(), end, value); error != std::errc() || at != end)
        throw bad(path, fmt::format("line {}, column {}: \"{}\" is not a number", number, names[i], cells[i]));
      values[i].push_back(value);
    }
  }
  Columns columns;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!columns.emplace(names[i], std::move(values[i])).second)
      throw bad(path, fmt::format("two columns are named {}", names[i]));
  return columns;
}

Columns read_hdf5(const std::string& path) {
  const Hdf5File file = Hdf5File::open(path);
  Columns columns;
  for (const Hdf5Link& link : file.list("/")) {
    if (!file.is_dataset("/" + link.name)) continue;
    const Hdf5Dataset dataset = file.dataset("/" + link.name);
    if (dataset.info().dtype != DType::f64 || dataset.info().shape.rank() != 1)
      throw bad(path, fmt::format("{} is {} of shape {}, expected one line of f64", link.name, dataset.info().type_text,
                                  dataset.info().shape.text()));
    const Array array = dataset.read();
    const auto* first = static_cast<const double*>(array.data());
    columns[link.name] = {first, first + array.count()};
  }
  return columns;
}

TabulatedProfiles profiles_of(Columns columns, const std::string& path) {
  const auto take = [&](const std::string& name) {
    const auto found = columns.find(name);
    if (found == columns.end()) throw bad(path, fmt::format("there is no column {}", name));
    std::vector<double> values = std::move(found->second);
    columns.erase(found);
    return values;
  };
  std::vector<double> rho = take("rho"), er;
  if (columns.contains("Er")) er = take("Er");
  std::vector<TabulatedProfiles::Column> made;
  try {
    while (!columns.empty()) {
      const std::string name = columns.begin()->first;
      if (!name.starts_with("n_") && !name.starts_with("T_"))
        throw bad(path, fmt::format("a column {} is not known", name))
            .hint("columns are rho, n_<species> in 1/m^3, T_<species> in eV, and Er in V/m");
      const std::string who = name.substr(2);
      made.push_back({species(who), take("n_" + who), take("T_" + who)});
    }
    return {std::move(rho), made, std::move(er)};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input) throw;
    throw bad(path, error.message()).hint(error.marked_hint());
  }
}

}  // namespace

TabulatedProfiles read_profiles(const std::string& path) {
  const std::string suffix = to_lower(std::filesystem::path(path).extension().string());
  if (suffix == ".h5" || suffix == ".hdf5") return profiles_of(read_hdf5(path), path);
  return parse_profiles(read_text(path), path);
}

TabulatedProfiles parse_profiles(std::string_view text, const std::string& path) {
  return profiles_of(parse_table(text, path), path);
}

}  // namespace sonde::neoclassical
