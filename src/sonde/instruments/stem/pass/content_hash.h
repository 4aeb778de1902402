// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "sonde/instruments/stem/read/source.h"

namespace sonde::stem {

/// XXH3 of the sizes and bytes of frames, in the order in which they are added.
class ContentHash {
 public:
  ContentHash();
  void add(const RawBatch& batch);
  [[nodiscard]] std::uint64_t value() const;

 private:
  struct State;
  struct Free {
    void operator()(State* state) const;
  };
  std::unique_ptr<State, Free> state_;
};

}  // namespace sonde::stem
