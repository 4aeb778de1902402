// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/memory/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/memory/host_memory.h"

namespace sonde {

struct Reservation::Ledger {
  mutable std::mutex mutex;
  std::size_t limit = 0, reserved = 0, peak = 0, next_entry = 1;
  std::string because;
  std::map<std::size_t, Budget::Holder> entries;

  [[nodiscard]] std::vector<Budget::Holder> sorted() const {
    std::vector<Budget::Holder> holders;
    for (const auto& [key, holder] : entries) holders.push_back(holder);
    std::stable_sort(holders.begin(), holders.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    return holders;
  }
};

namespace {
std::string bytes_text(std::size_t bytes) { return format_bytes(static_cast<double>(bytes)); }
}  // namespace

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this == &other) return *this;
  free();
  ledger_ = std::move(other.ledger_);
  bytes_ = std::exchange(other.bytes_, 0);
  entry_ = other.entry_;
  return *this;
}

void Reservation::shrink_to(std::size_t bytes) {
  if (!ledger_ || bytes >= bytes_) return;
  const std::lock_guard lock(ledger_->mutex);
  ledger_->reserved -= bytes_ - bytes;
  ledger_->entries[entry_].bytes = bytes;
  bytes_ = bytes;
}

void Reservation::free() {
  if (!ledger_) return;
  {
    const std::lock_guard lock(ledger_->mutex);
    ledger_->reserved -= bytes_;
    ledger_->entries.erase(entry_);
  }
  ledger_.reset();
  bytes_ = 0;
}

Budget::Budget(std::size_t limit_bytes, std::string because) : ledger_(std::make_shared<Reservation::Ledger>()) {
  ledger_->limit = limit_bytes;
  ledger_->because = std::move(because);
}

Budget Budget::automatic(Device device, std::optional<std::size_t> limit) {
  if (limit) return Budget(*limit, "given as memory");
  if (!device.is_cpu())
    return Budget(static_cast<std::size_t>(0.9 * static_cast<double>(device.memory_free())),
                  "0.9 of the free device memory");
  const HostMemory memory = host_memory();
  const bool grouped = usable_bytes(memory) < memory.available;
  return Budget(static_cast<std::size_t>(0.6 * static_cast<double>(usable_bytes(memory))),
                grouped ? "0.6 of what the control group leaves" : "0.6 of the available memory");
}

std::size_t Budget::limit_bytes() const { return ledger_->limit; }
const std::string& Budget::because() const { return ledger_->because; }

std::size_t Budget::reserved_bytes() const {
  const std::lock_guard lock(ledger_->mutex);
  return ledger_->reserved;
}

std::size_t Budget::available_bytes() const {
  const std::lock_guard lock(ledger_->mutex);
  return ledger_->limit - std::min(ledger_->limit, ledger_->reserved);
}

std::size_t Budget::peak_bytes() const {
  const std::lock_guard lock(ledger_->mutex);
  return ledger_->peak;
}

std::vector<Budget::Holder> Budget::holders() const {
  const std::lock_guard lock(ledger_->mutex);
  return ledger_->sorted();
}

Reservation Budget::reserve(std::size_t bytes, std::string what, const std::string& remedy) {
  const std::lock_guard lock(ledger_->mutex);
  const std::size_t available = ledger_->limit - std::min(ledger_->limit, ledger_->reserved);
  if (bytes > available) {
    std::string message = fmt::format("{} needs {}, but {} of the budget of {} ({}) are left", what, bytes_text(bytes),
                                      bytes_text(available), bytes_text(ledger_->limit), ledger_->because);
    std::vector<std::string> largest;
    for (const Holder& holder : ledger_->sorted())
      if (largest.size() < 3) largest.push_back(fmt::format("{} {}", holder.what, bytes_text(holder.bytes)));
    if (!largest.empty()) message += fmt::format("; held by {}", join_words(largest));
    throw Error(ErrorKind::budget, message).hint(remedy);
  }
  Reservation reservation;
  reservation.ledger_ = ledger_;
  reservation.bytes_ = bytes;
  reservation.entry_ = ledger_->next_entry++;
  ledger_->reserved += bytes;
  ledger_->peak = std::max(ledger_->peak, ledger_->reserved);
  ledger_->entries[reservation.entry_] = {std::move(what), bytes};
  return reservation;
}

Choice<Index> choose_batch(const Budget& budget, Index count, std::size_t bytes_per_item, std::size_t fixed_bytes,
                           Index most) {
  const std::size_t available = budget.available_bytes();
  const std::size_t room = available - std::min(available, fixed_bytes);
  const Index fit = bytes_per_item == 0 ? count : static_cast<Index>(room / bytes_per_item);
  if (count > 0 && (fit == 0 || fixed_bytes > available))
    throw Error(ErrorKind::budget, fmt::format("one at a time already needs {}, and {} are available",
                                               bytes_text(bytes_per_item + fixed_bytes), bytes_text(available)))
        .hint("raise " + setting("memory"));
  if (count <= fit && count <= most) return {count, fmt::format("all {} fit into {}", count, bytes_text(available))};
  if (most <= fit) return {most, "the largest useful batch"};
  return {fit, fmt::format("{} of {} fit into {}", fit, count, bytes_text(room))};
}

}  // namespace sonde
