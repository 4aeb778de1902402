// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/results/result_file.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/engine/io/npz.h"
#include "sonde/engine/report/json.h"
#include "sonde/instruments/neoclassical/convert/result_contents.h"

namespace sonde::neoclassical {
namespace {

enum class Format { netcdf, hdf5, npz };

Format format_of(const std::string& path) {
  const std::string suffix = to_lower(std::filesystem::path(path).extension().string());
  if (suffix == ".nc") return Format::netcdf;
  if (suffix == ".h5" || suffix == ".hdf5") return Format::hdf5;
  if (suffix == ".npz") return Format::npz;
  throw Error(ErrorKind::usage, fmt::format("{}: results are written as .nc, .h5 or .npz", path));
}

/// What a file is by its first bytes, whatever it is called.
Format recognised(const std::string& path) {
  const File file(path);
  std::array<char, 4> first{};
  if (file.size() >= first.size()) file.read_at(0, std::as_writable_bytes(std::span(first)));
  const std::string_view start(first.data(), first.size());
  if (start == "\x89HDF") return Format::hdf5;  // NetCDF-4 too
  if (start == "PK\x03\x04") return Format::npz;
  throw Error(ErrorKind::bad_file, fmt::format("{}: no result: neither NetCDF-4, HDF5 nor NPZ", path))
      .hint("give what `sonde neoclassical run`, `scan`, `database`, `convergence` or `profile` wrote");
}

void write_hdf5(const std::string& path, const NetcdfContents& contents) {
  Hdf5Writer writer(path);
  for (const auto& [name, value] : contents.attributes()) writer.attribute("/", name, value);
  for (const NetcdfContents::Variable& variable : contents.variables()) {
    const std::string name = "/" + variable.name;
    if (variable.text)
      writer.value(name, *variable.text);
    else
      writer.array(name, variable.values);
    for (const auto& [key, value] : variable.attributes) writer.attribute(name, key, value);
    if (!variable.dimensions.empty()) writer.describe(name, variable.dimensions);
  }
  writer.finish();
}

/// NPZ has no attributes: they are in a text of this name, {"D11": {"units": "m^-3 T^-2", "dimensions": ["rho"]}, ...};
/// those of the file are under the name "".
constexpr const char* attributes_name = "attributes_json";

void write_npz_of(const std::string& path, const NetcdfContents& contents) {
  std::vector<NamedArray> arrays;
  Value attributes = Value::object();
  for (const auto& [key, value] : contents.attributes())
    if (const auto* text = std::get_if<std::string>(&value)) attributes[""][key] = *text;
  for (const NetcdfContents::Variable& variable : contents.variables()) {
    if (variable.text)
      arrays.push_back({.name = variable.name, .text = variable.text});
    else
      arrays.push_back({.name = variable.name, .array = variable.values.clone()});
    for (const auto& [key, value] : variable.attributes)
      if (const auto* text = std::get_if<std::string>(&value)) attributes[variable.name][key] = *text;
    if (!variable.dimensions.empty()) attributes[variable.name]["dimensions"] = variable.dimensions;
  }
  arrays.push_back({.name = attributes_name, .text = to_json(attributes, -1)});
  write_npz(path, arrays);
}

std::vector<double> doubles(const Array& array, const std::string& path, const std::string& name) {
  const auto copied = [&]<class T>(const T* from) { return std::vector<double>(from, from + array.count()); };
  switch (array.dtype()) {
    case DType::f64:
      return copied(static_cast<const double*>(array.data()));
    case DType::f32:
      return copied(static_cast<const float*>(array.data()));
    case DType::i32:
      return copied(static_cast<const std::int32_t*>(array.data()));
    case DType::i64:
      return copied(static_cast<const std::int64_t*>(array.data()));
    default:
      throw Error(ErrorKind::bad_file,
                  fmt::format("{}: {} is of type {}, which no result has", path, name, sonde::name(array.dtype())));
  }
}

}  // namespace

void require_result_path(const std::string& path) {
  if (path.empty()) throw Error(ErrorKind::usage, "no output").hint("-o result.nc, or path in [output] of a run file");
  (void)format_of(path);
  require_place(path);
}

void write_result(const std::string& path, const NetcdfContents& contents) {
  switch (format_of(path)) {
    case Format::netcdf:
      return write_netcdf(path, contents, NetcdfFormat::netcdf4);
    case Format::hdf5:
      return write_hdf5(path, contents);
    case Format::npz:
      return write_npz_of(path, contents);
  }
}

void write_numbers(const std::string& path, const std::map<std::string, std::vector<double>>& numbers,
                   const std::map<std::string, std::string>& units, const std::map<std::string, std::string>& texts) {
  NetcdfContents contents = result_contents();
  for (const auto& [name, values] : numbers) {
    NetcdfContents::Variable& variable =
        values.size() == 1 ? contents.add(name, values.front())
                           : contents.add(name, {fmt::format("length_{}", values.size())},
                                          Array::from(values, Shape{static_cast<Index>(values.size())}));
    if (const auto unit = units.find(name); unit != units.end())
      variable.attributes.emplace_back("units", unit->second);
  }
  for (const auto& [name, text] : texts) contents.add_text(name, text);
  write_result(path, contents);
}

ResultFile::ResultFile(const std::string& path) : path_(path) {
  switch (recognised(path)) {
    case Format::netcdf:
    case Format::hdf5: {
      const Hdf5File file = Hdf5File::open(path);
      for (const Hdf5Link& link : file.list("/")) {
        const std::optional<Hdf5Value> small = file.value("/" + link.name, 1);
        if (const std::optional<std::string> text = small ? small->text() : std::nullopt)
          texts_[link.name] = *text;
        else if (file.is_dataset("/" + link.name))
          numbers_[link.name] = doubles(file.dataset("/" + link.name).read(), path, link.name);
      }
      return;
    }
    case Format::npz:
      for (const NamedArray& entry : read_npz(path)) {
        if (entry.text)
          texts_[entry.name] = *entry.text;
        else if (entry.array.dtype() == DType::u8)  // texts of before
          texts_[entry.name] =
              std::string(static_cast<const char*>(entry.array.data()), static_cast<std::size_t>(entry.array.count()));
        else
          numbers_[entry.name] = doubles(entry.array, path, entry.name);
      }
      return;
  }
}

const std::vector<double>& ResultFile::numbers(const std::string& name) const {
  const auto found = numbers_.find(name);
  if (found == numbers_.end())
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: no quantity {}, so it is not a result of this kind", path_, name));
  return found->second;
}

double ResultFile::number(const std::string& name) const {
  const std::vector<double>& values = numbers(name);
  if (values.size() != 1)
    throw Error(ErrorKind::bad_file, fmt::format("{}: {} holds {} numbers, expected one", path_, name, values.size()));
  return values.front();
}

const std::string& ResultFile::text(const std::string& name) const {
  const auto found = texts_.find(name);
  if (found == texts_.end()) throw Error(ErrorKind::bad_file, fmt::format("{}: no text {}", path_, name));
  return found->second;
}

}  // namespace sonde::neoclassical
