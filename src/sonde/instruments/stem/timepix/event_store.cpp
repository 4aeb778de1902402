// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/timepix/event_store.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/memory/scratch_file.h"

namespace sonde::stem {

EventStore::EventStore() = default;
EventStore::~EventStore() = default;

void EventStore::write() {
  if (!file_) file_ = std::make_shared<ScratchFile>();
  file_->write_at(written_ * sizeof(std::uint32_t), waiting_.data(), waiting_.size() * sizeof(std::uint32_t));
  written_ += waiting_.size();
  waiting_.clear();
}

Array EventStore::finish() {
  if (!file_) {  // a small one
    const auto count = static_cast<Index>(waiting_.size());
    return Array::from(std::exchange(waiting_, {}), {count});
  }
  write();
  const std::size_t bytes = written_ * sizeof(std::uint32_t);
  // PRIVATE: who gets the array may write into it.
  void* const start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file_->descriptor(), 0);
  if (start == MAP_FAILED)
    throw Error(ErrorKind::io, fmt::format("{}: mapping the events failed: {}", file_->folder(), std::strerror(errno)));
  return Array::borrowed(start, {static_cast<Index>(written_)}, {1}, DType::u32,
                         [start, bytes, file = file_] { munmap(start, bytes); });
}

}  // namespace sonde::stem
