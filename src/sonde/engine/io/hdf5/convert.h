// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/io/hdf5/dataspace.h"
#include "sonde/engine/io/hdf5/datatype.h"
#include "sonde/engine/io/hdf5/image.h"

namespace sonde::hdf5 {

/// One stored integer, bit field or enumeration, at bytes.data(): its bits as an unsigned number, or extended by its
/// sign.
[[nodiscard]] std::uint64_t integer_at(const Datatype& type, const std::byte* bytes);
/// One stored float.
[[nodiscard]] double float_at(const Datatype& type, const std::byte* bytes);

/// Stored elements as elements of type.dtype() in native byte order. `from` and `to` hold the same number of elements,
/// and may be the same bytes when both kinds have the same size.
void to_native(const Datatype& type, ByteSpan from, std::span<std::byte> to);

/// Stored elements as a value: numbers and texts, also those of variable length; nothing for other types, for null
/// spaces, and above `most` elements. `bytes` holds all elements.
[[nodiscard]] std::optional<Hdf5Value> to_value(const Image& image, Widths widths, const Datatype& type,
                                                const Dataspace& space, ByteSpan bytes);
/// Whether elements are lists of records whose fields are all real numbers.
[[nodiscard]] bool has_record_lists(const Datatype& type);
/// Those of `shape`. `bytes` holds all elements, which point to the records.
[[nodiscard]] Hdf5RecordLists to_record_lists(const Image& image, Widths widths, const Datatype& type,
                                              const Shape& shape, ByteSpan bytes);
/// Whether to_value has a value for such elements.
[[nodiscard]] bool has_value(const Datatype& type, const Dataspace& space, Index most);

}  // namespace sonde::hdf5
