// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/declared_size.h"

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde {
namespace {

constexpr Index believed = Index{1} << 20;  // costs some tens of MiB and milliseconds, whatever the file holds
// zstd stores 128 KiB of one value in four bytes; no codec does better.
constexpr double densest = 32768;
constexpr double least_written = 1.0 / 1024;  // of data that are stored as they are
// Of a chunk that was written every index holds at least its address, eight bytes. Half of the chunks may be missing.
constexpr double index_bytes = 4;

}  // namespace

void require_believable(const std::string& what, const DeclaredSize& declared) {
  const auto file_bytes = static_cast<double>(declared.file_bytes);
  const double bytes = static_cast<double>(declared.items) * static_cast<double>(declared.item_bytes);
  const bool items_fit =
      declared.items <= believed || bytes <= (declared.packed ? densest : 1 / least_written) * file_bytes;
  const bool chunks_fit =
      declared.chunks <= believed || index_bytes * static_cast<double>(declared.chunks) <= file_bytes;
  if (items_fit && chunks_fit) return;
  throw Error(ErrorKind::bad_file,
              fmt::format("{}: declares {} {}{}, {} together, but a file of {} cannot hold them", what, declared.items,
                          declared.name, items_fit ? fmt::format(" in {} chunks", declared.chunks) : "",
                          format_bytes(bytes), format_bytes(file_bytes)))
      .hint(
          fmt::format("the file is damaged, or nearly all of its {0} were never written: write it with the {0} it has",
                      declared.name));
}

void require_list_fits(const std::string& what, std::string_view name, Index count, std::size_t entry_bytes,
                       std::size_t memory_bytes) {
  const double bytes = static_cast<double>(count) * static_cast<double>(entry_bytes);
  if (bytes <= static_cast<double>(memory_bytes)) return;
  throw Error(ErrorKind::budget, fmt::format("{}: the list of its {} {} takes {}, the budget is {}", what, count, name,
                                             format_bytes(bytes), format_bytes(static_cast<double>(memory_bytes))))
      .hint("give more " + setting("memory"));
}

}  // namespace sonde
