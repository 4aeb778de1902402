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
    arrays.push_back({entry.name.substr(0, entry.name.size() - ending.size()),
                      parse_npy(archive.read(entry), path + ": " + entry.name)});
  }
  return arrays;
}

void write_npz(const std::string& path, std::span<const NamedArray> arrays, ZipMethod method) {
  ZipWriter archive(path);
  for (const NamedArray& each : arrays) {
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
