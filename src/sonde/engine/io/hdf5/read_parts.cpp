// SPDX-License-Identifier: Apache-2.0
// Virtual data sets: their list of parts, and reading through it.
#include <algorithm>

#include "sonde/engine/io/hdf5/checksum.h"
#include "sonde/engine/io/hdf5/convert.h"
#include "sonde/engine/io/hdf5/dataset.h"
#include "sonde/engine/io/hdf5/global_heap.h"

namespace sonde::hdf5 {
namespace {

/// Numbers of positions of a selection along each dimension, from `first` on.
struct Numbers {
  std::uint64_t first = 0, count = 0;
};

/// Positions that follow each other, and where they are among the numbers.
struct Segment {
  std::uint64_t number = 0, position = 0, count = 0;
};
using Segments = std::vector<std::vector<Segment>>;

Segments segments_of(const Selection& selection, const std::vector<Numbers>& numbers) {
  Segments segments;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::vector<Segment> along;
    for (std::uint64_t done = 0; done < numbers[i].count;) {
      const Positions::Run run = selection.dimensions[i].run_from(numbers[i].first + done);
      const std::uint64_t count = std::min(run.count, numbers[i].count - done);
      along.push_back({done, run.first, count});
      done += count;
    }
    segments.push_back(std::move(along));
  }
  return segments;
}

std::uint64_t combinations(const Segments& segments) {
  std::uint64_t count = 1;
  for (const auto& along : segments) count = product(count, along.size(), "a selection");
  return count;
}

/// Calls visit(box among the numbers, box of positions) for every combination of segments.
template <class Visit>
void for_each_combination(const Segments& segments, Visit visit) {
  std::vector<std::size_t> at(segments.size(), 0);
  while (true) {
    Box numbers, positions;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      const Segment& segment = segments[i][at[i]];
      numbers.first.append(static_cast<Index>(segment.number));
      numbers.count.append(static_cast<Index>(segment.count));
      positions.first.append(static_cast<Index>(segment.position));
      positions.count.append(static_cast<Index>(segment.count));
    }
    visit(numbers, positions);
    std::size_t i = segments.size();
    while (i > 0 && ++at[i - 1] == segments[i - 1].size()) at[--i] = 0;
    if (i == 0) return;
  }
}

Shape counts_of(const std::vector<Numbers>& numbers) {
  Shape shape;
  for (const Numbers& along : numbers) shape.append(static_cast<Index>(along.count));
  return shape;
}

/// Counts other than one: selections with the same ones pair their positions dimension by dimension.
std::vector<std::uint64_t> long_counts(const Selection& selection) {
  std::vector<std::uint64_t> counts;
  for (const Positions& along : selection.dimensions)
    if (along.count() != 1) counts.push_back(along.count());
  return counts;
}

std::vector<Numbers> all_numbers(const Selection& selection) {
  std::vector<Numbers> numbers;
  for (const Positions& along : selection.dimensions) numbers.push_back({0, along.count()});
  return numbers;
}

void require_inside(const Selection& selection, const std::vector<std::uint64_t>& extents, const std::string& what) {
  bool inside = selection.dimensions.size() == extents.size();
  for (std::size_t i = 0; inside && i < extents.size(); ++i)
    inside = selection.dimensions[i].count() > 0 && selection.dimensions[i].last() < extents[i];
  if (!inside) damaged(fmt::format("a part of the virtual data set reaches beyond {}", what));
}

void copy_rows(const Box& from_box, const Shape& from_shape, const std::byte* from, const Box& to_box,
               const Shape& to_shape, std::byte* to, std::size_t each) {
  for_each_pair_of_rows(from_box, from_shape, to_box, to_shape,
                        [&](std::uint64_t source, std::uint64_t target, std::uint64_t count) {
                          std::memcpy(to + target * each, from + source * each, count * each);
                        });
}

}  // namespace

const std::vector<VirtualPart>& Dataset::parts() const {
  const std::lock_guard lock(mutex_);
  if (parts_ != nullptr) return *parts_;
  auto parts = std::make_unique<std::vector<VirtualPart>>();
  if (data_.layout.kind == Layout::Kind::virtual_parts && data_.layout.heap != undefined_address) {
    GlobalHeap heap(file().image(), file().widths());
    const ByteSpan list = heap.object(data_.layout.heap, data_.layout.heap_object);
    require_checksum(list, "the list of parts of a virtual data set");
    Cursor cursor(list.first(list.size() - 4), file().widths());
    if (const unsigned version = cursor.byte(); version != 0)
      unsupported(fmt::format("a virtual data set of version {}", version),
                  "copy the data set into one file with h5repack");
    const std::uint64_t count = cursor.length();
    for (std::uint64_t i = 0; i < count; ++i) {
      VirtualPart part;
      part.file = cursor.text();
      part.object = cursor.text();
      part.source = take_selection(cursor);
      part.here = take_selection(cursor);
      if (part.here.all) part.here = select_all(data_.space.extents);
      if (!part.here.grows && !part.here.all) require_inside(part.here, data_.space.extents, "its shape");
      if (part.file.find('%') != std::string::npos || part.object.find('%') != std::string::npos)
        part.here.grows = true;
      parts->push_back(std::move(part));
    }
  }
  parts_ = std::move(parts);
  return *parts_;
}

void Dataset::refuse_circles(const Visit& visit) const {
  constexpr int most_depth = 16;
  int depth = 0;
  std::string way = name_;
  for (const Visit* each = visit.before; each != nullptr; each = each->before) {
    way = fmt::format("{} -> {}", each->dataset->name_, way);
    const bool same = each->dataset->header().address == header().address &&
                      each->dataset->file().image().identity() == file().image().identity();
    if (!same && ++depth < most_depth) continue;
    reading(file().path(),
            [&]() -> void { damaged(fmt::format("the virtual data set has itself as its source: {}", way)); });
  }
}

std::shared_ptr<const Dataset> Dataset::source_of(const VirtualPart& part) const {
  const std::pair<std::string, std::string> key{part.file, part.object};
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = sources_.find(key); found != sources_.end()) return found->second;
  }
  const std::shared_ptr<const OpenFile> from =
      part.file == "." ? object_.file : OpenFile::open(locate(file().path(), part.file));
  const Found found = reading(from->path(), [&] { return find_object(from, part.object); });
  if (!found.object || !found.object->header->is_dataset())
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: no data set {}; the virtual data set {} names it", from->path(), part.object, name_));
  auto source =
      reading(found.object->file->path(), [&] { return std::make_shared<const Dataset>(*found.object, part.object); });
  const std::lock_guard lock(mutex_);
  constexpr std::size_t most_open = 64;  // each is an open file
  if (sources_.size() >= most_open) sources_.clear();
  sources_.emplace(key, source);
  return source;
}

void Dataset::require_sources() const {
  std::set<std::pair<FileIdentity, std::uint64_t>> sound;
  require_sources(nullptr, sound);
}

void Dataset::require_sources(const Visit* before, std::set<std::pair<FileIdentity, std::uint64_t>>& sound) const {
  const Visit visit{this, before, nullptr};
  refuse_circles(visit);
  if (data_.layout.kind != Layout::Kind::virtual_parts) return;
  std::set<std::pair<std::string, std::string>> seen;
  for (const VirtualPart& part : reading(file().path(), [&]() -> const std::vector<VirtualPart>& { return parts(); })) {
    if (!seen.emplace(part.file, part.object).second) continue;
    const auto source = source_of(part);
    if (sound.contains({source->file().image().identity(), source->header().address})) continue;
    source->require_sources(&visit, sound);
  }
  sound.emplace(file().image().identity(), header().address);
}

void Dataset::read_parts(const Box& box, std::span<std::byte> to, const Visit* before) const {
  // Parts that are no boxes are read with what is between their elements, and again for every box.
  constexpr std::uint64_t most_waste = 64, always = std::uint64_t{1} << 30;
  Visit::Work work{.most_bytes = always + most_waste * to.size()};
  const Visit visit{this, before, before != nullptr ? before->work : &work};
  refuse_circles(visit);
  fill_with(fill(), to);
  for (const VirtualPart& part : parts()) read_part(part, box, to, visit);
}

void Dataset::read_source(const Dataset& source, const Box& box, std::span<std::byte> to, const Visit& visit) const {
  // Virtual data sets that name each other many times over could ask for any number of reads.
  constexpr std::uint64_t most_reads = 1000000, most_nested = 100000;
  Visit::Work& work = *visit.work;
  work.bytes += to.size();
  if (++work.reads > (visit.before == nullptr ? most_reads : most_nested) || work.bytes > work.most_bytes)
    damaged("the virtual data set refers to its sources again and again");
  reading(source.file().path(), [&] { source.read(box, to, &visit); });
  const Datatype &here = data_.type, &there = source.data_.type;
  const auto swapped = [](const Datatype& type) {
    return type.kind == Datatype::Kind::record && !type.members.empty() ? type.members[0].type.big_endian
                                                                        : type.big_endian;
  };
  const bool numbers = here.dtype() && here.is_native() && here.dtype() == there.dtype() && there.is_native();
  if (here.bytes != there.bytes || here.kind != there.kind || (here.dtype() && !numbers && here.text() != there.text()))
    unsupported(fmt::format("a virtual data set of {} with a source of {}", here.text(), there.text()),
                "copy the data set into one file with h5repack");
  // To native from whichever is big endian: swapping its bytes gives the order of the other too.
  if (numbers && swapped(here) != swapped(there)) to_native(swapped(here) ? here : there, to, to);
}

void Dataset::read_part(const VirtualPart& part, const Box& box, std::span<std::byte> to, const Visit& visit) const {
  if (part.here.grows || part.source.grows)
    unsupported("a virtual data set that grows with its sources", "copy the data set into one file with h5repack");
  // The numbers of the positions inside the box.
  std::vector<Numbers> numbers;
  for (std::size_t i = 0; i < part.here.dimensions.size(); ++i) {
    const auto first = static_cast<std::uint64_t>(box.first[static_cast<int>(i)]);
    const std::uint64_t low = part.here.dimensions[i].below(first);
    const std::uint64_t high =
        part.here.dimensions[i].below(first + static_cast<std::uint64_t>(box.count[static_cast<int>(i)]));
    if (low == high) return;
    numbers.push_back({low, high - low});
  }
  const auto source = source_of(part);
  Selection there = part.source.all ? select_all(source->data_.space.extents) : part.source;
  reading(source->file().path(),
          [&] { require_inside(there, source->data_.space.extents, "its source " + source->name_); });
  if (there.count() != part.here.count())
    damaged(fmt::format("a part of {} elements of the virtual data set has a source of {}", part.here.count(),
                        there.count()));

  const std::size_t each = data_.type.bytes;
  const bool paired = long_counts(there) == long_counts(part.here);
  std::vector<Numbers> wanted = all_numbers(there);
  if (paired) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].count == 1) continue;
      while (part.here.dimensions[next].count() == 1) ++next;
      wanted[i] = numbers[next++];
    }
  }
  const Shape counts = counts_of(wanted);
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;
  if (!paired && static_cast<std::uint64_t>(counts.count()) * each > most_bytes)
    unsupported("a virtual data set whose large part has another shape than its source",
                "copy the data set into one file with h5repack");

  const Segments from = segments_of(there, wanted), into = segments_of(part.here, numbers);
  const std::uint64_t pieces = combinations(from);
  if (pieces == 1 && paired && combinations(into) == 1) {
    Box whole_here;
    for_each_combination(into, [&](const Box&, const Box& positions) { whole_here = relative(positions, box.first); });
    if (is_run(whole_here, box.count))
      return for_each_combination(from, [&](const Box&, const Box& positions) {
        read_source(*source, positions,
                    to.subspan(first_of(whole_here, box.count) * each, static_cast<std::size_t>(counts.count()) * each),
                    visit);
      });
  }

  // The wanted elements of the source, in the order of the selection.
  Bytes buffer(static_cast<std::size_t>(counts.count()) * each);
  Box around;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Segment &low = from[i].front(), &high = from[i].back();
    around.first.append(static_cast<Index>(low.position));
    around.count.append(static_cast<Index>(high.position + high.count - low.position));
  }
  // Many small reads are slower than one that reads some elements for nothing.
  constexpr Index most_waste = 8;
  if (pieces > 1 && around.count.count() / most_waste <= counts.count()) {
    Bytes all(static_cast<std::size_t>(around.count.count()) * each);
    read_source(*source, around, all, visit);
    for_each_combination(from, [&](const Box& at, const Box& positions) {
      copy_rows(relative(positions, around.first), around.count, all.data(), at, counts, buffer.data(), each);
    });
  } else {
    for_each_combination(from, [&](const Box& at, const Box& positions) {
      Bytes piece(static_cast<std::size_t>(positions.count.count()) * each);
      read_source(*source, positions, piece, visit);
      Box all{{}, positions.count};
      for (int i = 0; i < positions.count.rank(); ++i) all.first.append(0);
      copy_rows(all, positions.count, piece.data(), at, counts, buffer.data(), each);
    });
  }

  // Into their places. What is not paired goes element by element, by its number in the whole selection.
  const Shape here_counts = paired ? counts_of(numbers) : counts_of(all_numbers(part.here));
  for_each_combination(into, [&](const Box& at, const Box& positions) {
    Box whole_at = at;
    if (!paired) {
      whole_at.first = {};
      for (int i = 0; i < at.first.rank(); ++i)
        whole_at.first.append(at.first[i] + static_cast<Index>(numbers[static_cast<std::size_t>(i)].first));
    }
    copy_rows(whole_at, here_counts, buffer.data(), relative(positions, box.first), box.count, to.data(), each);
  });
}

}  // namespace sonde::hdf5
