// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/read/channels.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/text.h"

namespace sonde::stem {
namespace {

std::string group_of(const std::string& dataset) {
  const std::size_t slash = dataset.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : dataset.substr(0, slash);
}

std::string inside(const std::string& group, const std::string& name) {
  return (group == "/" ? "" : group) + "/" + name;
}

std::string text_of(const Hdf5Value::Scalar& element) {
  return std::visit(
      [](const auto& value) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>)
          return std::string(trim(value));
        else
          return fmt::format("{}", value);
      },
      element);
}

std::vector<std::string> texts_of(const std::optional<Hdf5Value>& value) {
  std::vector<std::string> texts;
  if (value)
    for (const Hdf5Value::Scalar& element : value->elements) texts.push_back(text_of(element));
  return texts;
}

/// The names of the axes of a group: a list, or as older NeXus has it one text, "image_id:channel:y:x".
std::vector<std::string> axes_of(const Hdf5File& file, const std::string& group) {
  const std::vector<std::string> texts = texts_of(file.attribute(group, "axes"));
  if (texts.size() != 1) return texts;
  const char separator = texts[0].find(':') != std::string::npos ? ':' : ',';
  std::vector<std::string> axes;
  for (const std::string& part : split(texts[0], separator)) axes.emplace_back(trim(part));
  return axes;
}

/// Whether the slowest axis counts images, as data files of DECTRIS say: then the next one is no axis of the scan.
bool numbers_images(const Hdf5File& file, const std::string& dataset, const Shape& shape) {
  const auto whole = [&](const char* name) {
    const auto value = file.attribute(dataset, name);
    return value ? value->integer() : std::nullopt;
  };
  const auto low = whole("image_nr_low"), high = whole("image_nr_high");
  return low && high && *low > 0 && *high >= *low && *high - *low == shape[0] - 1;
}

/// "threshold_1" of every group ".../threshold_1_channel" of the detector that the data belong to.
std::vector<std::string> described_channels(const Hdf5File& file) {
  constexpr std::string_view ending = "_channel";
  std::vector<std::string> names;
  for (const Hdf5Link& link : file.list("/entry/instrument/detector"))
    if (link.name.size() > ending.size() && link.name.ends_with(ending))
      names.push_back(link.name.substr(0, link.name.size() - ending.size()));
  return names;
}

}  // namespace

void require_no_channels(const Hdf5File& file, const std::string& dataset, const Shape& shape) {
  if (shape.rank() != 4) return;
  const std::string group = group_of(dataset), list = inside(group, "channel");
  const std::vector<std::string> axes = axes_of(file, group);
  std::vector<std::string> names;
  if (file.is_dataset(list)) names = texts_of(file.value(list));
  const bool listed = static_cast<Index>(names.size()) == shape[1];
  const bool axis = axes.size() == 4 && axes[1] == "channel";
  const std::vector<std::string> described = described_channels(file);
  const bool is_described = static_cast<Index>(described.size()) == shape[1];
  if (!listed && !axis && !is_described && !numbers_images(file, dataset, shape)) return;
  if (!listed) names = described;
  throw Error(
      ErrorKind::not_supported,
      fmt::format("{}, {}: shape {} is (frames, channels, rows, cols){}; a scan of one channel is read", file.path(),
                  dataset, shape.text(), names.empty() ? "" : fmt::format(", with the channels {}", join_words(names))))
      .hint(fmt::format("copy one channel to a file of its own, for instance with h5py: data[:, 0] of {} is the first",
                        dataset));
}

}  // namespace sonde::stem
