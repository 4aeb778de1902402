// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/hdf5/dataset.h"

namespace sonde::hdf5 {
namespace {

struct Scratch {
  Bytes stored, chunk;
  FilterScratch filters;
};

/// Reads the chunks that a box touches, one after another or many at a time.
class ChunkReader {
 public:
  ChunkReader(const Dataset& dataset, const Box& box, std::span<std::byte> to)
      : dataset_(dataset),
        index_(dataset.chunks()),
        box_(box),
        to_(to),
        element_bytes_(dataset.description().type.bytes),
        pipeline_(dataset.file().path(), dataset.path(), dataset.description().filters, element_bytes_,
                  static_cast<std::size_t>(index_.chunk().count()) * element_bytes_),
        fill_(dataset.fill()) {
    require_chunk_in_proportion();
    for (int i = 0; i < box.first.rank(); ++i) {
      const Index chunk = index_.chunk()[i];
      touched_.first.append(box.first[i] / chunk);
      touched_.count.append((box.first[i] + box.count[i] - 1) / chunk - touched_.first[i] + 1);
    }
  }

  [[nodiscard]] Index count() const { return touched_.count.count(); }

  void read(Index i, Scratch& scratch) const {
    const Index number = number_of(i);
    const Box place{index_.first_element(number), index_.chunk()};
    Box common;
    if (!intersect(box_, place, common)) return;
    const Box in_box = relative(common, box_.first);
    const ChunkEntry entry = index_[number];
    if (entry.absent())
      return for_each_row(in_box, box_.count, [&](std::uint64_t, std::uint64_t first, std::uint64_t count) {
        fill_with(fill_, to_.subspan(first * element_bytes_, count * element_bytes_));
      });
    during(fmt::format("decoding chunk {}, at byte {}", number, entry.offset), [&] {
      const Image& image = dataset_.file().image();
      reading(dataset_.file().path(), dataset_.path(),
              [&] { image.require(entry.offset - image.base(), entry.stored_bytes); });
      // A chunk that is one piece of the result is decoded into its place.
      if (common.count == place.count && is_run(in_box, box_.count))
        return decode(place, entry, scratch,
                      to_.subspan(first_of(in_box, box_.count) * element_bytes_, pipeline_.chunk_bytes()));
      if (!pipeline_.could_hold(entry.stored_bytes, entry.filter_mask)) refuse(entry);
      scratch.chunk.resize(pipeline_.chunk_bytes());
      decode(place, entry, scratch, scratch.chunk);
      for_each_pair_of_rows(relative(common, place.first), place.count, in_box, box_.count,
                            [&](std::uint64_t from, std::uint64_t to, std::uint64_t count) {
                              std::memcpy(to_.data() + to * element_bytes_,
                                          scratch.chunk.data() + from * element_bytes_, count * element_bytes_);
                            });
    });
  }

 private:
  /// A chunk may reach beyond a shape that can grow, but a program that fills four gigabytes for a hundred numbers does
  /// not exist.
  void require_chunk_in_proportion() const {
    constexpr std::uint64_t common = std::uint64_t{256} << 20, most_ratio = 16;
    const std::uint64_t chunk = dataset_.chunk_bytes();
    const std::uint64_t all = static_cast<std::uint64_t>(dataset_.shape().count()) * element_bytes_;
    if (chunk > common && chunk / most_ratio > all)
      unsupported(fmt::format("chunks of {} bytes for {} bytes of elements", chunk, all),
                  "write the data set again with chunks that are not larger than it is (h5repack -l)");
  }

  [[nodiscard]] Index number_of(Index i) const {
    const int rank = touched_.count.rank();
    std::array<Index, Shape::max_rank> at{};
    for (int k = rank - 1; k >= 0; --k) {
      at[static_cast<std::size_t>(k)] = touched_.first[k] + i % touched_.count[k];
      i /= touched_.count[k];
    }
    Index number = 0;
    for (int k = 0; k < rank; ++k) number = number * index_.grid()[k] + at[static_cast<std::size_t>(k)];
    return number;
  }

  [[noreturn]] void refuse(const ChunkEntry& entry) const {
    throw Error(ErrorKind::bad_file, fmt::format("{}: damaged: {}: {} bytes for a chunk of {}", dataset_.file().path(),
                                                 dataset_.path(), entry.stored_bytes, pipeline_.chunk_bytes()))
        .hint("copy the file again");
  }

  void decode(const Box& place, const ChunkEntry& entry, Scratch& scratch, std::span<std::byte> chunk) const {
    const Description& data = dataset_.description();
    bool edge = false;  // reaches beyond the shape
    for (int k = 0; k < place.first.rank(); ++k) edge = edge || place.first[k] + place.count[k] > dataset_.shape()[k];
    const bool as_it_is = data.filters.empty() || (edge && !data.layout.whole_edges);
    if (as_it_is && entry.stored_bytes != chunk.size()) refuse(entry);
    if (!as_it_is) scratch.stored.resize(entry.stored_bytes);
    const std::span<std::byte> stored = as_it_is ? chunk : std::span(scratch.stored);
    const Image& image = dataset_.file().image();
    image.read_elements(entry.offset - image.base(), stored);
    if (!as_it_is) pipeline_.decode(stored, entry.filter_mask, scratch.filters, chunk);
  }

  const Dataset& dataset_;
  const ChunkIndex& index_;
  const Box& box_;
  std::span<std::byte> to_;
  std::size_t element_bytes_;
  Pipeline pipeline_;
  Bytes fill_;
  Box touched_;
};

}  // namespace

void Dataset::read_chunks(const Box& box, std::span<std::byte> to) const {
  const ChunkReader reader(*this, box, to);
  if (reader.count() == 1) {
    Scratch scratch;
    return reader.read(0, scratch);
  }
  PerWorker<Scratch> scratch;
  parallel_for(reader.count(), 1, [&](Index first, Index last, Worker& worker) {
    for (Index i = first; i < last; ++i) reader.read(i, scratch[worker]);
  });
}

}  // namespace sonde::hdf5
