// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <array>
#include <limits>
#include <stdexcept>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/zip.h"

namespace sonde {
namespace {

constexpr std::uint16_t version_with_zip64 = 45, sizes_follow_the_data = 1u << 3, first_of_january_1980 = 0x21;
constexpr std::uint32_t see_zip64 = 0xffffffff;

/// Little-endian numbers one after the other.
class Record {
 public:
  template <std::unsigned_integral T>
  Record& put(T value) {
    for (std::size_t i = 0; i < sizeof value; ++i)
      bytes_ += static_cast<char>((std::uint64_t{value} >> (8 * i)) & 0xff);
    return *this;
  }
  Record& put(const std::string& text) {
    bytes_ += text;
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

std::uint16_t half(std::size_t value) { return static_cast<std::uint16_t>(value); }
std::uint16_t code(ZipMethod method) { return method == ZipMethod::stored ? 0 : 8; }

/// Packs into a small buffer and writes it whenever it is full.
class Deflater {
 public:
  explicit Deflater(AtomicFile& file) : file_(file) {
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() { deflateEnd(&stream_); }

  void put(std::span<const std::byte> bytes) {
    constexpr std::size_t most_bytes = std::size_t{1} << 30;  // zlib counts in 32 bits
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), most_bytes)))
      run(bytes.first(std::min(bytes.size(), most_bytes)), Z_NO_FLUSH);
  }
  void finish() { run({}, Z_FINISH); }

 private:
  void run(std::span<const std::byte> bytes, int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      (void)deflate(&stream_, flush);  // fails only for a broken stream state
      file_.write(std::span(buffer_).first(buffer_.size() - stream_.avail_out));
    } while (stream_.avail_out == 0);
  }

  AtomicFile& file_;
  z_stream stream_{};
  std::array<std::byte, 65536> buffer_;
};

}  // namespace

void ZipWriter::add(const std::string& name, std::span<const std::span<const std::byte>> parts, ZipMethod method) {
  ZipEntry entry{name, method, 0, 0, 0, file_.written_bytes()};
  // Sizes and checksum are known when the data have passed: they follow the data and stand in the directory.
  file_.write(Record()
                  .put(std::uint32_t{0x04034b50})
                  .put(version_with_zip64)
                  .put(sizes_follow_the_data)
                  .put(code(method))
                  .put(std::uint16_t{0})
                  .put(first_of_january_1980)
                  .put(std::uint32_t{0})
                  .put(see_zip64)
                  .put(see_zip64)
                  .put(half(name.size()))
                  .put(std::uint16_t{20})
                  .put(name)
                  .put(std::uint16_t{1})
                  .put(std::uint16_t{16})
                  .put(std::uint64_t{0})
                  .put(std::uint64_t{0})
                  .bytes());
  const std::uint64_t start = file_.written_bytes();
  uLong crc = 0;
  const auto count = [&](std::span<const std::byte> part) {
    // zlib starts anew when it is given a null pointer, which an empty part may be.
    if (!part.empty()) crc = crc32_z(crc, reinterpret_cast<const Bytef*>(part.data()), part.size());
    entry.bytes += part.size();
  };
  if (method == ZipMethod::stored) {
    for (const auto part : parts) {
      count(part);
      file_.write(part);
    }
  } else {
    Deflater deflater(file_);
    for (const auto part : parts) {
      count(part);
      deflater.put(part);
    }
    deflater.finish();
  }
  entry.crc = static_cast<std::uint32_t>(crc);
  entry.stored_bytes = file_.written_bytes() - start;
  file_.write(Record().put(std::uint32_t{0x08074b50}).put(entry.crc).put(entry.stored_bytes).put(entry.bytes).bytes());
  entries_.push_back(std::move(entry));
}

void ZipWriter::commit() {
  const std::uint64_t offset = file_.written_bytes();
  for (const ZipEntry& entry : entries_) {
    file_.write(Record()
                    .put(std::uint32_t{0x02014b50})
                    .put(version_with_zip64)
                    .put(version_with_zip64)
                    .put(sizes_follow_the_data)
                    .put(code(entry.method))
                    .put(std::uint16_t{0})
                    .put(first_of_january_1980)
                    .put(entry.crc)
                    .put(see_zip64)
                    .put(see_zip64)
                    .put(half(entry.name.size()))
                    .put(std::uint16_t{28})
                    .put(std::uint16_t{0})
                    .put(std::uint16_t{0})
                    .put(std::uint16_t{0})
                    .put(std::uint32_t{0})
                    .put(see_zip64)
                    .put(entry.name)
                    .put(std::uint16_t{1})
                    .put(std::uint16_t{24})
                    .put(entry.bytes)
                    .put(entry.stored_bytes)
                    .put(entry.header_offset)
                    .bytes());
  }
  const std::uint64_t end = file_.written_bytes(), count = entries_.size();
  file_.write(Record()
                  .put(std::uint32_t{0x06064b50})
                  .put(std::uint64_t{44})
                  .put(version_with_zip64)
                  .put(version_with_zip64)
                  .put(std::uint32_t{0})
                  .put(std::uint32_t{0})
                  .put(count)
                  .put(count)
                  .put(end - offset)
                  .put(offset)
                  .put(std::uint32_t{0x07064b50})
                  .put(std::uint32_t{0})
                  .put(end)
                  .put(std::uint32_t{1})
                  .put(std::uint32_t{0x06054b50})
                  .put(std::uint32_t{0})
                  .put(std::uint16_t{0xffff})
                  .put(std::uint16_t{0xffff})
                  .put(see_zip64)
                  .put(see_zip64)
                  .put(std::uint16_t{0})
                  .bytes());
  file_.commit();
}

}  // namespace sonde
