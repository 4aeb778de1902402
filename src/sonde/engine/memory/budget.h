// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/base/choice.h"
#include "sonde/engine/base/index.h"
#include "sonde/engine/base/setting.h"
#include "sonde/engine/device/device.h"

namespace sonde {

class Budget;

/// Bytes set aside in a budget; handed back by the destructor or free().
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept { *this = std::move(other); }
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation() { free(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Hands back all but `bytes`, for work that needs more while it runs than it leaves behind.
  void shrink_to(std::size_t bytes);
  void free();

 private:
  friend class Budget;
  struct Ledger;
  std::shared_ptr<Ledger> ledger_;
  std::size_t bytes_ = 0;
  std::size_t entry_ = 0;
};

/// How many bytes one device may hold for this work. A cheap handle: copies share one ledger. Thread-safe.
/// Nothing allocates more than a few MiB without a reservation.
class Budget {
 public:
  Budget(std::size_t limit_bytes, std::string because);

  /// `limit` when given (--memory), else 0.6 x min(MemAvailable, cgroup max - current) on the CPU and 0.9 x free on a
  /// GPU.
  static Budget automatic(Device device, std::optional<std::size_t> limit = std::nullopt);

  [[nodiscard]] std::size_t limit_bytes() const;
  [[nodiscard]] const std::string& because() const;
  [[nodiscard]] std::size_t reserved_bytes() const;
  [[nodiscard]] std::size_t available_bytes() const;
  [[nodiscard]] std::size_t peak_bytes() const;

  /// Throws Error(budget) with needed, available and the largest holders; `remedy` becomes its hint.
  [[nodiscard]] Reservation reserve(std::size_t bytes, std::string what,
                                    const std::string& remedy = "raise " + setting("memory"));

  struct Holder {
    std::string what;
    std::size_t bytes;
  };
  /// Current reservations, largest first.
  [[nodiscard]] std::vector<Holder> holders() const;

 private:
  std::shared_ptr<Reservation::Ledger> ledger_;
};

/// How many of `count` items of `bytes_per_item` fit beside `fixed_bytes` into the available budget, at most `most` of
/// them. Throws Error(budget) when not even one fits.
[[nodiscard]] Choice<Index> choose_batch(const Budget& budget, Index count, std::size_t bytes_per_item,
                                         std::size_t fixed_bytes, Index most);

}  // namespace sonde
