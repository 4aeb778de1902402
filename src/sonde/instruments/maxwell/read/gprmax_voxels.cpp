// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/read/gprmax_voxels.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/maxwell/read/number_array.h"

namespace sonde::maxwell {
namespace {

using Place = std::array<Index, 3>;

/// Which flag of a cell is that of the node so many cells further (gprMax 3.1, the layout of rigidE and rigidH).
struct Flag {
  Index number;
  Place further;
};
struct FlagsOfComponent {
  const char* dataset;
  std::vector<Flag> flags;
};
const std::array<FlagsOfComponent, 6>& rigid_flags() {
  static const std::array<FlagsOfComponent, 6> all{{
      {"/rigidE", {{0, {0, 0, 0}}, {1, {0, 1, 0}}, {3, {0, 0, 1}}, {2, {0, 1, 1}}}},
      {"/rigidE", {{4, {0, 0, 0}}, {7, {1, 0, 0}}, {5, {0, 0, 1}}, {6, {1, 0, 1}}}},
      {"/rigidE", {{8, {0, 0, 0}}, {9, {1, 0, 0}}, {11, {0, 1, 0}}, {10, {1, 1, 0}}}},
      {"/rigidH", {{0, {0, 0, 0}}, {1, {1, 0, 0}}}},
      {"/rigidH", {{2, {0, 0, 0}}, {3, {0, 1, 0}}}},
      {"/rigidH", {{4, {0, 0, 0}}, {5, {0, 0, 1}}}},
  }};
  return all;
}

template <class Body>
void for_each_place(const Place& count, const Body& body) {
  Place at{};
  for (at[0] = 0; at[0] < count[0]; ++at[0])
    for (at[1] = 0; at[1] < count[1]; ++at[1])
      for (at[2] = 0; at[2] < count[2]; ++at[2]) body(at);
}

std::size_t index_in(const Place& count, const Place& at) {
  return static_cast<std::size_t>((at[0] * count[1] + at[1]) * count[2] + at[2]);
}

class VoxelReader {
 public:
  explicit VoxelReader(const std::string& path) : file_(Hdf5File::open(path)) {}

  GprmaxVoxels read() {
    read_spacing();
    const Hdf5Dataset data = open_numbers(file_, "/data");
    const Shape& shape = data.info().shape;
    if (shape.rank() != 3 || shape.count() == 0)
      throw bad(fmt::format("/data has shape {}; expected cells along x, y and z", shape.text()));
    made_.count = {shape[0], shape[1], shape[2]};
    made_.cells = materials(data.read(), "/data");
    const auto has = [&](const char* name) { return file_.is_dataset(name); };
    if (has("/rigidE") && has("/rigidH") && has("/ID")) read_nodes();
    return std::move(made_);
  }

 private:
  [[nodiscard]] Error bad(const std::string& what) const {
    return {ErrorKind::bad_file, fmt::format("{}: {}", file_.path(), what)};
  }

  void read_spacing() {
    for (const char* name : {"dx_dy_dz", "dx, dy, dz"}) {  // of gprMax 3.1 and 3.0
      const std::optional<Hdf5Value> value = file_.attribute("/", name);
      if (!value || value->elements.size() != 3) continue;
      for (std::size_t u = 0; u < 3; ++u) made_.spacing[u] = Hdf5Value{{}, {value->elements[u]}}.number().value_or(0);
      return;
    }
    throw bad("no attribute dx_dy_dz; expected a geometry file of gprMax");
  }

  /// -1 to the largest of int16, as gprMax keeps them.
  [[nodiscard]] std::vector<std::int16_t> materials(const Array& array, const char* dataset) const {
    const NumberArray numbers = numbers_of(array, dataset);
    std::vector<std::int16_t> made;
    made.reserve(numbers.values.size());
    for (const double value : numbers.values) {
      const bool fits = numbers.integers && value >= -1 && value <= std::numeric_limits<std::int16_t>::max();
      if (!fits) throw bad(fmt::format("{} holds {}; expected numbers of materials from 0, or -1", dataset, value));
      made.push_back(static_cast<std::int16_t>(value));
    }
    return made;
  }

  /// A data set [number][x][y][z] on so many places.
  [[nodiscard]] Hdf5Dataset four_axes(const char* name, Index number, Index more) const {
    Hdf5Dataset opened = open_numbers(file_, name);
    const Shape wanted{number, made_.count[0] + more, made_.count[1] + more, made_.count[2] + more};
    if (!(opened.info().shape == wanted))
      throw bad(fmt::format("{} has shape {}; expected {} beside /data of {}x{}x{} cells", name,
                            opened.info().shape.text(), wanted.text(), made_.count[0], made_.count[1], made_.count[2]));
    return opened;
  }
  [[nodiscard]] static Array slab(const Hdf5Dataset& of, Index number) {
    const Shape& shape = of.info().shape;
    return of.read({number, 0, 0, 0}, {1, shape[1], shape[2], shape[3]});
  }

  void read_nodes() {
    const Hdf5Dataset ids = four_axes("/ID", 6, 1);
    const Place& cells = made_.count;
    const Place nodes{cells[0] + 1, cells[1] + 1, cells[2] + 1};
    for (std::size_t c = 0; c < 6; ++c) {
      const FlagsOfComponent& of = rigid_flags()[c];
      const Hdf5Dataset rigid = four_axes(of.dataset, c < 3 ? 12 : 6, 0);
      const std::vector<std::int16_t> numbers = materials(slab(ids, static_cast<Index>(c)), "/ID");
      std::vector<std::int16_t> set(numbers.size(), -1);
      for (const Flag& flag : of.flags) {
        const NumberArray flags = numbers_of(slab(rigid, flag.number), of.dataset);
        for_each_place(cells, [&](const Place& cell) {
          if (flags.values[index_in(cells, cell)] == 0) return;
          const std::size_t node =
              index_in(nodes, {cell[0] + flag.further[0], cell[1] + flag.further[1], cell[2] + flag.further[2]});
          set[node] = numbers[node];
        });
      }
      made_.nodes.insert(made_.nodes.end(), set.begin(), set.end());
    }
  }

  Hdf5File file_;
  GprmaxVoxels made_;
};

}  // namespace

std::int16_t GprmaxVoxels::largest() const {
  std::int16_t most = -1;
  for (const std::vector<std::int16_t>* numbers : {&cells, &nodes})
    for (const std::int16_t number : *numbers) most = std::max(most, number);
  return most;
}

GprmaxVoxels read_gprmax_voxels(const std::string& path) { return VoxelReader(path).read(); }

}  // namespace sonde::maxwell
