// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/number_array.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "sonde/engine/array/visit_real.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/declared_size.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/npy.h"
#include "sonde/engine/io/npz.h"

namespace sonde::maxwell {
namespace {

/// A file, and what is meant inside of it.
struct NumberFile {
  std::string file, inside;
};

std::optional<NumberFile> number_file(const std::string& text) {
  const std::string lower = to_lower(text);
  if (lower.ends_with(".npy") || lower.ends_with(".npz")) return NumberFile{text, ""};
  for (const std::string_view ending : {".npz:", ".h5:", ".hdf5:"})
    if (const std::size_t at = lower.rfind(ending); at != std::string::npos) {
      const std::size_t colon = at + ending.size() - 1;
      return NumberFile{text.substr(0, colon), text.substr(colon + 1)};
    }
  return std::nullopt;
}

NumberArray read_archive(const NumberFile& from) {
  std::vector<std::string> names;
  std::vector<NamedArray> arrays = read_npz(from.file);
  std::erase_if(arrays, [](const NamedArray& each) { return each.text.has_value(); });
  for (const NamedArray& each : arrays) names.push_back(each.name);
  const auto found = from.inside.empty() && arrays.size() == 1
                         ? arrays.begin()
                         : std::find_if(arrays.begin(), arrays.end(),
                                        [&](const NamedArray& each) { return each.name == from.inside; });
  if (found != arrays.end()) return numbers_of(found->array, from.file + ", " + found->name);
  throw Error(ErrorKind::bad_file,
              from.inside.empty()
                  ? fmt::format("{}: {} arrays; expected one, or FILE.npz:NAME", from.file, arrays.size())
                  : fmt::format("{}: no array \"{}\"{}", from.file, from.inside, did_you_mean(from.inside, names)));
}

}  // namespace

NumberArray numbers_of(const Array& array, const std::string& what) {
  std::optional<std::vector<double>> values = real_values(array.contiguous() ? alias(array) : array.clone());
  if (!values)
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: elements of type {}; expected real numbers", what, name(array.dtype())));
  return {array.shape(), std::move(*values), !is_float(array.dtype())};
}

Hdf5Dataset open_numbers(const Hdf5File& file, const std::string& dataset) {
  const std::string what = fmt::format("{}, {}", file.path(), dataset);
  if (!file.is_dataset(dataset))
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: no data set {}{}", file.path(), dataset, did_you_mean(dataset, file.datasets())));
  Hdf5Dataset opened = file.dataset(dataset);
  const Hdf5DatasetInfo& info = opened.info();
  if (!info.dtype || *info.dtype == DType::c64 || *info.dtype == DType::c128)
    throw Error(ErrorKind::bad_file, fmt::format("{}: elements of type {}; expected real numbers", what,
                                                 info.dtype ? std::string(name(*info.dtype)) : info.type_text));
  const bool parts = info.layout == Hdf5DatasetInfo::Layout::virtual_parts;
  if (parts) opened.require_sources();
  require_believable(what, {.items = info.shape.count(),
                            .item_bytes = info.element_bytes,
                            .chunks = 0,
                            .file_bytes = File(file.path()).size() + (parts ? opened.source_bytes() : 0),
                            .packed = !info.filters.empty()});
  return opened;
}

NumberArray read_numbers(const Hdf5File& file, const std::string& dataset) {
  return numbers_of(open_numbers(file, dataset).read(), fmt::format("{}, {}", file.path(), dataset));
}

bool names_number_file(const std::string& text) { return number_file(text).has_value(); }

NumberArray read_number_file(const std::string& text) {
  const std::optional<NumberFile> from = number_file(text);
  if (!from)
    throw Error(ErrorKind::bad_input, fmt::format("\"{}\" names no array; expected FILE.npy, FILE.npz or "
                                                  "FILE.h5:DATASET",
                                                  text));
  const std::string ending = to_lower(from->file);
  if (ending.ends_with(".npy")) return numbers_of(read_npy(from->file), from->file);
  if (ending.ends_with(".npz")) return read_archive(*from);
  return read_numbers(Hdf5File::open(from->file), from->inside.starts_with('/') ? from->inside : "/" + from->inside);
}

std::optional<NumberArray> listed_numbers(const std::string& text) {
  std::vector<double> values;
  try {
    values = parse_numbers(text, "");
  } catch (const Error&) {
    return std::nullopt;
  }
  if (values.empty()) return std::nullopt;
  const bool whole = std::all_of(values.begin(), values.end(), [](double v) { return v == std::floor(v); });
  const Shape shape = text.find(',') == std::string::npos ? Shape{} : Shape{static_cast<Index>(values.size())};
  return NumberArray{shape, std::move(values), whole};
}

NumberArray given_numbers(const std::string& text, const std::string& what, const FindArray& find) {
  if (const std::shared_ptr<const Array> array = find ? find(text) : nullptr) return numbers_of(*array, what);
  if (std::optional<NumberArray> listed = listed_numbers(text)) return std::move(*listed);
  if (!names_number_file(text))
    throw Error(ErrorKind::bad_input,
                fmt::format("{} = \"{}\": expected numbers, FILE.npy, FILE.npz or FILE.h5:DATASET", what, text));
  return read_number_file(text);
}

}  // namespace sonde::maxwell
