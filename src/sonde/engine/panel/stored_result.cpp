// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/panel/stored_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <utility>

#include "sonde/engine/array/visit_real.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/io/file.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/engine/io/hdf5/boxes.h"
#include "sonde/engine/io/netcdf.h"
#include "sonde/engine/io/npy.h"
#include "sonde/engine/io/zip.h"
#include "sonde/engine/report/json.h"

namespace sonde::panel {

namespace {

/// Arrays with at most so many elements are read when the file is opened, and shown as numbers.
constexpr Index few = 4;
/// Places of an axis: more than a screen can show.
constexpr Index most_places = 65536;
constexpr std::string_view pixel_size = "pixel_size_";

/// One array or text as a file declares it.
struct Entry {
  std::string name{};
  Shape shape{};
  std::optional<DType> dtype{};  ///< nothing: neither an array of numbers nor a text
  std::optional<std::string> text{};
  std::string unit{};
  std::vector<std::string> axes{};       ///< names; may be shorter than the shape
  std::vector<std::string> places_of{};  ///< the entries that hold the places of the axes; likewise
  std::string pixel_unit{};
  std::vector<double> pixel{};  ///< of the last axes
  bool hidden = false;          ///< says something of the file, not of the result
};

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// A box of an array that is in memory.
Array box_of(const Array& whole, const Shape& first, const Shape& count) {
  Array box(Device::cpu(), count, whole.dtype());
  const std::size_t bytes = size_bytes(whole.dtype());
  const auto* from = static_cast<const std::byte*>(whole.data());
  auto* to = static_cast<std::byte*>(box.data());
  hdf5::for_each_row({first, count}, whole.shape(), [&](std::uint64_t in_box, std::uint64_t in_whole, std::uint64_t n) {
    std::memcpy(to + in_box * bytes, from + in_whole * bytes, n * bytes);
  });
  return box;
}

std::string text_of(const std::optional<Hdf5Value>& value) { return value ? value->text().value_or("") : ""; }

std::string unit_of(const std::map<std::string, Hdf5Value>& attributes) {
  const auto found = attributes.find("units");
  return found == attributes.end() ? "" : found->second.text().value_or("");
}

void read_pixel_size(const std::map<std::string, Hdf5Value>& attributes, Entry& entry) {
  for (const auto& [name, value] : attributes) {
    if (!name.starts_with(pixel_size)) continue;
    entry.pixel_unit = name.substr(pixel_size.size());
    if (entry.pixel_unit == "A") entry.pixel_unit = "\u00c5";
    for (const Hdf5Value::Scalar& each : value.elements)
      if (const auto size = Hdf5Value{{}, {each}}.number()) entry.pixel.push_back(*size);
  }
}

}  // namespace

class StoredResult::Source {
 public:
  virtual ~Source() = default;
  [[nodiscard]] virtual std::vector<Entry> entries() const = 0;
  /// The attributes of the file and of its groups, "provenance" and "pattern/centre".
  [[nodiscard]] virtual std::map<std::string, Hdf5Value> attributes() const = 0;
  [[nodiscard]] virtual Array read(const std::string& name, const Shape& first, const Shape& count) const = 0;
  /// Bytes that read() holds at most.
  [[nodiscard]] virtual std::size_t reading_bytes(const std::string& name, std::size_t box_bytes) const = 0;
  [[nodiscard]] virtual bool reads_boxes() const { return false; }
};

namespace {

class Hdf5Source final : public StoredResult::Source {
 public:
  explicit Hdf5Source(const std::string& path) : file_(Hdf5File::open(path)) {}

  [[nodiscard]] std::vector<Entry> entries() const override {
    std::vector<Entry> entries;
    for (const std::string& path : file_.datasets()) {
      const Hdf5Dataset dataset = file_.dataset(path);
      const auto attributes = file_.attributes(path);
      const auto attribute = [&](const char* name) {
        const auto found = attributes.find(name);
        return found == attributes.end() ? std::nullopt : std::optional(found->second);
      };
      Entry& entry = entries.emplace_back();
      entry.name = path.substr(1);
      entry.shape = dataset.info().shape;
      entry.dtype = dataset.info().dtype;
      if (!entry.dtype) entry.text = texts_of(path);
      entry.unit = unit_of(attributes);
      entry.hidden = text_of(attribute("NAME")).starts_with("This is a netCDF dimension but not a netCDF variable");
      read_pixel_size(attributes, entry);
      for (const std::string& scale : file_.dimension_scales(path)) {
        entry.axes.push_back(base_name(scale));
        entry.places_of.push_back(scale.empty() ? "" : scale.substr(1));
      }
      if (const auto labels = attribute("DIMENSION_LABELS")) {
        entry.axes.resize(std::max(entry.axes.size(), labels->elements.size()));
        for (std::size_t i = 0; i < labels->elements.size(); ++i)
          if (const auto* label = std::get_if<std::string>(&labels->elements[i]); label != nullptr && !label->empty())
            entry.axes[i] = *label;
      }
    }
    return entries;
  }
  [[nodiscard]] std::map<std::string, Hdf5Value> attributes() const override {
    std::map<std::string, Hdf5Value> all = file_.attributes("/");
    for (const Hdf5Link& link : file_.list("/"))
      if (file_.is_group("/" + link.name))
        for (auto& [name, value] : file_.attributes("/" + link.name)) all.emplace(link.name + "/" + name, value);
    return all;
  }
  [[nodiscard]] Array read(const std::string& name, const Shape& first, const Shape& count) const override {
    return file_.dataset("/" + name).read(first, count);
  }
  [[nodiscard]] std::size_t reading_bytes(const std::string&, std::size_t box_bytes) const override {
    return box_bytes;
  }
  [[nodiscard]] bool reads_boxes() const override { return true; }

 private:
  [[nodiscard]] std::optional<std::string> texts_of(const std::string& path) const {
    const std::optional<Hdf5Value> value = file_.value(path);
    if (!value) return std::nullopt;
    std::string text;
    for (const Hdf5Value::Scalar& line : value->elements) {
      const auto* words = std::get_if<std::string>(&line);
      if (words == nullptr) return std::nullopt;
      text += (text.empty() ? "" : "\n") + *words;
    }
    return text;
  }

  Hdf5File file_;
};

class NetcdfSource final : public StoredResult::Source {
 public:
  explicit NetcdfSource(const std::string& path) : file_(NetcdfFile::open(path)) {}

  [[nodiscard]] std::vector<Entry> entries() const override {
    std::vector<Entry> entries;
    for (const std::string& name : file_.variables()) {
      Entry& entry = entries.emplace_back();
      entry.name = name;
      entry.shape = file_.shape(name);
      entry.dtype = file_.element_type(name);
      if (!entry.dtype && entry.shape.rank() == 1) entry.text = file_.text(name);
      entry.unit = text_of(file_.attribute(name, "units"));
      entry.axes = file_.dimensions(name);
    }
    return entries;
  }
  [[nodiscard]] std::map<std::string, Hdf5Value> attributes() const override {
    std::map<std::string, Hdf5Value> all;
    if (const auto schema = file_.attribute("", "schema")) all.emplace("schema", *schema);
    return all;
  }
  [[nodiscard]] Array read(const std::string& name, const Shape& first, const Shape& count) const override {
    return box_of(file_.read(name), first, count);
  }
  [[nodiscard]] std::size_t reading_bytes(const std::string& name, std::size_t box_bytes) const override {
    return box_bytes + static_cast<std::size_t>(file_.shape(name).count()) * sizeof(double);
  }

 private:
  NetcdfFile file_;
};

/// What an NPZ archive says of its arrays: {"D11": {"units": "m", "dimensions": ["rho", "nu"]}, "": {"schema": "..."}}.
constexpr const char* npz_attributes = "attributes_json";

class NpzSource final : public StoredResult::Source {
 public:
  NpzSource(const std::string& path, const Budget& budget) : path_(path), budget_(budget), archive_(path) {
    for (const ZipEntry& entry : archive_.entries()) {
      constexpr std::string_view ending = ".npy";
      if (!entry.name.ends_with(ending)) continue;
      const std::string name = entry.name.substr(0, entry.name.size() - ending.size());
      entries_.emplace(name, &entry);
      if (name == npz_attributes)
        if (const auto text = parse_npy_text(archive_.read(entry), path + ": " + entry.name))
          said_ = parse_json(*text, path + ": " + entry.name);
    }
  }

  [[nodiscard]] std::vector<Entry> entries() const override {
    std::vector<Entry> all;
    for (const auto& [name, stored] : entries_) {
      if (name == npz_attributes) continue;
      Entry& entry = all.emplace_back();
      entry.name = name;
      const std::string where = path_ + ": " + stored->name;
      const Reservation reserved = Budget(budget_).reserve(reading_bytes(name, 0), where);
      const std::vector<std::byte> bytes = archive_.read(*stored);
      entry.text = parse_npy_text(bytes, where);
      if (!entry.text) {
        const Array array = parse_npy(bytes, where);
        entry.dtype = array.dtype();
        entry.shape = array.shape();
      }
      const Value* said = said_.find(name);
      if (said == nullptr) continue;
      entry.unit = text_at(*said, "units");
      if (const Value* dimensions = said->find("dimensions"); dimensions != nullptr && dimensions->is_list())
        for (const Value& each : dimensions->items()) entry.axes.push_back(each.is_text() ? each.as_text() : "");
    }
    return all;
  }
  [[nodiscard]] std::map<std::string, Hdf5Value> attributes() const override {
    std::map<std::string, Hdf5Value> all;
    if (const Value* file = said_.find(""); file != nullptr && file->is_object())
      for (const auto& [name, value] : file->members())
        if (value.is_text()) all.emplace(name, Hdf5Value{{}, {value.as_text()}});
    return all;
  }
  [[nodiscard]] Array read(const std::string& name, const Shape& first, const Shape& count) const override {
    return box_of(parse_npy(archive_.read(*entries_.at(name)), path_ + ": " + name), first, count);
  }
  [[nodiscard]] std::size_t reading_bytes(const std::string& name, std::size_t box_bytes) const override {
    return box_bytes + 2 * static_cast<std::size_t>(entries_.at(name)->bytes);
  }

 private:
  std::string path_;
  Budget budget_;
  ZipReader archive_;
  std::map<std::string, const ZipEntry*> entries_;
  Value said_ = Value::object();
};

/// What a verb gave, as if its file had been read.
class ContentsSource final : public StoredResult::Source {
 public:
  explicit ContentsSource(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}

  [[nodiscard]] std::vector<Entry> entries() const override {
    std::vector<Entry> all;
    for (const Contents::Variable& variable : contents_->variables()) {
      Entry& entry = all.emplace_back();
      entry.name = variable.name;
      entry.text = variable.text;
      entry.unit = variable.unit();
      entry.axes = variable.dimensions;
      if (variable.text) continue;
      entry.dtype = variable.values.dtype();
      entry.shape = variable.values.shape();
      std::map<std::string, Hdf5Value> attributes;
      for (const auto& [key, value] : variable.attributes) attributes.emplace(key, value_of(value));
      read_pixel_size(attributes, entry);
    }
    return all;
  }
  [[nodiscard]] std::map<std::string, Hdf5Value> attributes() const override {
    std::map<std::string, Hdf5Value> all;
    for (const auto& [key, value] : contents_->attributes()) all.emplace(key, value_of(value));
    return all;
  }
  [[nodiscard]] Array read(const std::string& name, const Shape& first, const Shape& count) const override {
    return box_of(alias(contents_->find(name)->values), first, count);
  }
  [[nodiscard]] std::size_t reading_bytes(const std::string&, std::size_t box_bytes) const override {
    return box_bytes;
  }
  [[nodiscard]] bool reads_boxes() const override { return true; }

 private:
  static Hdf5Value value_of(const Contents::Attribute& attribute) {
    Hdf5Value value;
    if (const auto* numbers = std::get_if<std::vector<double>>(&attribute))
      value.elements.assign(numbers->begin(), numbers->end());
    else if (const auto* text = std::get_if<std::string>(&attribute))
      value.elements.emplace_back(*text);
    else if (const auto* number = std::get_if<double>(&attribute))
      value.elements.emplace_back(*number);
    else
      value.elements.emplace_back(std::get<std::int64_t>(attribute));
    return value;
  }

  std::shared_ptr<const Contents> contents_;
};

/// By the first bytes, whatever the file is called; nothing for other formats.
std::shared_ptr<const StoredResult::Source> open_source(const std::string& path, const Budget& budget) {
  std::array<char, 4> first{};
  {
    const sonde::File file(path);
    if (file.size() < first.size()) return nullptr;
    file.read_at(0, std::as_writable_bytes(std::span(first)));
  }
  const std::string_view start(first.data(), first.size());
  if (start == "\x89HDF") return std::make_shared<const Hdf5Source>(path);
  if (start.starts_with("CDF")) return std::make_shared<const NetcdfSource>(path);
  if (start == "PK\x03\x04") return std::make_shared<const NpzSource>(path, budget);
  return nullptr;
}

Value tree_of(const std::string& text) {
  if (!text.starts_with('{') && !text.starts_with('[')) return {};
  try {
    return parse_json(text, "text");
  } catch (const Error&) {
    return {};  // a text that only begins so
  }
}

/// The entry that holds the places of an axis: the one that the file names, else the one of that name beside or at the
/// root.
const Entry* places_of(const Entry& entry, std::size_t axis, const std::vector<Entry>& all) {
  std::vector<std::string> names;
  if (axis < entry.places_of.size()) names.push_back(entry.places_of[axis]);
  if (axis < entry.axes.size() && !entry.axes[axis].empty()) {
    names.push_back(entry.name.substr(0, entry.name.rfind('/') + 1) + entry.axes[axis]);
    names.push_back(entry.axes[axis]);
  }
  for (const std::string& name : names)
    for (const Entry& each : all)
      if (each.name == name && !each.hidden && each.dtype && each.shape == Shape{entry.shape[static_cast<int>(axis)]} &&
          each.shape[0] <= most_places)
        return &each;
  return nullptr;
}

/// "sonde.<instrument>.<what>/1". Acquisitions ("sonde.arina/1", "sonde.ptycho.scan/1") have more counts than a page of
/// arrays could show; the viewer of scans shows them.
bool is_result(const std::string& schema) {
  constexpr std::string_view ours = "sonde.";
  return schema.starts_with(ours) && schema.find('.', ours.size()) != std::string::npos &&
         schema.find(".scan/") == std::string::npos;
}

}  // namespace

bool Axis::even() const {
  if (places.size() < 3) return true;
  const double mean = (places.back() - places.front()) / static_cast<double>(places.size() - 1);
  for (std::size_t i = 1; i < places.size(); ++i)
    if (!(std::abs(places[i] - places[i - 1] - mean) <= 1e-3 * std::abs(mean))) return false;
  return true;
}

std::optional<StoredResult> StoredResult::open(const std::string& path, const Budget& budget) {
  return of(open_source(path, budget), path, budget);
}

std::optional<StoredResult> StoredResult::of(std::shared_ptr<const Contents> contents, const std::string& name) {
  return of(std::make_shared<const ContentsSource>(std::move(contents)), name, Budget::automatic(Device::cpu()));
}

std::optional<StoredResult> StoredResult::of(std::shared_ptr<const Source> source, const std::string& path,
                                             const Budget& budget) {
  if (source == nullptr) return std::nullopt;
  StoredResult result(budget);
  result.path_ = path;
  result.source_ = std::move(source);
  const std::map<std::string, Hdf5Value> attributes = result.source_->attributes();
  if (const auto schema = attributes.find("schema"); schema != attributes.end())
    result.schema_ = schema->second.text().value_or("");
  if (!is_result(result.schema_)) return std::nullopt;

  for (const auto& [name, value] : attributes) {
    if (name == "schema") continue;
    if (const auto number = value.number())
      result.numbers_.push_back({name, "", {*number}});
    else if (const auto text = value.text())
      result.texts_.push_back({name, *text, tree_of(*text)});
  }
  result.take_entries();
  return result;
}

void StoredResult::take_entries() {
  const std::vector<Entry> entries = source_->entries();
  std::vector<const Entry*> axes;  // that others have
  for (const Entry& entry : entries) {
    if (entry.hidden) continue;
    if (entry.text) {
      texts_.push_back({entry.name, *entry.text, tree_of(*entry.text)});
      continue;
    }
    if (!entry.dtype || entry.shape.count() == 0) continue;
    Quantity quantity{entry.name, entry.unit, *entry.dtype, {}};
    const bool scalar = entry.shape.rank() == 0;  // of a complex one both parts are numbers
    if (scalar || (entry.shape.rank() == 1 && entry.shape.count() <= few && !quantity.complex())) {
      Numbers& numbers = numbers_.emplace_back(Numbers{entry.name, entry.unit, {}});
      const Shape origin = scalar ? Shape{} : Shape{0};
      for (const std::vector<double>& part : planes_of(source_->read(entry.name, origin, entry.shape)))
        numbers.values.insert(numbers.values.end(), part.begin(), part.end());
      continue;
    }
    for (int i = 0; i < entry.shape.rank(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      Axis& axis = quantity.axes.emplace_back();
      axis.size = entry.shape[i];
      if (at < entry.axes.size()) axis.name = entry.axes[at];
      const int from_end = entry.shape.rank() - i;
      const auto pixels = static_cast<int>(entry.pixel.size());
      if (const Entry* places = places_of(entry, at, entries); places != nullptr && places != &entry) {
        axis.places = real_values(source_->read(places->name, Shape{0}, places->shape)).value_or(std::vector<double>{});
        axis.unit = places->unit;
        axes.push_back(places);
      } else if (from_end <= 2 && pixels > 0) {
        axis.step = entry.pixel[static_cast<std::size_t>(from_end <= pixels ? pixels - from_end : 0)];
        axis.unit = entry.pixel_unit;
      }
    }
    quantities_.push_back(std::move(quantity));
  }
  std::erase_if(quantities_, [&](const Quantity& quantity) {
    return std::any_of(axes.begin(), axes.end(), [&](const Entry* axis) { return axis->name == quantity.name; });
  });
}

std::optional<double> StoredResult::number(std::string_view name) const {
  for (const Numbers& numbers : numbers_)
    if (numbers.name == name && numbers.values.size() == 1 && std::isfinite(numbers.values[0]))
      return numbers.values[0];
  return std::nullopt;
}

bool StoredResult::reads_boxes() const { return source_->reads_boxes(); }

Array StoredResult::read(const Quantity& quantity, const Shape& first, const Shape& count) const {
  const std::size_t bytes = static_cast<std::size_t>(count.count()) * size_bytes(quantity.dtype);
  const Reservation reserved =
      Budget(budget_).reserve(source_->reading_bytes(quantity.name, bytes), quantity.name + " of " + path_);
  return source_->read(quantity.name, first, count);
}

namespace {

template <class T>
std::vector<std::vector<double>> complex_planes(const Array& array) {
  std::vector<std::vector<double>> planes(2);
  const std::span elements(static_cast<const std::complex<T>*>(array.data()), static_cast<std::size_t>(array.count()));
  for (const std::complex<T>& each : elements) {
    planes[0].push_back(static_cast<double>(each.real()));
    planes[1].push_back(static_cast<double>(each.imag()));
  }
  return planes;
}

}  // namespace

std::vector<std::vector<double>> planes_of(const Array& array) {
  if (array.dtype() == DType::c64) return complex_planes<float>(array);
  if (array.dtype() == DType::c128) return complex_planes<double>(array);
  return {real_values(array).value_or(std::vector<double>{})};
}

}  // namespace sonde::panel
