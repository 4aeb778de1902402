// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/hdf5_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sonde/engine/base/paths.h"
#include "sonde/instruments/stem/read/events/event_source.h"
#include "sonde/instruments/stem/read/foreign.h"
#include "sonde/instruments/stem/read/sidecar.h"

namespace sonde::stem {

Hdf5Source::Hdf5Source(Acquisition acquisition, std::vector<Hdf5Frames> parts) : parts_(std::move(parts)) {
  acquisition_ = std::move(acquisition);
  firsts_.push_back(0);
  for (const Hdf5Frames& part : parts_) firsts_.push_back(firsts_.back() + part.frames());
}

std::size_t Hdf5Source::part_of(Index frame) const {
  return static_cast<std::size_t>(std::upper_bound(firsts_.begin(), firsts_.end(), frame) - firsts_.begin()) - 1;
}

std::size_t Hdf5Source::stored_bytes(Index frame) const {
  const std::size_t part = part_of(frame);
  return parts_[part].stored_bytes(frame - firsts_[part]);
}

void Hdf5Source::read(Index first, Index last, RawBatch& batch) {
  batch.first = first;
  batch.pieces.assign(static_cast<std::size_t>(last - first), {});
  std::size_t total = 0;
  for (Index frame = first; frame < last; ++frame) {
    RawBatch::Piece& piece = batch.pieces[static_cast<std::size_t>(frame - first)];
    piece.offset = total;
    piece.size = stored_bytes(frame);
    total += piece.size;
  }
  if (batch.bytes.size() < total) batch.bytes.resize(total);  // never shrinks: growing again would clear the bytes

  for (Index frame = first; frame < last;) {
    const std::size_t part = part_of(frame);
    const Index end = std::min(last, firsts_[part + 1]);
    if (part != caching_part_) {
      parts_[caching_part_].set_cache_bytes(0);
      caching_part_ = part;
      parts_[part].set_cache_bytes(cache_bytes_);
    }
    parts_[part].read(
        frame - firsts_[part], end - firsts_[part],
        std::span(batch.pieces).subspan(static_cast<std::size_t>(frame - first), static_cast<std::size_t>(end - frame)),
        batch.bytes);
    if (end == firsts_[part + 1]) parts_[part].rest();  // scans have more files than a process may open
    frame = end;
  }
}

std::size_t Hdf5Source::reading_bytes(int workers) const {
  std::size_t bytes = 0;
  for (const Hdf5Frames& part : parts_) bytes = std::max(bytes, part.reading_bytes(workers));
  return bytes;
}

std::size_t Hdf5Source::useful_cache_bytes() const {
  std::size_t bytes = 0;
  for (const Hdf5Frames& part : parts_) bytes = std::max(bytes, part.useful_cache_bytes());
  return bytes;
}

void Hdf5Source::set_cache_bytes(std::size_t bytes) {
  cache_bytes_ = bytes;
  parts_[caching_part_].set_cache_bytes(bytes);
}

void Hdf5Source::decode(const RawBatch& batch, Index frame, DecodeScratch& scratch,
                        std::span<std::byte> elements) const {
  const std::size_t part = part_of(frame);
  parts_[part].decode(frame - firsts_[part], batch.piece(frame), batch.frame_bytes(frame), scratch, elements);
}

std::optional<BitshuffleFormat> Hdf5Source::packing() const {
  const auto format = parts_.front().packing();
  for (const Hdf5Frames& part : parts_) {
    const auto other = part.packing();
    if (!format || !other || other->codec != format->codec || other->element_bytes != format->element_bytes ||
        other->block_elements != format->block_elements)
      return std::nullopt;
  }
  return format;
}

std::unique_ptr<Source> open_hdf5(const std::string& path, const ReadOptions& options) {
  const Hdf5File file = Hdf5File::open(path);
  if (is_sidecar(file)) {
    const std::filesystem::path here(path);
    const std::string master = (here.parent_path() / (here.stem().string() + "_master.h5")).string();
    throw Error(ErrorKind::bad_file, fmt::format("{}: the microscope's sidecar of a scan, without frames", path))
        .hint(path_exists(master) ? "open " + master + ", which it belongs to"
                                  : "open the master that it belongs to, " + master);
  }
  // Its images have rows and columns before the frames: an array that is named would be a wrong scan.
  const bool of_velox =
      options.dataset.empty() || options.dataset.starts_with("Data/") || options.dataset.starts_with("/Data/");
  if (of_velox && is_velox(file)) throw foreign_error(path, velox_format());
  if (options.dataset.empty() && holds_events(file)) return open_events(open_stored_events(file), options);
  if (options.dataset.empty() && is_arina(file)) return open_arina(file, options);
  return open_hdf5_generic(file, options);
}

}  // namespace sonde::stem
