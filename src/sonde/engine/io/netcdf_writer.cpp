// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/netcdf_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/byte_order.h"
#include "sonde/engine/io/hdf5_writer.h"
#include "sonde/engine/io/netcdf_classic.h"

namespace sonde {
namespace {

using netcdf::Tag;
using netcdf::Type;

/// A dimension for the characters of a text.
std::string text_dimension(const std::string& text) { return fmt::format("dim_{:05}", text.size()); }

std::string big_endian(const void* values, std::size_t bytes, std::size_t word) {
  std::string stored(static_cast<const char*>(values), bytes);
  swap_bytes(std::as_writable_bytes(std::span(stored)), word);
  return stored;
}

/// The bytes of a CDF-2 file: everything before the elements, and every variable's elements.
class ClassicFile {
 public:
  ClassicFile(const std::string& path, const NetcdfContents& contents) : path_(path), contents_(contents) {
    for (const auto& [name, size] : contents.dimensions()) {
      if (size == 0)
        throw Error(ErrorKind::not_supported, fmt::format("{}: dimension {} has no elements, which the classic NetCDF "
                                                          "format takes for an unlimited one",
                                                          path, name));
      dimensions_.emplace_back(name, size);
    }
    for (const auto& variable : contents.variables())
      if (variable.text) {
        const std::pair dimension(text_dimension(*variable.text), static_cast<Index>(variable.text->size()));
        if (std::find(dimensions_.begin(), dimensions_.end(), dimension) == dimensions_.end())
          dimensions_.push_back(dimension);
      }
  }

  void write() {
    std::vector<std::uint64_t> begins(contents_.variables().size());
    std::uint64_t at = header(begins).size();  // as long as with the right offsets
    for (std::size_t i = 0; i < begins.size(); ++i) {
      begins[i] = at;
      at += netcdf::padded(bytes_of(contents_.variables()[i]));
    }
    AtomicFile file(path_);
    file.write(header(begins));
    for (const auto& variable : contents_.variables()) {
      std::string stored =
          variable.text ? *variable.text
                        : big_endian(variable.values.data(), bytes_of(variable), size_bytes(variable.values.dtype()));
      stored.resize(netcdf::padded(stored.size()));
      file.write(stored);
    }
    file.commit();
  }

 private:
  static std::uint64_t bytes_of(const NetcdfContents::Variable& variable) {
    if (variable.text) return variable.text->size();
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

  void put_attributes(std::string& out, const NetcdfContents::Attributes& attributes) const {
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
      } else {
        const auto whole = Hdf5Value{{}, {value}}.integer();
        if (!whole || !std::in_range<std::int32_t>(*whole))
          throw Error(ErrorKind::not_supported, fmt::format("{}: attribute {} does not fit into 32 bits", path_, name));
        put_type(out, Type::i32);
        put_word(out, 1);
        put(out, static_cast<std::int32_t>(*whole));
      }
    }
  }

  Type type_of(const NetcdfContents::Variable& variable) const {
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
          variable.text ? std::vector{text_dimension(*variable.text)} : variable.dimensions;
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
  const NetcdfContents& contents_;
  std::vector<std::pair<std::string, Index>> dimensions_;
};

void write_netcdf4(const std::string& path, const NetcdfContents& contents) {
  Hdf5Writer writer(path);
  std::map<std::string, std::vector<std::string>> scales_of;
  const auto place = [](const std::string& name) { return "/" + name; };
  const auto mark_scale = [&](const std::string& name, const std::string& title) {
    writer.attribute(place(name), "CLASS", "DIMENSION_SCALE");
    writer.attribute(place(name), "NAME", title);
  };
  for (const auto& [name, value] : contents.attributes()) writer.attribute("/", name, value);
  for (const auto& variable : contents.variables()) {
    if (variable.text) {
      writer.text(place(variable.name), *variable.text);
    } else {
      writer.array(place(variable.name), variable.values);
      if (variable.dimensions == std::vector{variable.name}) {
        mark_scale(variable.name, variable.name);
      } else if (!variable.dimensions.empty()) {
        std::vector<std::string>& scales = scales_of[place(variable.name)];
        for (const std::string& dimension : variable.dimensions) scales.push_back(place(dimension));
      }
    }
    for (const auto& [name, value] : variable.attributes) writer.attribute(place(variable.name), name, value);
  }
  for (const auto& [name, size] : contents.dimensions()) {
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

NetcdfContents::Variable& NetcdfContents::insert(Variable variable) {
  for (const Variable& each : variables_)
    if (each.name == variable.name)
      throw Error(ErrorKind::internal, fmt::format("two NetCDF variables named {}", variable.name));
  return variables_.emplace_back(std::move(variable));
}

NetcdfContents::Variable& NetcdfContents::add(std::string name, std::vector<std::string> dimensions, Array values) {
  if (static_cast<int>(dimensions.size()) != values.shape().rank())
    throw Error(ErrorKind::internal, fmt::format("NetCDF variable {}: {} dimensions named for the shape {}", name,
                                                 dimensions.size(), values.shape().text()));
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const Index size = values.shape()[static_cast<int>(i)];
    const auto found = std::find_if(dimensions_.begin(), dimensions_.end(),
                                    [&](const auto& each) { return each.first == dimensions[i]; });
    if (found == dimensions_.end())
      dimensions_.emplace_back(dimensions[i], size);
    else if (found->second != size)
      throw Error(ErrorKind::internal, fmt::format("NetCDF variable {}: dimension {} is {} long and {} elsewhere", name,
                                                   dimensions[i], size, found->second));
  }
  return insert({std::move(name), std::move(dimensions), std::move(values)});
}

NetcdfContents::Variable& NetcdfContents::add(std::string name, double value) {
  return add(std::move(name), {}, Array::from<double>({value}, {}));
}

NetcdfContents::Variable& NetcdfContents::add(std::string name, std::int32_t value) {
  return add(std::move(name), {}, Array::from<std::int32_t>({value}, {}));
}

NetcdfContents::Variable& NetcdfContents::add_text(std::string name, std::string text) {
  if (text.empty()) text = " ";  // a dimension without elements would be unlimited
  return insert({std::move(name), {}, {}, std::move(text)});
}

void write_netcdf(const std::string& path, const NetcdfContents& contents, NetcdfFormat format) {
  if (format == NetcdfFormat::classic)
    ClassicFile(path, contents).write();
  else
    write_netcdf4(path, contents);
}

}  // namespace sonde
