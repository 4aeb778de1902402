// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "sonde/engine/base/error.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/stem/bench/inputs.h"
#include "sonde/instruments/stem/bench/prepare.h"
#include "sonde/instruments/stem/load/adapt.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/load/held_source.h"
#include "sonde/instruments/stem/load/pass.h"

namespace sonde::stem {
namespace {

Workload workload_of(const std::string& size) {
  if (size == "w1") return Workload::w1;
  if (size == "w2") return Workload::w2;
  throw Error(ErrorKind::usage, fmt::format("no reference scan \"{}\"", size)).hint("give --sizes w1 or w2");
}

std::string describe(const HeldScan& held, const std::string& size) {
  const double stored = static_cast<double>(held.batch.bytes.size());
  return fmt::format("{}: {} frames of 192x192 u16, {:.2f} : 1", size, held.frames(), held.decoded_bytes() / stored);
}

/// The settings of a whole scan with the file's mask.
PassSettings settings_of(const Source& source, Index det_bin, DType out, Destination destination) {
  PassSettings settings;
  settings.scan = ScanGrid::make(source.acquisition(), std::nullopt, 1, Edge::keep);
  settings.detector = DetectorGrid::make(source.acquisition().rows, source.acquisition().cols, det_bin, Edge::keep);
  settings.mask_bits = source.acquisition().pixel_mask;
  settings.out = out;
  settings.destination = destination;
  return settings;
}

}  // namespace

PreparedCase prepare_decode(const BenchPoint& point) {
  const Workload which = workload_of(point.size);
  auto held = hold_scan(which);
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
  prepared.peers.push_back(
      python_peer("h5py + hdf5plugin, read_direct", "h5py_decode.py", {workload_file(which), "touched"}));
  return prepared;
}

PreparedCase prepare_load(const BenchPoint& point) {
  const Workload which = workload_of(point.size);
  const std::string master = workload_file(which);
  PreparedCase prepared;
  prepared.input = describe(*hold_scan(which), point.size);
  const auto load_as = [&](const char* name, LayoutChoice layout, ResultType type) {
    LoadOptions options;
    options.layout = layout;
    options.dtype = type;
    prepared.operations.push_back({.name = name,
                                   .run = [=] { (void)load(master, options, Budget::automatic(Device::cpu())); },
                                   .bytes = 16384.0 * 192 * 192 * 2});
  };
  load_as("load, frame-major u16", LayoutChoice::frame, ResultType::u16);
  load_as("load, pixel-major u8", LayoutChoice::pixel, ResultType::automatic);
  prepared.peers.push_back(python_peer("h5py + hdf5plugin, fresh memory", "h5py_decode.py", {master, "fresh"}));
  return prepared;
}

PreparedCase prepare_bin(const BenchPoint& point) {
  const Workload which = workload_of(point.size);
  const std::string master = workload_file(which);
  PreparedCase prepared;
  prepared.input = describe(*hold_scan(which), point.size);
  const double decoded = 16384.0 * 192 * 192 * 2;
  for (const Index bin : {2, 1}) {
    auto source = std::shared_ptr<Source>(with_working_type(open_source(master, {})));
    auto settings = std::make_shared<PassSettings>(settings_of(*source, bin, DType::u16, Destination::frames));
    auto frames = std::make_shared<Array>(Array::zeros(
        Device::cpu(), {settings->scan.positions(), settings->detector.out_rows, settings->detector.out_cols},
        DType::u16));
    prepared.operations.push_back({.name = fmt::format("decode + moments, det_bin {}", bin),
                                   .run = [=] { (void)run_pass(*source, *settings, *frames); },
                                   .bytes = decoded});
  }
  prepared.peers.push_back(python_peer("h5py + float mean of 2 x 2", "h5py_bin.py", {master}));
  return prepared;
}

}  // namespace sonde::stem
