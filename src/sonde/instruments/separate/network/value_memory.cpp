// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/separate/network/value_memory.h"

#include <algorithm>
#include <cassert>

namespace sonde::separate {
namespace {

struct Piece {
  Index first, end;
  int needed_until;  ///< index of the last layer that reads it
};

constexpr Index alignment = 16;  // numbers of a cache line

}  // namespace

ValuePlaces place_values(const LayerList& list, bool share) {
  const auto count = list.values.size();
  const int layers = static_cast<int>(list.layers.size());
  std::vector<int> last_use(count, -1);
  last_use.back() = layers;
  for (int i = 0; i < layers; ++i) {
    const Layer& layer = list.layers[static_cast<std::size_t>(i)];
    for (const int value : {layer.inputs[0], layer.inputs[1], layer.add}) {
      if (value >= 0) last_use[static_cast<std::size_t>(value)] = i;
    }
  }

  ValuePlaces places{.first = std::vector<Index>(count)};
  std::vector<Piece> pieces;  // by place
  const auto place = [&](std::size_t value, int now) {
    const Index size = (list.values[value].count() + alignment - 1) / alignment * alignment;
    if (share) std::erase_if(pieces, [&](const Piece& each) { return each.needed_until < now; });
    Index at = 0;
    auto behind = pieces.begin();
    while (behind != pieces.end() && behind->first - at < size) at = std::max(at, (behind++)->end);
    pieces.insert(behind, {.first = at, .end = at + size, .needed_until = last_use[value]});
    places.first[value] = at;
    places.count = std::max(places.count, at + size);
  };

  place(0, 0);
  for (int i = 0; i < layers; ++i) {
    const Layer& layer = list.layers[static_cast<std::size_t>(i)];
    const auto output = static_cast<std::size_t>(layer.output);
    if (layer.add < 0) {
      place(output, i);
      continue;
    }
    const Index shared = places.first[static_cast<std::size_t>(layer.add)];
    assert(last_use[static_cast<std::size_t>(layer.add)] == i);
    places.first[output] = shared;
    std::find_if(pieces.begin(), pieces.end(), [&](const Piece& each) { return each.first == shared; })->needed_until =
        last_use[output];
  }
  return places;
}

}  // namespace sonde::separate
