// SPDX-License-Identifier: Apache-2.0
// Private to this room: from a pickle of PyTorch to tensors.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "sonde/instruments/separate/weights/checkpoint.h"
#include "sonde/instruments/separate/weights/pickle.h"

namespace sonde::separate {

/// ('storage', type, key, location, numel) and, before PyTorch 1.6, a view of it.
struct StorageId {
  std::string_view key;
  Stored type = Stored::f32;
  Index count = 0;
};

/// What the identifier of a persistent node names. Throws Error(bad_file) or Error(not_supported), beginning with
/// `where`, for another one.
[[nodiscard]] StorageId storage_id(const Pickle& pickle, Pickle::Id persistent, const std::string& where);

/// Finds the parameters in the pickle's root and fills in state_key, tensors, others, opaque_globals and warnings.
/// `bytes_of` gives the bytes of a storage, at least count * size of them.
void read_state_dict(Checkpoint& checkpoint, const Pickle& pickle, const std::string& state_key,
                     const std::function<std::span<const std::byte>(const StorageId&)>& bytes_of);

}  // namespace sonde::separate
