// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/checkpoint.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/run_files.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/base/version.h"
#include "sonde/engine/io/file.h"

namespace sonde {
namespace {

const std::string group = "/state";

template <class T>
T required(const std::string& path, const std::optional<T>& value) {
  if (!value) throw Error(ErrorKind::bad_file, fmt::format("{}: is not a checkpoint of sonde", path));
  return *value;
}

std::optional<Hdf5Value> state_attribute(const Hdf5File& file, const std::string& name) {
  return file.exists(group) ? file.attribute(group, name) : std::nullopt;
}

std::int64_t whole_number(const Hdf5File& file, const std::string& name) {
  return required(file.path(), required(file.path(), state_attribute(file, name)).integer());
}

std::string word(const Hdf5File& file, const std::string& name) {
  return required(file.path(), required(file.path(), state_attribute(file, name)).text());
}

/// The end of a sealed checkpoint: the CRC-32 of all bytes before.
std::string seal_of(std::uint32_t crc) { return fmt::format("\nsonde crc32 {:08x}\n", crc); }
const std::size_t seal_bytes = seal_of(0).size();

std::uint32_t crc_of(const File& file, std::uint64_t bytes) {
  std::vector<std::byte> piece(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, std::uint64_t{8} << 20)));
  uLong crc = crc32_z(0, nullptr, 0);
  for (std::uint64_t at = 0; at < bytes; at += piece.size()) {
    piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), bytes - at)));
    file.read_at(at, piece);
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(piece.data()), piece.size());
  }
  return static_cast<std::uint32_t>(crc);
}

Error damaged(const std::string& path) {
  return Error(ErrorKind::bad_file, fmt::format("{}: the checkpoint is damaged: it is not as it was written", path))
      .hint("copy it again, take an older one, or begin anew from the last result");
}

bool ends_in_seal(const File& file) {
  if (file.size() < seal_bytes) return false;
  std::string end(seal_bytes, '\0');
  file.read_at(file.size() - seal_bytes, std::as_writable_bytes(std::span(end)));
  const std::string any = seal_of(0);
  const std::size_t digits = any.find("00000000");
  if (end.substr(0, digits) != any.substr(0, digits) || end.back() != '\n') return false;
  if (end != seal_of(crc_of(file, file.size() - seal_bytes))) throw damaged(file.path());
  return true;
}

/// Before HDF5 looks into the file: what a flipped bit makes of it is anything.
Hdf5File checked(const std::string& path) {
  note_continued(path);
  const bool sealed = ends_in_seal(File(path));
  Hdf5File file = Hdf5File::open(path);
  // Those of earlier versions have none.
  if (!sealed && state_attribute(file, "sealed")) throw damaged(path);
  return file;
}

}  // namespace

OutputRole checkpoint_role() { return {.what = "the checkpoint", .replaces = FileMark::hdf5, .continues = true}; }

CheckpointWriter::CheckpointWriter(std::string path, const CheckpointKind& kind, Index iteration,
                                   const std::string& options)
    : file_(std::move(path), checkpoint_role()) {
  file_.group(group);
  file_.attribute(group, "kind", kind.name);
  file_.attribute(group, "schema", kind.schema);
  file_.attribute(group, "version", std::string(build_info().version));
  file_.attribute(group, "iteration", std::int64_t{iteration});
  file_.attribute(group, "sealed", std::int64_t{1});
  text("options", options);
}

void CheckpointWriter::array(const std::string& name, const Array& values) {
  if (values.device().is_cpu()) return file_.array(group + "/" + name, values);
  Stream stream(values.device());
  file_.array(group + "/" + name, values.copy_to(Device::cpu(), stream));
}

void CheckpointWriter::text(const std::string& name, const std::string& value) {
  file_.value(group + "/" + name, value);
}

void CheckpointWriter::random(const std::string& name, const Random::State& state) {
  array(name, Array::from<std::uint64_t>({state.seed, state.stream, state.drawn}, {3}));
}

void CheckpointWriter::finish() {
  const auto seal = [](const std::string& path) {
    const File file(path);
    return seal_of(crc_of(file, file.size()));
  };
  file_.finish_with(seal, Durability::on_disk);
}

CheckpointReader::CheckpointReader(const std::string& path, const CheckpointKind& kind) : file_(checked(path)) {
  const std::string found = word(file_, "kind");
  if (found != kind.name)
    throw Error(ErrorKind::bad_file, fmt::format("{}: is a checkpoint of {}, not of {}", path, found, kind.name));
  schema_ = whole_number(file_, "schema");
  if (schema_ < 1 || schema_ > kind.schema)
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: has schema {} and was written by sonde {}; schemas up to {} are read", path, schema_,
                            word(file_, "version"), kind.schema))
        .hint("continue with the version that wrote it, or a newer one");
  iteration_ = whole_number(file_, "iteration");
}

bool CheckpointReader::has(const std::string& name) const { return file_.is_dataset(group + "/" + name); }

std::string CheckpointReader::place(const std::string& name) const {
  if (has(name)) return group + "/" + name;
  std::vector<std::string> names;
  for (const Hdf5Link& link : file_.list(group)) names.push_back(link.name);
  throw Error(ErrorKind::bad_file,
              fmt::format("{}: the checkpoint has no \"{}\"{}", path(), name, did_you_mean(name, names)));
}

Array CheckpointReader::array(const std::string& name) const { return file_.dataset(place(name)).read(); }

Hdf5Dataset CheckpointReader::dataset(const std::string& name, DType dtype, const Shape& shape) const {
  Hdf5Dataset dataset = file_.dataset(place(name));
  if (dataset.info().dtype != dtype || dataset.info().shape != shape)
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: {} is {} {} in the checkpoint, expected {} {}", path(), name, dataset.info().type_text,
                            dataset.info().shape.text(), sonde::name(dtype), shape.text()));
  return dataset;
}

Array CheckpointReader::array(const std::string& name, DType dtype, const Shape& shape) const {
  return dataset(name, dtype, shape).read();
}

std::string CheckpointReader::text(const std::string& name) const {
  const std::optional<std::string> value = file_.dataset(place(name)).value().text();
  if (!value) throw Error(ErrorKind::bad_file, fmt::format("{}: {} of the checkpoint is not a text", path(), name));
  return *value;
}

Random::State CheckpointReader::random(const std::string& name) const {
  const Array values = array(name, DType::u64, {3});
  const auto state = values.view<std::uint64_t, 1>();
  return {state(0), state(1), state(2)};
}

CheckpointTimer::CheckpointTimer(double every_s, std::function<double()> now_s)
    : every_s_(every_s), last_s_(0), now_s_(std::move(now_s)) {
  if (!now_s_) now_s_ = [watch = Stopwatch()] { return watch.seconds(); };
  restart();
}

bool CheckpointTimer::due() const { return interrupt_requested() || (every_s_ > 0 && now_s_() - last_s_ >= every_s_); }

void CheckpointTimer::restart() { last_s_ = now_s_(); }

}  // namespace sonde
