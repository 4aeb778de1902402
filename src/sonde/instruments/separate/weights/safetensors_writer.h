// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/instruments/separate/weights/checkpoint.h"

namespace sonde::separate {

/// Writes the tensors of a checkpoint as a safetensors file, floating-point ones as `type` (f32, f16 or bf16, rounded
/// to the nearest), whole numbers as I64, in the order of their names. The file appears when it is complete
/// (AtomicFile). Holds the largest tensor twice at a time. Throws Error(bad_input) for a finite value that is beyond
/// the range of f16, with the tensor's name, and what AtomicFile throws.
void write_safetensors(const std::string& path, const Checkpoint& checkpoint, Stored type);

}  // namespace sonde::separate
