// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/read/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <type_traits>
#include <utility>

#include "sonde/engine/array/visit_real.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/io/npy.h"

namespace sonde::ptycho {
bool is_npy(const std::string& path) { return to_lower(path).ends_with(".npy"); }

ArrayName array_name(const std::string& text, const std::string& home) {
  if (is_npy(text)) return {text, ""};
  for (const char* ending : {".h5:", ".hdf5:", ".cxi:", ".ptyd:", ".ptyr:", ".nxs:", ".emd:"})
    if (const std::size_t at = to_lower(text).rfind(ending); at != std::string::npos) {
      const std::size_t colon = at + std::string(ending).size() - 1;
      return {text.substr(0, colon), text.substr(colon + 1)};
    }
  return {home, text};
}

Hdf5Dataset require_dataset(const Hdf5File& file, const std::string& path) {
  const std::string absolute = path.starts_with('/') ? path : "/" + path;
  if (file.is_dataset(absolute)) return file.dataset(absolute);
  const std::vector<std::string> known = file.datasets();
  Error error(ErrorKind::bad_file,
              fmt::format("{}: no data set \"{}\"{}", file.path(), path, did_you_mean(absolute, known)));
  if (!known.empty() && known.size() <= 12) error.hint("it has " + join_words(known));
  throw error;
}

Array read_named(const ArrayName& name) {
  if (name.dataset.empty()) return read_npy(name.file);
  return require_dataset(Hdf5File::open(name.file), name.dataset).read();
}

std::vector<double> as_doubles(const Array& array, const std::string& what) {
  std::optional<std::vector<double>> values = real_values(array);
  if (!values)
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: elements of type {}, expected real numbers", what, name(array.dtype())));
  return std::move(*values);
}

Array as_complex(const Array& array, const std::string& what) {
  Array made(Device::cpu(), array.shape(), DType::c128);
  auto* to = static_cast<complex128*>(made.data());
  const auto count = static_cast<std::size_t>(array.count());
  if (array.dtype() == DType::c64) {
    const auto* from = static_cast<const complex64*>(array.data());
    std::copy(from, from + count, to);
  } else if (array.dtype() == DType::c128) {
    const auto* from = static_cast<const complex128*>(array.data());
    std::copy(from, from + count, to);
  } else {
    const std::vector<double> real = as_doubles(array, what);
    std::copy(real.begin(), real.end(), to);
  }
  return made;
}

std::vector<Point> as_points(const Array& array, const std::string& what) {
  const Shape& shape = array.shape();
  if (shape.rank() != 2 || shape[1] != 2) {
    Error error(ErrorKind::bad_input, fmt::format("{}: shape {}, expected (frames, 2)", what, shape.text()));
    if (shape.rank() == 2 && shape[0] == 2) error.hint("rows and columns seem to be exchanged: store the transpose");
    throw error;
  }
  const std::vector<double> values = as_doubles(array, what);
  std::vector<Point> points;
  for (std::size_t i = 0; i < values.size(); i += 2) points.push_back({values[i], values[i + 1]});
  return points;
}

std::vector<std::uint8_t> as_mask(const Array& array, bool nonzero_is_good, const Shape& detector,
                                  const std::string& what) {
  if (array.shape().rank() != 2)
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: shape {}, expected (rows, columns)", what, array.shape().text()));
  if (!(array.shape() == detector))
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: a mask of {} for a detector of {}", what, array.shape().text(), detector.text()));
  const std::vector<double> values = as_doubles(array, what);
  std::vector<std::uint8_t> good;
  for (const double value : values) good.push_back((value != 0) == nonzero_is_good ? 1 : 0);
  return good;
}

std::optional<double> number_in(const Hdf5File& file, const std::string& path) {
  const std::optional<Hdf5Value> value = file.value(path, 1);
  return value ? value->number() : std::nullopt;
}

namespace {

std::string name_of_list(const ArrayName& name) {
  return name.dataset.empty() ? std::filesystem::path(name.file).stem().string() : name.dataset;
}

}  // namespace

std::optional<LengthUnit> unit_in_name(const ArrayName& name) {
  const std::string own = name_of_list(name), lower = to_lower(own);
  for (const char* ending : {"_px", "_pixel", "_pixels"})
    if (lower.ends_with(ending)) return LengthUnit::pixel;
  if (own.ends_with("_A") || lower.ends_with("_angstrom")) return LengthUnit::angstrom;
  return std::nullopt;
}

std::optional<std::string> foreign_unit_in_name(const ArrayName& name) {
  const std::string own = name_of_list(name);
  for (const char* unit : {"nm", "pm", "um", "mm", "m"})
    if (own.ends_with(std::string("_") + unit)) return unit;
  return std::nullopt;
}

}  // namespace sonde::ptycho
