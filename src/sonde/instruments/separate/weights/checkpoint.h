// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/io/file.h"
#include "sonde/instruments/separate/network/layers.h"

namespace sonde::separate {

/// Element types of checkpoints.
enum class Stored : std::uint8_t { f32, f16, bf16, f64, i64, i32, i16, i8, u8, boolean };
[[nodiscard]] std::size_t size_bytes(Stored type);
/// "F32", "BF16", "BOOL": the names of safetensors.
[[nodiscard]] std::string_view name(Stored type);

/// An array of a checkpoint, where it is in the mapped file: nothing is copied yet. Within its storage, by
/// construction.
struct StoredTensor {
  Shape shape{};
  std::array<Index, Shape::max_rank> strides{};  ///< in elements, not negative
  Stored type = Stored::f32;
  const std::byte* first = nullptr;  ///< of the first element
};

/// A file of trained weights. Its bytes are mapped: nobody may shorten the file while this or an array of it lives.
struct Checkpoint {
  std::string path{};
  std::string format{};     ///< "PyTorch", "PyTorch before 1.6", "safetensors"
  std::string state_key{};  ///< where the parameters are in a training state; empty: they are the file
  std::map<std::string, StoredTensor, std::less<>> tensors{};  ///< without a prefix "module." or "model." of all
  std::map<std::string, std::string, std::less<>> others{};    ///< what is among them and is none: "posix.getpid"
  std::vector<std::string> opaque_globals{};                   ///< names of Python in the file that were not needed
  std::vector<std::string> warnings{};                         ///< complete sentences
  std::vector<std::string> unverified{};                       ///< ZIP entries without a checksum
  std::shared_ptr<const MappedFile> file{};
};

/// Opens a checkpoint: `.ckpt`, `.pt` or `.pth` of PyTorch (both formats: a ZIP archive, and that before version 1.6)
/// or
/// `.safetensors`, distinguished by content. Nothing of it is executed (Pickle). The parameters are the whole object
/// when all its values are tensors, else the first of `state`, `state_dict`, `model_state_dict`, `model`, `ema` and
/// `net` that holds tensors; `state_key` names another one. Checksums are compared, on all threads; those of PyTorch
/// that are 0 were not made and are listed. Throws Error(bad_file) for what is damaged, contradicts itself or reaches
/// beyond the file; Error(not_supported) for ONNX, big-endian and deflated files; Error(usage) for a `state_key` that
/// is not there.
[[nodiscard]] Checkpoint read_checkpoint(const std::string& path, const std::string& state_key = "");

/// As float32, contiguous. The mapped bytes themselves where they are that already; the array keeps the file. Half
/// precision and whole numbers are widened, double precision is rounded.
[[nodiscard]] Array values_of(const Checkpoint& checkpoint, const StoredTensor& tensor);

/// The values of a network's parameters, on all threads. `num_batches_tracked` of normalisations is ignored. Throws
/// Error(bad_file) with up to ten of the tensors that are missing, unexpected or of another shape, each with the field
/// of the configuration that decides, and for values that are not finite.
[[nodiscard]] ParameterValues match(const Checkpoint& checkpoint, const std::vector<Parameter>& parameters);

}  // namespace sonde::separate
