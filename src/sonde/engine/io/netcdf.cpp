// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/netcdf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "sonde/engine/array/visit_real.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/netcdf_classic.h"

namespace sonde {
namespace {

struct Classic {
  File file;
  netcdf::Header header;
};

netcdf::Header read_netcdf_header(const File& file) {
  constexpr std::uint64_t first_bytes = std::uint64_t{1} << 16;  // holds all but the largest headers
  for (std::uint64_t size = std::min(file.size(), first_bytes);; size = std::min(file.size(), 8 * size)) {
    std::vector<std::byte> bytes(size);
    file.read_at(0, bytes);
    if (auto header = netcdf::parse_header(bytes, file.size(), file.path())) return *std::move(header);
    if (size == file.size())
      throw Error(ErrorKind::bad_file,
                  fmt::format("{}: the NetCDF header does not end within the {} bytes of the file", file.path(), size))
          .hint("copy the file again");
  }
}

/// Complex elements are no numbers of NetCDF; numbers() has refused them.
std::vector<double> as_double(const Array& array) { return real_values(array).value_or(std::vector<double>{}); }

}  // namespace

struct NetcdfFile::Contents {
  std::string path;
  std::variant<Classic, Hdf5File> source;

  [[nodiscard]] const Classic* classic() const { return std::get_if<Classic>(&source); }
  [[nodiscard]] const Hdf5File& hdf5() const { return std::get<Hdf5File>(source); }

  [[nodiscard]] Error error(const std::string& variable, const std::string& what) const {
    return Error(ErrorKind::bad_file, fmt::format("{}: variable {} {}", path, variable, what));
  }
};

NetcdfFile NetcdfFile::open(const std::string& path) {
  File file(path);
  std::vector<std::byte> first(std::min<std::uint64_t>(file.size(), 4));
  file.read_at(0, first);
  if (netcdf::is_classic(first)) {
    netcdf::Header header = read_netcdf_header(file);
    return NetcdfFile(std::make_shared<const Contents>(Contents{path, Classic{std::move(file), std::move(header)}}));
  }
  if (first.size() < 4 || first[1] != std::byte{'H'} || first[2] != std::byte{'D'} || first[3] != std::byte{'F'})
    throw Error(ErrorKind::bad_file, fmt::format("{}: not a NetCDF file", path));
  return NetcdfFile(std::make_shared<const Contents>(Contents{path, Hdf5File::open(path)}));
}

const std::string& NetcdfFile::path() const { return contents_->path; }

std::vector<std::string> NetcdfFile::variables() const {
  std::vector<std::string> names;
  if (const Classic* classic = contents_->classic()) {
    for (const auto& [name, variable] : classic->header.variables) names.push_back(name);
  } else {
    for (const Hdf5Link& link : contents_->hdf5().list("/"))
      if (contents_->hdf5().is_dataset("/" + link.name)) names.push_back(link.name);
    std::sort(names.begin(), names.end());
  }
  return names;
}

bool NetcdfFile::has(const std::string& variable) const {
  if (const Classic* classic = contents_->classic()) return classic->header.variables.contains(variable);
  return contents_->hdf5().is_dataset("/" + variable);
}

std::optional<Index> NetcdfFile::dimension(const std::string& name) const {
  if (const Classic* classic = contents_->classic()) {
    const auto found = classic->header.dimensions.find(name);
    return found == classic->header.dimensions.end() ? std::nullopt : std::optional(found->second);
  }
  const Hdf5File& file = contents_->hdf5();
  const auto mark = file.is_dataset("/" + name) ? file.attribute("/" + name, "CLASS") : std::nullopt;
  if (!mark || mark->text() != "DIMENSION_SCALE") return std::nullopt;
  const Shape shape = file.dataset("/" + name).info().shape;
  return shape.rank() == 1 && shape[0] > 0 ? std::optional(shape[0]) : std::nullopt;
}

std::optional<Hdf5Value> NetcdfFile::attribute(const std::string& variable, const std::string& name) const {
  if (const Classic* classic = contents_->classic()) {
    const std::map<std::string, Hdf5Value>* attributes = &classic->header.attributes;
    if (!variable.empty()) {
      const auto found = classic->header.variables.find(variable);
      if (found == classic->header.variables.end()) return std::nullopt;
      attributes = &found->second.attributes;
    }
    const auto found = attributes->find(name);
    return found == attributes->end() ? std::nullopt : std::optional(found->second);
  }
  if (!variable.empty() && !has(variable)) return std::nullopt;
  return contents_->hdf5().attribute("/" + variable, name);
}

namespace {

Error no_such_variable(const NetcdfFile& file, const std::string& variable) {
  return Error(ErrorKind::bad_file, fmt::format("{}: there is no variable {}{}", file.path(), variable,
                                                did_you_mean(variable, file.variables())));
}

}  // namespace

Shape NetcdfFile::shape(const std::string& variable) const {
  if (!has(variable)) throw no_such_variable(*this, variable);
  if (const Classic* classic = contents_->classic()) return classic->header.variables.at(variable).shape;
  return contents_->hdf5().dataset("/" + variable).info().shape;
}

std::optional<DType> NetcdfFile::element_type(const std::string& variable) const {
  if (!has(variable)) throw no_such_variable(*this, variable);
  if (const Classic* classic = contents_->classic()) return classic->header.variables.at(variable).dtype;
  return contents_->hdf5().dataset("/" + variable).info().dtype;
}

std::vector<std::string> NetcdfFile::dimensions(const std::string& variable) const {
  if (!has(variable)) throw no_such_variable(*this, variable);
  if (const Classic* classic = contents_->classic()) return classic->header.variables.at(variable).dimensions;
  std::vector<std::string> names = contents_->hdf5().dimension_scales("/" + variable);
  for (std::string& name : names) name = name.substr(name.rfind('/') + 1);
  return names;
}

Array NetcdfFile::read(const std::string& variable) const {
  if (!has(variable)) throw no_such_variable(*this, variable);
  if (const Classic* classic = contents_->classic())
    return netcdf::read_elements(classic->file, classic->header, variable, classic->header.variables.at(variable));
  const Hdf5Dataset dataset = contents_->hdf5().dataset("/" + variable);
  if (!dataset.info().dtype)
    throw contents_->error(variable, fmt::format("holds {}, expected numbers", dataset.info().type_text));
  return dataset.read();
}

std::vector<double> NetcdfFile::numbers(const std::string& variable, const std::optional<Shape>& expected) const {
  const Shape found = shape(variable);
  if (expected && found != *expected)
    throw contents_->error(variable, fmt::format("has the shape {}, expected {}", found.text(), expected->text()));
  if (const Classic* classic = contents_->classic())
    if (!classic->header.variables.at(variable).dtype) throw contents_->error(variable, "holds text, expected numbers");
  const Array array = read(variable);
  if (array.dtype() == DType::c64 || array.dtype() == DType::c128)
    throw contents_->error(variable, "holds complex numbers");
  return as_double(array);
}

double NetcdfFile::number(const std::string& variable) const {
  const std::vector<double> all = numbers(variable);
  if (all.size() != 1) throw contents_->error(variable, fmt::format("has {} elements, expected one", all.size()));
  return all[0];
}

Index NetcdfFile::integer(const std::string& variable) const {
  const double value = number(variable);
  if (!(std::abs(value) < 9007199254740992.0) || value != std::floor(value))  // 2^53: exact as double
    throw contents_->error(variable, fmt::format("is {}, expected a whole number", value));
  return static_cast<Index>(value);
}

std::string NetcdfFile::text(const std::string& variable) const {
  std::string text;
  if (const Classic* classic = contents_->classic()) {
    if (!has(variable)) throw no_such_variable(*this, variable);
    if (classic->header.variables.at(variable).dtype) throw contents_->error(variable, "holds numbers, expected text");
    const Array array = read(variable);
    text.assign(static_cast<const char*>(array.data()), static_cast<std::size_t>(array.count()));
  } else {
    (void)shape(variable);
    constexpr Index most = 65536;
    const auto value = contents_->hdf5().value("/" + variable, most);
    if (!value) throw contents_->error(variable, "holds no text");
    for (const Hdf5Value::Scalar& part : value->elements)  // characters one by one, or one text
      if (const auto* characters = std::get_if<std::string>(&part))
        text += *characters;
      else
        throw contents_->error(variable, "holds numbers, expected text");
  }
  text.resize(text.find_last_not_of(std::string_view(" \0", 2)) + 1);
  return text;
}

}  // namespace sonde
