// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/hdf5_ragged.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/declared_size.h"
#include "sonde/engine/io/hdf5/convert.h"
#include "sonde/engine/io/hdf5/dataset.h"
#include "sonde/engine/io/hdf5/open_file.h"

namespace sonde {

using hdf5::Cursor;
using hdf5::Datatype;
using hdf5::Image;

struct Hdf5IntegerLists::File {
  std::shared_ptr<const hdf5::OpenFile> opened;
  std::string path;  // of the data set
  Datatype integer;

  [[nodiscard]] const Image& image() const { return opened->image(); }
};

namespace {

bool has_integer_lists(const Datatype& type) {
  return type.kind == Datatype::Kind::variable_length && !type.variable_text &&
         type.base().kind == Datatype::Kind::integer && type.base().dtype().has_value();
}

/// Where the objects of a collection of the heap (section III.E) are, without the objects: the heads of large ones are
/// read by themselves.
class HeapPlaces {
 public:
  struct Place {
    std::uint64_t address, bytes;
  };

  HeapPlaces(const Image& image, hdf5::Widths widths) : image_(image), widths_(widths) {}

  Place of(std::uint64_t collection, std::uint32_t number) {
    auto found = collections_.find(collection);
    if (found == collections_.end()) {
      // Lists of one collection follow each other in the files that libraries write.
      if (places_ > most_places) {
        collections_.clear();
        places_ = 0;
      }
      found = collections_.emplace(collection, read(collection)).first;
      places_ += found->second.size() + 1;
    }
    const auto place = found->second.find(number);
    if (place == found->second.end())
      hdf5::damaged(fmt::format("the heap of lists at address {} has no object {}", collection, number));
    return place->second;
  }

 private:
  static constexpr std::size_t most_places = std::size_t{1} << 18;
  static constexpr std::uint64_t head_bytes = 16;  // of a collection and of an object; shorter lengths are padded

  std::map<std::uint32_t, Place> read(std::uint64_t collection) const {
    const hdf5::Bytes head = image_.read_once(collection, head_bytes);
    Cursor start(head, widths_);
    if (!start.take_if("GCOL") || start.byte() != 1)
      hdf5::damaged(fmt::format("there is no heap of lists at address {}", collection));
    start.skip(3);
    const std::uint64_t bytes = start.length();
    if (bytes < head_bytes) hdf5::damaged(fmt::format("a heap of lists of {} bytes", bytes));
    image_.require(collection, bytes);
    std::map<std::uint32_t, Place> places;
    hdf5::Bytes window;
    std::uint64_t window_at = 0;
    for (std::uint64_t at = head_bytes; bytes - at >= head_bytes;) {
      if (at < window_at || at + head_bytes > window_at + window.size()) {
        constexpr std::uint64_t window_bytes = 4096;
        window = image_.read_once(collection + at, std::min(window_bytes, bytes - at));
        window_at = at;
      }
      Cursor object(hdf5::ByteSpan(window).subspan(static_cast<std::size_t>(at - window_at), head_bytes), widths_);
      const auto number = object.take<std::uint16_t>();
      object.skip(2 + 4);  // references, reserved
      const std::uint64_t size = object.length();
      if (number == 0) break;  // free space, to the end
      at += head_bytes;
      if (size > bytes - at) hdf5::damaged("a list reaches beyond its heap");
      places.emplace(number, Place{collection + at, size});
      at += std::min((size + 7) / 8 * 8, bytes - at);
      image_.charge(64);
    }
    return places;
  }

  const Image& image_;
  hdf5::Widths widths_;
  std::map<std::uint64_t, std::map<std::uint32_t, Place>> collections_;
  std::size_t places_ = 0;
};

}  // namespace

std::optional<Hdf5IntegerLists> Hdf5IntegerLists::open(const Hdf5File& file, const std::string& path) {
  const Hdf5Dataset declared = file.dataset(path);
  const std::string& where = declared.file_path();
  return hdf5::reading(where, path, [&]() -> std::optional<Hdf5IntegerLists> {
    const hdf5::Found found = find_object(hdf5::OpenFile::open(file.path()), path);
    if (!found.object) hdf5::damaged(found.why_not);
    const auto dataset = std::make_shared<const hdf5::Dataset>(*found.object, path);
    const Datatype& type = dataset->description().type;
    if (!has_integer_lists(type)) return std::nullopt;
    Hdf5IntegerLists lists;
    lists.shape_ = declared.info().shape;
    const Index count = lists.shape_.count();
    require_believable(fmt::format("{}, {}", where, path), {.items = count,
                                                            .item_bytes = type.bytes,
                                                            .file_bytes = dataset->file().image().file().size(),
                                                            .packed = !declared.info().filters.empty()});
    lists.file_ = std::make_shared<const File>(File{found.object->file, path, type.base()});
    const hdf5::Bytes elements = dataset->read_all();
    if (type.bytes == 0 || elements.size() / type.bytes < static_cast<std::size_t>(count))
      hdf5::damaged("its lists end early");
    HeapPlaces heap(lists.file_->image(), dataset->file().widths());
    lists.first_.reserve(static_cast<std::size_t>(count) + 1);
    lists.first_.push_back(0);
    lists.address_.reserve(static_cast<std::size_t>(count));
    for (Index i = 0; i < count; ++i) {
      Cursor element(hdf5::ByteSpan(elements).subspan(static_cast<std::size_t>(i) * type.bytes, type.bytes),
                     dataset->file().widths());
      const auto length = element.take<std::uint32_t>();
      const std::uint64_t address = element.address();
      const auto number = element.take<std::uint32_t>();
      const bool empty = length == 0 || address == 0 || address == hdf5::undefined_address;
      HeapPlaces::Place place{0, 0};
      if (!empty) {
        place = heap.of(address, number);
        if (place.bytes / type.base().bytes < length) hdf5::damaged(fmt::format("list {} ends early", i));
      }
      lists.address_.push_back(place.address);
      lists.first_.push_back(lists.first_.back() + (empty ? 0 : length));
    }
    return lists;
  });
}

void Hdf5IntegerLists::read(Index list, std::span<std::uint32_t> integers) const {
  if (integers.empty()) return;
  const Datatype& type = file_->integer;
  hdf5::reading(file_->image().path(), file_->path, [&] {
    const std::uint64_t address = address_[static_cast<std::size_t>(list)];
    if (type.dtype() == DType::u32 && type.is_native() && !type.big_endian) {
      file_->image().read_elements(address, std::as_writable_bytes(integers));
      return;
    }
    hdf5::Bytes stored(integers.size() * type.bytes);
    file_->image().read_elements(address, stored);
    for (std::size_t i = 0; i < integers.size(); ++i) {
      const std::uint64_t value = hdf5::integer_at(type, stored.data() + i * type.bytes);
      if (value > std::numeric_limits<std::uint32_t>::max())  // or negative
        hdf5::damaged(fmt::format("list {} has an integer that is not from 0 to 2^32 - 1", list));
      integers[i] = static_cast<std::uint32_t>(value);
    }
  });
}

}  // namespace sonde
