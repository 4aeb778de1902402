// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/write/write_arina.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/codec/bitshuffle.h"
#include "sonde/engine/io/hdf5_writer.h"

namespace sonde::stem {
namespace {

constexpr std::string_view master_ending = "_master.h5";
constexpr const char* frames_path = "/entry/data/data";
constexpr int bitshuffle_filter = 32008;
constexpr const char* schema = "sonde.arina/1";  // by which a later acquisition knows what it may replace

std::string base_of(const std::string& master) {
  if (!std::string_view(master).ends_with(master_ending))
    throw Error(ErrorKind::usage, fmt::format("{}: an ARINA acquisition is named after its master", master))
        .hint("give a name that ends in _master.h5");
  return master.substr(0, master.size() - master_ending.size());
}

void check(const ArinaDescription& d) {
  const auto require = [](bool holds, const std::string& text) {
    if (!holds) throw Error(ErrorKind::bad_input, "ARINA acquisition: " + text);
  };
  require(d.scan_rows > 0 && d.scan_cols > 0 && d.rows > 0 && d.cols > 0,
          fmt::format("a scan of {} x {} on a detector of {} x {}", d.scan_rows, d.scan_cols, d.rows, d.cols));
  require(d.dtype == DType::u8 || d.dtype == DType::u16 || d.dtype == DType::u32,
          fmt::format("frames of {}, expected u8, u16 or u32", name(d.dtype)));
  require(d.frames_per_file > 0, fmt::format("{} frames per file", d.frames_per_file));
  require(d.pixel_mask.empty() || static_cast<Index>(d.pixel_mask.size()) == d.rows * d.cols,
          fmt::format("a pixel mask of {} pixels on a detector of {} x {}", d.pixel_mask.size(), d.rows, d.cols));
}

std::vector<std::byte> largest_value(DType dtype) { return std::vector<std::byte>(size_bytes(dtype), std::byte{0xff}); }

// Only the master was named: what lies beside it replaces files of sonde.
const OutputRole data_role = side_output("the data file of the acquisition", FileMark::hdf5);
const OutputRole sidecar_role = side_output("the metadata file of the acquisition", FileMark::hdf5);

}  // namespace

void require_arina_places(const std::string& master, bool sidecar) {
  const std::string base = base_of(master);
  require_place(master);
  if (sidecar) require_place(base + ".h5", sidecar_role);
  require_place(base + "_data_000001.h5", data_role);
}

struct ArinaWriter::State {
  std::string base;
  ArinaDescription d;
  std::vector<Hdf5Writer> data_files;
  std::vector<Index> frames_of_file;
  Index written = 0;
  PerWorker<BitshuffleScratch> scratch;
  std::vector<std::vector<std::byte>> packed;  ///< of one group of frames, kept for its memory

  [[nodiscard]] Index frames() const { return d.scan_rows * d.scan_cols; }
  [[nodiscard]] std::string data_name(std::size_t number) const {
    return fmt::format("{}_data_{:06d}.h5", base, number);
  }
  void begin_file();
  void append_group(const std::byte* first, Index count);
  void write_sidecar(Hdf5Writer& file) const;
  void write_detector(Hdf5Writer& file) const;
  void write_master(Hdf5Writer& file) const;
};

void ArinaWriter::State::begin_file() {
  Hdf5Writer& file = data_files.emplace_back(data_name(data_files.size() + 1), data_role);
  frames_of_file.push_back(std::min(d.frames_per_file, frames() - written));
  file.attribute("/", "schema", schema);
  file.group("/entry/data");
  file.attribute("/entry", "NX_class", "NXentry");
  file.attribute("/entry/data", "NX_class", "NXdata");
  const auto element_bytes = static_cast<unsigned>(size_bytes(d.dtype));
  Hdf5Declaration declaration;
  declaration.shape = {frames_of_file.back(), d.rows, d.cols};
  declaration.dtype = d.dtype;
  declaration.chunk = {1, d.rows, d.cols};
  // version 0.3 of the filter, element size, default block, LZ4: what the detector's own files say
  declaration.filters = {{bitshuffle_filter, "bitshuffle", true, {0, 3, element_bytes, 0, 2}}};
  if (d.sentinels) declaration.fill = largest_value(d.dtype);  // a frame that never came has no data
  file.declare(frames_path, declaration);
  file.attribute(frames_path, "image_nr_low", static_cast<std::uint64_t>(written + 1));
  file.attribute(frames_path, "image_nr_high", static_cast<std::uint64_t>(written + frames_of_file.back()));
  if (!d.sentinels) file.attribute(frames_path, "sonde_sentinels", std::int64_t{0});
}

void ArinaWriter::State::append_group(const std::byte* first, Index count) {
  const std::size_t frame_bytes = static_cast<std::size_t>(d.rows * d.cols) * size_bytes(d.dtype);
  if (static_cast<Index>(packed.size()) < count) packed.resize(static_cast<std::size_t>(count));
  const BitshuffleFormat format = {size_bytes(d.dtype), 0, BitshuffleCodec::lz4};
  parallel_for(count, 1, [&](Index begin, Index end, Worker& worker) {
    for (Index i = begin; i < end; ++i) {
      auto& chunk = packed[static_cast<std::size_t>(i)];
      chunk.clear();
      encode_bitshuffle({first + static_cast<std::size_t>(i) * frame_bytes, frame_bytes}, format, scratch[worker],
                        chunk);
    }
  });
  for (Index i = 0; i < count; ++i) {
    if (written % d.frames_per_file == 0) begin_file();
    data_files.back().write_chunk(frames_path, {written % d.frames_per_file, 0, 0},
                                  packed[static_cast<std::size_t>(i)]);
    if (++written % d.frames_per_file == 0) data_files.back().close();
  }
}

void ArinaWriter::State::write_sidecar(Hdf5Writer& file) const {
  const std::string group = "/STEM Metadata";
  file.attribute("/", "schema", schema);
  file.group(group);
  file.attribute(group, "NumPixelsX", d.scan_cols);
  file.attribute(group, "NumPixelsY", d.scan_rows);
  file.attribute(group, "NumPixelsPrescan", std::int64_t{0});
  const auto write = [&](const char* name, const std::optional<Quantity>& quantity) {
    if (quantity) file.attribute(group, name, quantity->value);
  };
  write("Pixel Size", d.calibration.scan_step_col_nm);
  const auto &row = d.calibration.scan_step_row_nm, &col = d.calibration.scan_step_col_nm;
  if (row && (!col || row->value != col->value)) write("sonde_row_step_nm", row);
  write("Rotation", d.calibration.scan_rotation);
  write("Camera Length", d.calibration.camera_length_m);
  write("High Tension", d.calibration.high_tension_v);
}

void ArinaWriter::State::write_detector(Hdf5Writer& file) const {
  const std::string detector = "/entry/instrument/detector", specific = detector + "/detectorSpecific";
  file.group(specific);
  file.attribute("/entry/instrument", "NX_class", "NXinstrument");
  file.attribute(detector, "NX_class", "NXdetector");
  file.attribute(specific, "NX_class", "NXcollection");
  const auto value = [&](const std::string& path, const Hdf5Value::Scalar& scalar, const char* unit = nullptr) {
    file.value(path, scalar);
    if (unit != nullptr) file.attribute(path, "units", unit);
  };
  if (!d.description.empty()) value(detector + "/description", d.description);
  value(detector + "/bit_depth_image", static_cast<std::int64_t>(8 * size_bytes(d.dtype)));
  if (d.saturation) value(detector + "/saturation_value", static_cast<std::int64_t>(*d.saturation));
  if (d.frame_time_s > 0) value(detector + "/frame_time", d.frame_time_s, "s");
  if (const auto& pixel = d.calibration.detector_pixel_m) {
    value(detector + "/x_pixel_size", pixel->value, "m");
    value(detector + "/y_pixel_size", pixel->value, "m");
  }
  value(detector + "/pixel_mask_applied", std::int64_t{0});
  value(specific + "/ntrigger", static_cast<std::uint64_t>(frames()));
  value(specific + "/nimages", std::uint64_t{1});
  value(specific + "/compression", "bslz4");
  value(specific + "/x_pixels_in_detector", static_cast<std::uint64_t>(d.cols));
  value(specific + "/y_pixels_in_detector", static_cast<std::uint64_t>(d.rows));
  value(specific + "/software_version", fmt::format("sonde {}", build_info().version));
  if (const auto& tension = d.calibration.high_tension_v) value(specific + "/photon_energy", tension->value, "eV");

  std::vector<std::uint32_t> mask = d.pixel_mask;
  mask.resize(static_cast<std::size_t>(d.rows * d.cols));
  file.array(specific + "/pixel_mask", Array::from(mask, {d.rows, d.cols}));
}

void ArinaWriter::State::write_master(Hdf5Writer& file) const {
  const std::string data = "/entry/data";
  file.group(data);
  file.attribute("/", "schema", schema);
  file.attribute("/", "default", "entry");
  file.attribute("/entry", "NX_class", "NXentry");
  file.value("/entry/definition", "NXmx");
  file.attribute("/entry/definition", "version", "1.4");
  file.attribute(data, "NX_class", "NXdata");
  file.attribute(data, "signal", "data_000001");
  for (std::size_t i = 1; i <= data_files.size(); ++i)
    file.external_link(fmt::format("{}/data_{:06d}", data, i), std::filesystem::path(data_name(i)).filename(),
                       frames_path);
  if (!d.sidecar) file.attribute(data, "scan_shape", Array::from<std::int64_t>({d.scan_rows, d.scan_cols}, {2}));
  if (!d.sentinels) file.attribute(data, "sonde_sentinels", std::int64_t{0});
  for (const auto& [name, value] : d.attributes) file.attribute(data, name, value);
  write_detector(file);
}

ArinaWriter::ArinaWriter(const std::string& master, ArinaDescription description) : state_(std::make_unique<State>()) {
  state_->base = base_of(master);
  check(description);
  state_->d = std::move(description);
  require_arina_places(master, state_->d.sidecar);
}

ArinaWriter::ArinaWriter(ArinaWriter&&) noexcept = default;
ArinaWriter::~ArinaWriter() = default;

void ArinaWriter::append(const Array& frames) {
  State& state = *state_;
  const Shape expected = {state.d.rows, state.d.cols};
  if (frames.shape().rank() < 3 || frames.shape().last(2) != expected || frames.dtype() != state.d.dtype)
    throw Error(ErrorKind::bad_input,
                fmt::format("ARINA acquisition: frames {} of {}, expected (n, {}, {}) of {}", frames.shape().text(),
                            name(frames.dtype()), state.d.rows, state.d.cols, name(state.d.dtype)));
  if (!frames.contiguous() || frames.device() != Device::cpu())
    throw Error(ErrorKind::internal, "only contiguous host frames are written");
  const Index count = frames.shape().first(frames.shape().rank() - 2).count();
  if (count > state.frames() - state.written)
    throw Error(ErrorKind::bad_input, fmt::format("ARINA acquisition: {} frames after {}, the scan has {}", count,
                                                  state.written, state.frames()));
  constexpr Index group = 256;  // packed frames kept at a time: some 10 MiB
  const std::size_t frame_bytes = static_cast<std::size_t>(expected.count()) * size_bytes(state.d.dtype);
  const auto* bytes = static_cast<const std::byte*>(frames.data());
  for (Index first = 0; first < count; first += group)
    state.append_group(bytes + static_cast<std::size_t>(first) * frame_bytes, std::min(group, count - first));
}

std::vector<std::string> ArinaWriter::finish() {
  State& state = *state_;
  if (state.written != state.frames())
    throw Error(ErrorKind::bad_input,
                fmt::format("ARINA acquisition: {} of {} frames were given", state.written, state.frames()));
  std::vector<std::string> names;
  Hdf5Writer master(state.base + std::string(master_ending));
  names.push_back(master.path());
  state.write_master(master);
  for (Hdf5Writer& file : state.data_files) {
    names.push_back(file.path());
    file.finish();
  }
  if (state.d.sidecar) {
    Hdf5Writer sidecar(state.base + ".h5", sidecar_role);
    state.write_sidecar(sidecar);
    names.push_back(sidecar.path());
    sidecar.finish();
  }
  master.finish();
  return names;
}

}  // namespace sonde::stem
