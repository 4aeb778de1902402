// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "sonde/engine/io/hdf5/fault.h"
#include "sonde/engine/io/hdf5/filters.h"

namespace sonde::hdf5 {

std::size_t undo_lzf(std::span<const std::byte> from, std::span<std::byte> to) {
  std::size_t at = 0, made = 0;
  const auto next = [&] {
    if (at == from.size()) damaged("LZF bytes end early");
    return static_cast<std::size_t>(from[at++]);
  };
  while (at < from.size()) {
    const std::size_t control = next();
    if (control < 32) {  // so many bytes as they are
      const std::size_t count = control + 1;
      if (count > from.size() - at || count > to.size() - made) damaged("LZF bytes are longer than their chunk");
      std::memcpy(to.data() + made, from.data() + at, count);
      at += count;
      made += count;
      continue;
    }
    // Bytes that were made before: three bits of length, the eighth value with more behind, thirteen bits of distance.
    std::size_t count = control >> 5;
    if (count == 7) count += next();
    count += 2;
    const std::size_t distance = ((control & 31u) << 8 | next()) + 1;
    if (distance > made || count > to.size() - made) damaged("LZF bytes refer to what was never made");
    for (std::size_t i = 0; i < count; ++i, ++made) to[made] = to[made - distance];  // may overlap: repeats
  }
  return made;
}

}  // namespace sonde::hdf5
