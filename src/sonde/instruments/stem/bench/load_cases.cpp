// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/device/pool.h"
#include "sonde/engine/device/stream.h"
#include "sonde/engine/io/codec/bitshuffle_chunks.h"
#include "sonde/instruments/stem/bench/inputs.h"
#include "sonde/instruments/stem/bench/prepare.h"
#include "sonde/instruments/stem/load/adapt.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/load/held_source.h"
#include "sonde/instruments/stem/load/load_pass.h"

namespace sonde::stem {
namespace {

Workload workload_of(const std::string& size) {
  if (size == "w1") return Workload::w1;
  if (size == "w2") return Workload::w2;
  throw Error(ErrorKind::usage, fmt::format("no reference scan \"{}\"", size))
      .hint("give " + setting("sizes") + " w1 or w2");
}

std::string describe(const HeldScan& held, const std::string& size) {
  const double stored = static_cast<double>(held.batch.bytes.size());
  return fmt::format("{}: {} frames of 192x192 u16, {:.2f} : 1", size, held.frames(), held.decoded_bytes() / stored);
}

/// The settings of a whole scan with the file's mask.
PassSettings settings_of(const Source& source, Index det_bin) {
  PassSettings settings;
  settings.scan = ScanGrid::make(source.acquisition(), std::nullopt, 1, Edge::keep);
  settings.detector = DetectorGrid::make(source.acquisition().rows, source.acquisition().cols, det_bin, Edge::keep);
  settings.mask_bits = source.acquisition().pixel_mask;
  return settings;
}

/// Only the kernels: compressed bytes lie on the device before, elements after.
PreparedCase decode_on_gpu(const BenchPoint& point, const std::shared_ptr<HeldScan>& held) {
  struct Resident {
    explicit Resident(Device device) : stream(device) {}
    Stream stream;
    Array bytes, pieces, elements, faults;
  };
  auto there = std::make_shared<Resident>(point.device);
  const Index frames = held->frames();
  std::vector<ChunkPiece> pieces;
  for (const RawBatch::Piece& piece : held->batch.pieces) pieces.push_back({piece.offset, piece.size, ChunkForm::lz4});
  there->bytes = Array(point.device, {static_cast<Index>(held->batch.bytes.size())}, DType::u8);
  there->pieces = Array(point.device, {frames * static_cast<Index>(sizeof(ChunkPiece))}, DType::u8);
  there->elements = Array(point.device, {frames, 192 * 192}, DType::u16);
  there->faults = Array(point.device, {frames}, DType::u64);
  there->stream.copy(there->bytes.data(), held->batch.bytes.data(), held->batch.bytes.size());
  there->stream.copy(there->pieces.data(), pieces.data(), there->pieces.allocated_bytes());
  there->stream.synchronise();
  PreparedCase prepared;
  prepared.input = describe(*held, point.size);
  prepared.operations.push_back(
      {.name = "decode",
       .run =
           [=] {
             decode_chunks<std::uint16_t>(
                 there->stream, std::as_const(there->bytes).view<std::uint8_t, 1>(),
                 View<const ChunkPiece, 1>(static_cast<const ChunkPiece*>(there->pieces.data()), frames), 0, 8192,
                 there->elements.view<std::uint16_t, 2>(), there->faults.view<std::uint64_t, 1>());
             there->stream.synchronise();
           },
       .bytes = held->decoded_bytes() + static_cast<double>(held->batch.bytes.size())});
  return prepared;
}

/// Work of the processor only, about as long for a frame as decoding it: what a second core adds to this is what the
/// machine has to give at that moment (other guests of a shared machine take from it).
void compute_only(Index frames, std::vector<std::uint64_t>& results) {
  results.resize(static_cast<std::size_t>(frames));
  parallel_for(frames, 16, [&](Index first, Index last, Worker&) {
    for (Index frame = first; frame < last; ++frame) {
      std::uint64_t state = static_cast<std::uint64_t>(frame) + 1;
      for (int i = 0; i < 5000; ++i) {  // xorshift64: each step waits for the one before, no memory
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
      }
      results[static_cast<std::size_t>(frame)] = state;
    }
  });
}

/// The writes of decoding without the decoding, into the same memory.
void write_only(Array& elements) {
  const Index frames = elements.shape()[0];
  const auto size = static_cast<Index>(elements.allocated_bytes()) / frames;
  auto* to = static_cast<std::byte*>(elements.data());
  parallel_for(frames, 16, [&](Index first, Index last, Worker&) {
    std::memset(to + first * size, 1, static_cast<std::size_t>((last - first) * size));
  });
}

}  // namespace

PreparedCase prepare_decode(const BenchPoint& point) {
  const Workload which = workload_of(point.size);
  auto held = hold_scan(which);
  if (!point.device.is_cpu()) return decode_on_gpu(point, held);
  auto elements = std::make_shared<Array>(Array::zeros(Device::cpu(), {held->frames(), 192, 192}, DType::u16));
  auto scratch = std::make_shared<PerWorker<DecodeScratch>>();
  PreparedCase prepared;
  prepared.input = describe(*held, point.size);
  prepared.operations.push_back({.name = "decode",
                                 .run =
                                     [=] {
                                       const std::size_t size = held->frame_bytes();
                                       auto* to = static_cast<std::byte*>(elements->data());
                                       parallel_for(held->frames(), 16, [&](Index first, Index last, Worker& worker) {
                                         for (Index frame = first; frame < last; ++frame)
                                           held->source->decode(
                                               held->batch, frame, (*scratch)[worker],
                                               std::span(to + static_cast<std::size_t>(frame) * size, size));
                                       });
                                     },
                                 .bytes = held->decoded_bytes() + static_cast<double>(held->batch.bytes.size())});
  auto results = std::make_shared<std::vector<std::uint64_t>>();
  prepared.operations.push_back(
      {.name = "only arithmetic, no memory", .run = [=] { compute_only(held->frames(), *results); }});
  prepared.operations.push_back({.name = "elements written, nothing else",
                                 .run = [=] { write_only(*elements); },
                                 .bytes = held->decoded_bytes()});
  prepared.peers.push_back(
      python_peer("h5py + hdf5plugin, read_direct", "h5py_decode.py", {workload_file(which), "touched"}));
  return prepared;
}

namespace {

/// One byte of every page of a new array is written, on all threads.
void touch_fresh(std::size_t bytes) {
  constexpr Index page = 4096;
  Array array(Device::cpu(), Shape{static_cast<Index>(bytes)}, DType::u8);
  auto* at = static_cast<std::uint8_t*>(array.data());
  parallel_for(static_cast<Index>(bytes) / page, 4096, [&](Index first, Index last, Worker&) {
    for (Index i = first; i < last; ++i) at[i * page] = 1;
  });
  array.free();
  Pool::of(Device::cpu()).release();
}

}  // namespace

PreparedCase prepare_load(const BenchPoint& point) {
  const Workload which = workload_of(point.size);
  const std::string master = workload_file(which);
  PreparedCase prepared;
  prepared.input = describe(*hold_scan(which), point.size);
  const auto load_as = [&](const char* name, LayoutChoice layout, ResultType type) {
    LoadOptions options;
    options.layout = layout;
    options.dtype = type;
    prepared.operations.push_back(
        {.name = name,
         .run = [=, device = point.device] { (void)load(master, options, Budget::automatic(device), device); },
         .bytes = 16384.0 * 192 * 192 * 2});
  };
  load_as("load, frame-major u16", LayoutChoice::frame, ResultType::u16);
  load_as("load, pixel-major u8", LayoutChoice::pixel, ResultType::automatic);
  // What the operating system takes for the memory; on a virtual machine it can be most of the time.
  prepared.operations.push_back({.name = "fresh memory touched, nothing else",
                                 .run = [] { touch_fresh(std::size_t{16384} * 192 * 192 * 2); },
                                 .bytes = 16384.0 * 192 * 192 * 2});
  prepared.peers.push_back(python_peer("h5py + hdf5plugin, fresh memory", "h5py_decode.py", {master, "fresh"}));
  return prepared;
}

namespace {

/// The whole loading pass of a reference scan into memory that has been touched.
sonde::Operation pass_with_bin(const std::string& master, Device device, Index bin, const std::string& name) {
  auto stream = std::make_shared<Stream>(device);
  auto source = std::shared_ptr<Source>(with_working_type(open_source(master, {})));
  auto settings = std::make_shared<PassSettings>(settings_of(*source, bin));
  auto frames = std::make_shared<Array>(Array::zeros(
      device, {settings->scan.positions(), settings->detector.out_rows, settings->detector.out_cols}, DType::u16));
  return {.name = name,
          .run =
              [=] {
                const ResidentSettings resident{.out = DType::u16, .destination = Destination::frames};
                (void)run_load_pass(*stream, *source, *settings, resident, *frames);
              },
          .bytes = 16384.0 * 192 * 192 * 2};
}

}  // namespace

PreparedCase prepare_bins(const BenchPoint& point) {
  const std::string master = workload_file(Workload::w1);
  const Index bin = whole_size(point.size, "pixels per bin");
  PreparedCase prepared;
  prepared.input = fmt::format("w1, bins of {0} x {0}", bin);
  prepared.operations.push_back(pass_with_bin(master, point.device, bin, "decode + moments + bin"));
  return prepared;
}

PreparedCase prepare_bin(const BenchPoint& point) {
  const Workload which = workload_of(point.size);
  const std::string master = workload_file(which);
  PreparedCase prepared;
  prepared.input = describe(*hold_scan(which), point.size);
  for (const Index bin : {2, 1})
    prepared.operations.push_back(
        pass_with_bin(master, point.device, bin, fmt::format("decode + moments, det_bin {}", bin)));
  prepared.peers.push_back(python_peer("h5py + float mean of 2 x 2", "h5py_bin.py", {master}));
  return prepared;
}

}  // namespace sonde::stem
