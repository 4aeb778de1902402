// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/results/result_file.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/io/npz.h"

namespace sonde::neoclassical {
namespace {

enum class Format { hdf5, npz };

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

ResultFile::ResultFile(const std::string& path) : path_(path) {
  switch (recognised(path)) {
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
