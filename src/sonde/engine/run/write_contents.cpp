// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/run/write_contents.h"

#include <string>
#include <variant>
#include <vector>

#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/engine/io/netcdf_writer.h"
#include "sonde/engine/io/npz.h"
#include "sonde/engine/io/output_ending.h"
#include "sonde/engine/options/value.h"
#include "sonde/engine/report/json.h"

namespace sonde {
namespace {

void write_hdf5(const std::string& path, const Contents& contents, const OutputRole& role) {
  Hdf5Writer writer(path, role);
  // Texts of variable length: h5py gives them out as str, not as bytes.
  const auto put = [&](const std::string& object, const Contents::Attributes& attributes) {
    for (const auto& [key, value] : attributes)
      if (const auto* text = std::get_if<std::string>(&value))
        writer.text_attribute(object, key, *text);
      else
        std::visit([&, &as = key](const auto& number) { writer.attribute(object, as, number); }, value);
  };
  for (const Contents::Variable& variable : contents.variables()) {
    const std::string name = "/" + variable.name;
    if (variable.text)
      writer.value(name, *variable.text);
    else
      writer.array(name, variable.values);
    put(name, variable.attributes);
    if (!variable.dimensions.empty()) writer.describe(name, variable.dimensions);
  }
  // The groups are there now.
  for (const auto& [name, value] : contents.attributes()) {
    const std::size_t slash = name.rfind('/');
    put(slash == std::string::npos ? "/" : "/" + name.substr(0, slash), {{name.substr(slash + 1), value}});
  }
  writer.finish();
}

/// NPZ has no attributes: they are in a text of this name, {"D11": {"units": "m^-3 T^-2", "dimensions": ["rho"]}, ...};
/// those of the file are under the name "".
constexpr const char* attributes_name = "attributes_json";

Value value_of(const Contents::Attribute& attribute) {
  if (const auto* numbers = std::get_if<std::vector<double>>(&attribute)) {
    Value list = Value::list();
    for (const double number : *numbers) list.push_back(number);
    return list;
  }
  if (const auto* text = std::get_if<std::string>(&attribute)) return Value(*text);
  if (const auto* number = std::get_if<double>(&attribute)) return Value(*number);
  return Value(std::get<std::int64_t>(attribute));
}

void write_npz_of(const std::string& path, const Contents& contents, const OutputRole& role) {
  std::vector<NamedArray> arrays;
  Value attributes = Value::object();
  for (const auto& [key, value] : contents.attributes()) attributes[""][key] = value_of(value);
  for (const Contents::Variable& variable : contents.variables()) {
    if (variable.text)
      arrays.push_back({.name = variable.name, .text = variable.text});
    else
      arrays.push_back({.name = variable.name, .array = alias(variable.values)});
    for (const auto& [key, value] : variable.attributes) attributes[variable.name][key] = value_of(value);
    if (!variable.dimensions.empty()) attributes[variable.name]["dimensions"] = variable.dimensions;
  }
  arrays.push_back({.name = attributes_name, .text = to_json(attributes, -1)});
  write_npz(path, arrays, ZipMethod::stored, role);
}

}  // namespace

void require_contents_path(const std::string& path, const std::vector<std::string>& suffixes) {
  (void)require_ending(path, "results", suffixes);
  require_place(path);
}

void write_contents(const std::string& path, const Contents& contents, const OutputRole& role) {
  const std::string ending = require_ending(path, "results", {".nc", ".h5", ".npz"});
  if (ending == ".nc") return write_netcdf(path, contents, NetcdfFormat::netcdf4, role);
  if (ending == ".h5") return write_hdf5(path, contents, role);
  write_npz_of(path, contents, role);
}

}  // namespace sonde
