// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/neoclassical/transport/radial_ranks.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/ranks/hand_out.h"

namespace sonde::neoclassical {
namespace {

/// Every member of a result in one order, for those that write and those that read.
template <class Archive, class Result>
void visit(Archive&& archive, Result& r) {
  archive(r.rho);
  archive(r.E_r);
  archive(r.roots.roots);
  archive(r.roots.chosen);
  archive(r.search.table_points);
  archive(r.search.fields);
  archive(r.search.current_error);
  archive(r.search.by_table);
  archive(r.without_root);
  archive(r.forces);
  archive(r.L);
  archive(r.fluxes);
  archive(r.corrected);
  archive(r.beyond);
  archive(r.left_out);
  archive(r.without_u2);
  archive(r.current);
  archive(r.corrected_current);
  archive(r.total_current);
  archive(r.corrected_total_current);
  archive(r.sonine_change);
}

struct Writer {
  std::vector<std::byte>& bytes;
  template <class T>
  void operator()(const T& value) const {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* from = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), from, from + sizeof value);
  }
  template <class T>
  void operator()(const std::vector<T>& values) const {
    (*this)(values.size());
    for (const T& value : values) (*this)(value);
  }
};

struct Reader {
  std::span<const std::byte>& bytes;
  template <class T>
  void operator()(T& value) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes = bytes.subspan(sizeof value);
  }
  template <class T>
  void operator()(std::vector<T>& values) const {
    std::size_t count = 0;
    (*this)(count);
    values.resize(count);
    for (T& value : values) (*this)(value);
  }
};

}  // namespace

std::vector<RadialResult> radial_transport(const Ranks& ranks, const RadialSource& source,
                                           std::span<const RadialInput> radii, const TransportOptions& options) {
  if (ranks.size() == 1) return radial_transport(source, radii, options);
  std::vector<RadialResult> made(ranks.rank() == 0 ? radii.size() : 0);
  std::size_t given = 0;
  const Desk desk{
      .next =
          [&](int) {
            const auto count = std::min<std::size_t>(radii.size() - given, static_cast<std::size_t>(thread_count()));
            const Piece piece =
                count == 0 ? Piece() : Piece{static_cast<std::int64_t>(given), static_cast<std::int64_t>(count)};
            given += count;
            return piece;
          },
      .receive =
          [&](int, std::span<const std::byte> found) {
            std::size_t which = 0;
            const Reader read{found};
            read(which);
            visit(read, made[which]);
          }};
  const bool done = hand_out(ranks, desk, [&](const Piece& piece, const Deliver& deliver) {
    const auto first = static_cast<std::size_t>(piece[0]), count = static_cast<std::size_t>(piece[1]);
    const std::vector<RadialResult> here = radial_transport(source, radii.subspan(first, count), options);
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::byte> bytes;
      const Writer write{bytes};
      write(first + i);
      visit(write, here[i]);
      deliver(bytes);
    }
  });
  if (!done) made.clear();
  return made;
}

}  // namespace sonde::neoclassical
