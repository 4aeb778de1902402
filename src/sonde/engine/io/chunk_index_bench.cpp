// SPDX-License-Identifier: Apache-2.0
// The index of a scan's data file: one chunk per frame. The floor is the library's tree, one node per 64 chunks.
#include <benchmark/benchmark.h>

#include <unistd.h>
#include <filesystem>
#include <string>

#include "sonde/engine/io/chunk_index.h"
#include "sonde/engine/io/hdf5_writer.h"

namespace sonde {
namespace {

/// A file of `chunks` chunks of 100 bytes, removed at the end.
class ChunkFile {
 public:
  explicit ChunkFile(Index chunks)
      : path_(
            (std::filesystem::temp_directory_path() / ("sonde-bench-" + std::to_string(::getpid()) + ".h5")).string()) {
    Hdf5Writer writer(path_);
    writer.declare("/data",
                   {.shape = {chunks, 10, 10}, .dtype = DType::u8, .chunk = {1, 10, 10}, .filters = {}, .fill = {}});
    const std::vector<std::byte> chunk(100);
    for (Index i = 0; i < chunks; ++i) writer.write_chunk("/data", {i, 0, 0}, chunk);
    writer.finish();
  }
  ChunkFile(const ChunkFile&) = delete;
  ChunkFile& operator=(const ChunkFile&) = delete;
  ~ChunkFile() { std::filesystem::remove(path_); }
  [[nodiscard]] Hdf5Dataset dataset() const { return Hdf5File::open(path_).dataset("/data"); }

 private:
  std::string path_;
};

void open_and_walk(benchmark::State& state) {
  const ChunkFile file(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(read_chunk_index(file.dataset()));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(open_and_walk)->Arg(1000)->Arg(10000)->Arg(65536)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sonde
