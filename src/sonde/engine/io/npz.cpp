// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/npz.h"

#include <array>
#include <cstddef>

#include "sonde/engine/io/npy.h"

namespace sonde {

std::vector<NamedArray> read_npz(const std::string& path) {
  const ZipReader archive(path);
  std::vector<NamedArray> arrays;
  for (const ZipEntry& entry : archive.entries()) {
    constexpr std::string_view ending = ".npy";
    if (!entry.name.ends_with(ending)) continue;
    NamedArray& each = arrays.emplace_back();
    each.name = entry.name.substr(0, entry.name.size() - ending.size());
    const std::string where = path + ": " + entry.name;
    const auto bytes = archive.read(entry);
    each.text = parse_npy_text(bytes, where);
    if (!each.text) each.array = parse_npy(bytes, where);
  }
  return arrays;
}

void write_npz(const std::string& path, std::span<const NamedArray> arrays, ZipMethod method, const OutputRole& role) {
  ZipWriter archive(path, role);
  for (const NamedArray& each : arrays) {
    if (each.text) {
      const std::string file = npy_of_text(*each.text);
      const std::array<std::span<const std::byte>, 1> whole = {std::as_bytes(std::span(file))};
      archive.add(each.name + ".npy", whole, method);
      continue;
    }
    Array copy;
    const Array* array = &each.array;
    if (!array->device().is_cpu() || !array->contiguous()) {
      Stream stream(array->device());
      copy = array->copy_to(Device::cpu(), stream);
      array = &copy;
    }
    const std::string header = npy_header(array->dtype(), array->shape());
    const std::span data(static_cast<const std::byte*>(array->data()),
                         static_cast<std::size_t>(array->count()) * size_bytes(array->dtype()));
    const std::array<std::span<const std::byte>, 2> parts = {std::as_bytes(std::span(header)), data};
    archive.add(each.name + ".npy", parts, method);
  }
  archive.commit();
}

}  // namespace sonde
