// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/stored_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sonde/engine/base/paths.h"
#include "sonde/engine/io/declared_size.h"
#include "sonde/instruments/stem/read/file_cursor.h"

namespace sonde::stem {

Error StoredGroup::wrong(const std::string& fact) const { return damaged(path(), fact); }

std::optional<double> StoredGroup::number(const std::string& name) const {
  const auto value = attribute(name);
  if (!value) return std::nullopt;
  const auto found = value->number();
  if (!found || !std::isfinite(*found)) throw wrong(fmt::format("{}: {} is not a finite number", group_, name));
  return found;
}

std::optional<std::vector<double>> StoredGroup::numbers(const std::string& name, std::size_t count) const {
  const auto value = attribute(name);
  if (!value || value->elements.size() != count) return std::nullopt;
  std::vector<double> found;
  for (const Hdf5Value::Scalar& element : value->elements) {
    const auto part = Hdf5Value{{}, {element}}.number();
    if (!part || !std::isfinite(*part)) return std::nullopt;
    found.push_back(*part);
  }
  return found;
}

std::pair<Index, Index> StoredGroup::extents(const std::string& name, Index most) const {
  const auto found = numbers(name, 2);
  const auto whole = [&](double extent) {
    return extent >= 1 && extent <= static_cast<double>(most) && extent == std::floor(extent);
  };
  if (!found || !std::all_of(found->begin(), found->end(), whole))
    throw wrong(fmt::format("{}: {} is not two whole numbers from 1 to {}", group_, name, most));
  return {static_cast<Index>((*found)[0]), static_cast<Index>((*found)[1])};
}

std::vector<std::uint64_t> StoredGroup::offsets(Index lists) const {
  auto found = elements<std::uint64_t>("offsets", lists + 1);
  if (found.front() != 0) throw wrong(fmt::format("{} begins with {}; expected 0", object("offsets"), found.front()));
  const auto back = std::is_sorted_until(found.begin(), found.end());
  if (back != found.end())
    throw wrong(fmt::format("{} decreases from {} to {} at position {}", object("offsets"), *(back - 1), *back,
                            back - found.begin() - 1));
  if (found.back() > std::uint64_t{1} << 40)
    throw wrong(fmt::format("{} ends with {}", object("offsets"), found.back()));
  return found;
}

Hdf5Dataset StoredGroup::dataset(const std::string& name, DType dtype, Index count) const {
  if (!has(name)) throw wrong(object(name) + " is missing");
  Hdf5Dataset found = file_->dataset(object(name));
  const Hdf5DatasetInfo& info = found.info();
  if (info.dtype != dtype || info.shape != Shape{count})
    throw wrong(fmt::format("{} is {} {}; expected {} {}", object(name), info.type_text, info.shape.text(),
                            sonde::name(dtype), Shape{count}.text()));
  require_believable(fmt::format("{}, {}", path(), object(name)), {.items = count,
                                                                   .item_bytes = size_bytes(dtype),
                                                                   .chunks = 0,
                                                                   .file_bytes = file_bytes(path()).value_or(0),
                                                                   .packed = !info.filters.empty()});
  return found;
}

}  // namespace sonde::stem
