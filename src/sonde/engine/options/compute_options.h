// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "sonde/engine/options/fields.h"

namespace sonde {

/// Where work runs and what it may hold: the same for every command and every call from Python.
struct ComputeOptions {
  std::string device = "auto";
  std::optional<Bytes> memory;
  void describe(Fields& fields) {
    fields.add("device", device, {.help = "where to compute", .metavar = "auto|cpu|cuda|cuda:N"});
    fields.add("memory", memory,
               {.help = "most memory to hold, for instance 8G; unset takes 0.6 of what is free", .min = 1});
  }
  [[nodiscard]] std::optional<std::size_t> memory_bytes() const {
    return memory ? std::optional(memory->value) : std::nullopt;
  }
};

}  // namespace sonde
