// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/io/checkpoint.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/base/text.h"
#include "sonde/engine/base/version.h"

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

}  // namespace

CheckpointWriter::CheckpointWriter(std::string path, const CheckpointKind& kind, Index iteration,
                                   const std::string& options)
    : file_(std::move(path)) {
  file_.group(group);
  file_.attribute(group, "kind", kind.name);
  file_.attribute(group, "schema", kind.schema);
  file_.attribute(group, "version", std::string(build_info().version));
  file_.attribute(group, "iteration", std::int64_t{iteration});
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

void CheckpointWriter::finish() { file_.finish(Durability::on_disk); }

CheckpointReader::CheckpointReader(const std::string& path, const CheckpointKind& kind) : file_(Hdf5File::open(path)) {
  const std::string found = word(file_, "kind");
  if (found != kind.name)
    throw Error(ErrorKind::bad_file, fmt::format("{}: is a checkpoint of {}, not of {}", path, found, kind.name));
  schema_ = whole_number(file_, "schema");
  if (schema_ < 1 || schema_ > kind.schema)
    throw Error(ErrorKind::bad_file,
                fmt::format("{}: has schema {} and was written by sonde {}; schemas up to {} are read", path, schema_,
                            word(file_, "version"), kind.schema))
        .hint("go on with the version that wrote it, or a newer one");
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
  if (!value) throw Error(ErrorKind::bad_file, fmt::format("{}: {} of the checkpoint is no text", path(), name));
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
