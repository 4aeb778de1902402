// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/read_pieces.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>

namespace sonde {
namespace {

constexpr std::uint64_t largest_gap = 64 << 10;

/// One request: consecutive bytes of the file into several places of memory.
class Run {
 public:
  [[nodiscard]] bool takes(const FilePiece& piece) const {
    return count_ == 0 || (count_ + 2 <= parts_.size() && piece.offset >= end_ && piece.offset - end_ < largest_gap);
  }
  void add(const FilePiece& piece) {
    if (count_ == 0) begin_ = end_ = piece.offset;
    if (piece.offset > end_) append(gap_.data(), piece.offset - end_);
    // Chunks that follow each other in the file and in memory need no part of their own.
    if (count_ > 0 && piece.offset == end_ && last_end() == piece.into.data())
      parts_[count_ - 1].iov_len += piece.into.size();
    else
      append(piece.into.data(), piece.into.size());
    end_ = piece.offset + piece.into.size();
  }
  void fetch(const File& file) {
    if (count_ == 0) return;
    std::uint64_t done = 0;
    const ssize_t got =
        ::preadv(file.descriptor(), parts_.data(), static_cast<int>(count_), static_cast<off_t>(begin_));
    if (got > 0) done = static_cast<std::uint64_t>(got);
    // What one call did not give (an interruption, the end of the file, 2 GiB at most) is read part by part, with
    // File's errors.
    std::uint64_t at = begin_;
    for (std::size_t i = 0; i < count_; at += parts_[i].iov_len, ++i) {
      const std::uint64_t here = std::min<std::uint64_t>(done, parts_[i].iov_len);
      done -= here;
      if (here < parts_[i].iov_len)
        file.read_at(at + here, {static_cast<std::byte*>(parts_[i].iov_base) + here, parts_[i].iov_len - here});
    }
    count_ = 0;
  }

 private:
  void append(std::byte* bytes, std::uint64_t size) { parts_[count_++] = {bytes, size}; }
  [[nodiscard]] const std::byte* last_end() const {
    return static_cast<const std::byte*>(parts_[count_ - 1].iov_base) + parts_[count_ - 1].iov_len;
  }

  std::array<iovec, 1024> parts_{};  // IOV_MAX of Linux
  std::size_t count_ = 0;
  std::uint64_t begin_ = 0, end_ = 0;
  std::vector<std::byte> gap_ = std::vector<std::byte>(largest_gap);
};

}  // namespace

void read_pieces(const File& file, std::vector<FilePiece>& pieces) {
  std::sort(pieces.begin(), pieces.end(), [](const FilePiece& a, const FilePiece& b) { return a.offset < b.offset; });
  Run run;
  for (const FilePiece& piece : pieces) {
    if (piece.into.empty()) continue;
    if (!run.takes(piece)) run.fetch(file);
    run.add(piece);
  }
  run.fetch(file);
}

}  // namespace sonde
