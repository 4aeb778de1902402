// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/netcdf_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/byte_order.h"
#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/engine/io/netcdf_classic.h"

namespace sonde {
namespace {

using netcdf::Tag;
using netcdf::Type;

/// A text as NetCDF can hold it: a dimension without elements would be unlimited.
std::string stored_text(const Contents::Variable& variable) { return variable.text->empty() ? " " : *variable.text; }

/// A dimension for the characters of a text.
std::string text_dimension(const std::string& text) { return fmt::format("dim_{:05}", text.size()); }

using Dimensions = std::vector<std::pair<std::string, Index>>;

/// In the order in which they are first named.
Dimensions dimensions_of(const std::string& path, const Contents& contents) {
  Dimensions dimensions;
  for (const Contents::Variable& variable : contents.variables())
    for (std::size_t i = 0; i < variable.dimensions.size(); ++i) {
      const Index size = variable.values.shape()[static_cast<int>(i)];
      const auto found = std::find_if(dimensions.begin(), dimensions.end(),
                                      [&](const auto& each) { return each.first == variable.dimensions[i]; });
      if (found == dimensions.end())
        dimensions.emplace_back(variable.dimensions[i], size);
      else if (found->second != size)
        throw Error(ErrorKind::not_supported,
                    fmt::format("{}: dimension {} is {} long for {} and {} for others, which NetCDF does not have",
                                path, variable.dimensions[i], size, variable.name, found->second))
            .hint("HDF5 (.h5) and NPZ (.npz) have it");
    }
  return dimensions;
}

std::string big_endian(const void* values, std::size_t bytes, std::size_t word) {
  std::string stored(static_cast<const char*>(values), bytes);
  swap_bytes(std::as_writable_bytes(std::span(stored)), word);
  return stored;
}

/// The bytes of a CDF-2 file: everything before the elements, and every variable's elements.
class ClassicFile {
 public:
  ClassicFile(const std::string& path, const Contents& contents)
      : path_(path), contents_(contents), dimensions_(dimensions_of(path, contents)) {
    for (const auto& [name, size] : dimensions_)
      if (size == 0)
        throw Error(ErrorKind::not_supported, fmt::format("{}: dimension {} has no elements, which the classic NetCDF "
                                                          "format takes for an unlimited one",
                                                          path, name));
    for (const auto& variable : contents.variables())
      if (variable.text) {
        const std::string text = stored_text(variable);
        const std::pair dimension(text_dimension(text), static_cast<Index>(text.size()));
        if (std::find(dimensions_.begin(), dimensions_.end(), dimension) == dimensions_.end())
          dimensions_.push_back(dimension);
      }
  }

  void write(const OutputRole& role) {
    std::vector<std::uint64_t> begins(contents_.variables().size());
    std::uint64_t at = header(begins).size();  // as long as with the right offsets
    for (std::size_t i = 0; i < begins.size(); ++i) {
      begins[i] = at;
      at += netcdf::padded(bytes_of(contents_.variables()[i]));
    }
    AtomicFile file(path_, role);
    file.write(header(begins));
    for (const auto& variable : contents_.variables()) {
      std::string stored =
          variable.text ? stored_text(variable)
                        : big_endian(variable.values.data(), bytes_of(variable), size_bytes(variable.values.dtype()));
      stored.resize(netcdf::padded(stored.size()));
      file.write(stored);
    }
    file.commit();
  }

 private:
  static std::uint64_t bytes_of(const Contents::Variable& variable) {
    if (variable.text) return stored_text(variable).size();
    return static_cast<std::uint64_t>(variable.values.count()) * size_bytes(variable.values.dtype());
  }

  template <class T>
  static void put(std::string& out, T value) {
    out += big_endian(&value, sizeof value, sizeof value);
  }
  static void put_word(std::string& out, std::uint64_t value) { put(out, static_cast<std::uint32_t>(value)); }
  static void put_padded(std::string& out, const std::string& bytes) {
    out += bytes;
    out.append(netcdf::padded(bytes.size()) - bytes.size(), '\0');
  }
  static void put_name(std::string& out, const std::string& name) {
    put_word(out, name.size());
    put_padded(out, name);
  }
  static void put_list(std::string& out, Tag tag, std::size_t items) {
    put_word(out, static_cast<std::uint32_t>(items == 0 ? Tag::absent : tag));
    put_word(out, items);
  }
  static void put_type(std::string& out, Type type) { put_word(out, static_cast<std::uint32_t>(type)); }

  void put_attributes(std::string& out, const Contents::Attributes& attributes) const {
    put_list(out, Tag::attribute, attributes.size());
    for (const auto& [name, value] : attributes) {
      put_name(out, name);
      if (const auto* text = std::get_if<std::string>(&value)) {
        put_type(out, Type::character);
        put_name(out, *text);
      } else if (const auto* number = std::get_if<double>(&value)) {
        put_type(out, Type::f64);
        put_word(out, 1);
        put(out, *number);
      } else if (const auto* numbers = std::get_if<std::vector<double>>(&value)) {
        put_type(out, Type::f64);
        put_word(out, numbers->size());
        for (const double each : *numbers) put(out, each);
      } else {
        const std::int64_t whole = std::get<std::int64_t>(value);
        if (!std::in_range<std::int32_t>(whole))
          throw Error(ErrorKind::not_supported, fmt::format("{}: attribute {} does not fit into 32 bits", path_, name));
        put_type(out, Type::i32);
        put_word(out, 1);
        put(out, static_cast<std::int32_t>(whole));
      }
    }
  }

  Type type_of(const Contents::Variable& variable) const {
    if (variable.text) return Type::character;
    const Type type = netcdf::type_of(variable.values.dtype());
    if (type > Type::f64)
      throw Error(ErrorKind::not_supported, fmt::format("{}: variable {} of type {}, which the classic NetCDF format "
                                                        "does not have",
                                                        path_, variable.name, name(variable.values.dtype())));
    return type;
  }

  std::string header(const std::vector<std::uint64_t>& begins) const {
    std::string out = "CDF\2";
    put_word(out, 0);  // records
    put_list(out, Tag::dimension, dimensions_.size());
    for (const auto& [name, size] : dimensions_) {
      put_name(out, name);
      put_word(out, static_cast<std::uint64_t>(size));
    }
    put_attributes(out, contents_.attributes());
    put_list(out, Tag::variable, contents_.variables().size());
    for (std::size_t i = 0; i < begins.size(); ++i) {
      const auto& variable = contents_.variables()[i];
      const std::vector<std::string> names =
          variable.text ? std::vector{text_dimension(stored_text(variable))} : variable.dimensions;
      put_name(out, variable.name);
      put_word(out, names.size());
      for (const std::string& dimension : names)
        put_word(out,
                 static_cast<std::uint64_t>(std::find_if(dimensions_.begin(), dimensions_.end(),
                                                         [&](const auto& each) { return each.first == dimension; }) -
                                            dimensions_.begin()));
      put_attributes(out, variable.attributes);
      put_type(out, type_of(variable));
      put_word(out, std::min<std::uint64_t>(netcdf::padded(bytes_of(variable)), UINT32_MAX));  // more cannot be said
      put(out, begins[i]);
    }
    return out;
  }

  const std::string& path_;
  const Contents& contents_;
  Dimensions dimensions_;
};

void write_netcdf4(const std::string& path, const Contents& contents, const OutputRole& role) {
  const Dimensions dimensions = dimensions_of(path, contents);
  Hdf5Writer writer(path, role);
  std::map<std::string, std::vector<std::string>> scales_of;
  const auto place = [](const std::string& name) { return "/" + name; };
  const auto mark_scale = [&](const std::string& name, const std::string& title) {
    writer.attribute(place(name), "CLASS", "DIMENSION_SCALE");
    writer.attribute(place(name), "NAME", title);
  };
  for (const auto& [name, value] : contents.attributes())
    std::visit([&name = name, &writer](const auto& each) { writer.attribute("/", name, each); }, value);
  for (const auto& variable : contents.variables()) {
    if (variable.text) {
      writer.text(place(variable.name), stored_text(variable));
    } else {
      writer.array(place(variable.name), variable.values);
      if (variable.dimensions == std::vector{variable.name}) {
        mark_scale(variable.name, variable.name);
      } else if (!variable.dimensions.empty()) {
        std::vector<std::string>& scales = scales_of[place(variable.name)];
        for (const std::string& dimension : variable.dimensions) scales.push_back(place(dimension));
      }
    }
    for (const auto& [name, value] : variable.attributes)
      std::visit([&, &key = name](const auto& each) { writer.attribute(place(variable.name), key, each); }, value);
  }
  for (const auto& [name, size] : dimensions) {
    const bool has_values = std::any_of(contents.variables().begin(), contents.variables().end(),
                                        [&wanted = name](const auto& variable) { return variable.name == wanted; });
    if (has_values) continue;
    writer.array(place(name), Array::zeros(Device::cpu(), {size}, DType::f32));
    mark_scale(name, fmt::format("This is a netCDF dimension but not a netCDF variable.{:10}", size));
  }
  writer.dimension_scales(scales_of);
  writer.finish();
}

}  // namespace

void write_netcdf(const std::string& path, const Contents& contents, NetcdfFormat format, const OutputRole& role) {
  if (format == NetcdfFormat::classic)
    ClassicFile(path, contents).write(role);
  else
    write_netcdf4(path, contents, role);
}

}  // namespace sonde
