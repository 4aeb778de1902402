// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/pass/content_hash.h"

#include <xxhash.h>

#include <cstddef>

namespace sonde::stem {

struct ContentHash::State {
  XXH3_state_t* made = XXH3_createState();
};

void ContentHash::Free::operator()(State* state) const {
  XXH3_freeState(state->made);
  delete state;
}

ContentHash::ContentHash() : state_(new State) { XXH3_64bits_reset(state_->made); }

void ContentHash::add(const RawBatch& batch) {
  for (std::size_t i = 0; i < batch.pieces.size(); ++i) {
    const auto bytes = batch.frame_bytes(batch.first + static_cast<Index>(i));
    const std::uint64_t size = bytes.size();
    XXH3_64bits_update(state_->made, &size, sizeof size);
    XXH3_64bits_update(state_->made, bytes.data(), bytes.size());
  }
}

std::uint64_t ContentHash::value() const { return XXH3_64bits_digest(state_->made); }

}  // namespace sonde::stem
