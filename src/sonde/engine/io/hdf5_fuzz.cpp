// SPDX-License-Identifier: Apache-2.0
// Any bytes are an HDF5 file whose structure, values and small data sets can be read, or an Error. Nothing leads to a
// crash, a hang, or memory for what is only declared.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sonde/engine/base/error.h"
#include "sonde/engine/io/chunk_index.h"
#include "sonde/engine/io/hdf5.h"

namespace {

using namespace sonde;

/// Runs `body`, whose Error is an answer like any other, unless the program is to blame.
template <class Body>
void attempt(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) std::abort();
  }
}

void read_dataset(const Hdf5File& file, const std::string& path) {
  const Hdf5Dataset dataset = file.dataset(path);
  const Hdf5DatasetInfo& info = dataset.info();
  attempt([&] { (void)dataset.virtual_parts(); });
  attempt([&] { dataset.require_sources(); });
  if (info.layout == Hdf5DatasetInfo::Layout::chunked) attempt([&] { (void)read_chunk_index(dataset).outside(1000); });
  constexpr Index most = 1 << 16;
  if (info.shape.count() <= most) attempt([&] { (void)dataset.record_lists(); });
  if (info.shape.count() > most || info.element_bytes > 256) return;
  attempt([&] {
    if (!info.dtype) return (void)dataset.raw_elements();
    (void)dataset.read();
    Shape first, count;
    for (int i = 0; i < info.shape.rank(); ++i) {
      first.append(info.shape[i] / 3);
      count.append(info.shape[i] - info.shape[i] / 3);
    }
    (void)dataset.read(first, count);
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const int memory = memfd_create("hdf5_fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(memory);
  if (ftruncate(memory, static_cast<off_t>(size)) != 0 || pwrite(memory, bytes, size, 0) != static_cast<ssize_t>(size))
    std::abort();
  attempt([&] {
    const Hdf5File file = Hdf5File::open(path);
    attempt([&] { (void)file.small_values(); });
    for (const Hdf5Link& link : file.list("/")) {
      attempt([&] { (void)file.exists("/" + link.name); });
      attempt([&] { (void)file.attributes("/" + link.name); });
    }
    for (const std::string& each : file.datasets()) attempt([&] { read_dataset(file, each); });
  });
  return 0;
}
