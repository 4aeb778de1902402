// SPDX-License-Identifier: Apache-2.0
// What a client sees as files. The numbers are those that were sent; images are written as `sonde stem image` does.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/interrupt.h"
#include "sonde/engine/figure/image.h"
#include "sonde/engine/io/npy.h"
#include "sonde/engine/io/png.h"
#include "sonde/engine/io/tiff.h"
#include "sonde/engine/io/zip.h"
#include "sonde/engine/report/json.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/stem/results/depiction.h"
#include "sonde/instruments/stem/results/image_record.h"
#include "sonde/instruments/stem/results/provenance.h"
#include "sonde/instruments/stem/view/scratch_folder.h"
#include "sonde/instruments/stem/view/session.h"
#include "sonde/instruments/stem/view/shape_text.h"
#include "sonde/instruments/stem/view/snapshot.h"

namespace sonde::stem {
namespace {

using panel::File;

const std::map<std::string, std::string>& media_types() {
  static const std::map<std::string, std::string> all = {
      {"png", "image/png"},         {"tiff", "image/tiff"}, {"npy", "application/octet-stream"}, {"csv", "text/csv"},
      {"json", "application/json"}, {"html", "text/html"},  {"zip", "application/zip"}};
  return all;
}

std::string ending(const std::string& format) { return format == "tiff" ? "tif" : format; }

/// A file name of words that any system takes.
std::string plain_name(const std::string& text) {
  std::string name;
  for (const char c : text) name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '.' ? c : '_';
  return name.empty() ? "sonde" : name;
}

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

File named(const std::string& name, const std::string& format, std::vector<std::byte> bytes) {
  return {plain_name(name) + "." + ending(format), media_types().at(format), std::move(bytes)};
}

/// Rows of numbers, with all their digits: floats as short as they read back.
std::string csv_of(const Array& values) {
  std::string text;
  const auto write = [&](const auto* numbers) {
    const Index cols = values.shape()[1];
    for (Index p = 0; p < values.count(); ++p) {
      if (p % cols == 0) check_interrupt();
      text += fmt::format("{}{}", numbers[p], (p + 1) % cols != 0 ? "," : "\n");
    }
  };
  if (values.dtype() == DType::u64)
    write(static_cast<const std::uint64_t*>(values.data()));
  else if (values.dtype() == DType::f32)
    write(static_cast<const float*>(values.data()));
  else
    write(static_cast<const double*>(values.data()));
  return text;
}

/// u32 where counts fit, else f32: what TIFF readers know.
Array stack_for_tiff(const Array& stack) {
  if (stack.dtype() == DType::f32) return stack.clone();
  if (stack.dtype() == DType::f64) {
    Array made(Device::cpu(), stack.shape(), DType::f32);
    const auto* from = static_cast<const double*>(stack.data());
    std::transform(from, from + stack.count(), static_cast<float*>(made.data()),
                   [](double value) { return static_cast<float>(value); });
    return made;
  }
  const auto* from = static_cast<const std::uint64_t*>(stack.data());
  const bool fits = *std::max_element(from, from + stack.count()) <= max_value(DType::u32);
  Array made(Device::cpu(), stack.shape(), fits ? DType::u32 : DType::f32);
  if (fits)
    std::transform(from, from + stack.count(), static_cast<std::uint32_t*>(made.data()),
                   [](std::uint64_t value) { return static_cast<std::uint32_t>(value); });
  else
    std::transform(from, from + stack.count(), static_cast<float*>(made.data()),
                   [](std::uint64_t value) { return static_cast<float>(value); });
  return made;
}

}  // namespace

panel::File ClientSession::export_file(const Value& request) {
  const ProgressScope silent([](const Progress&) {});
  const std::lock_guard lock(mutex_);
  const panel::Command command{0, "export", request};
  return make_file(Arguments(command, {"what", "format", "channel", "client"}));
}

Value ClientSession::export_and_send(const Arguments& arguments) {
  File file = make_file(arguments);
  Value reply;
  reply["name"] = file.name;
  reply["media_type"] = file.media_type;
  reply["bytes"] = file.bytes.size();
  std::vector<std::uint8_t> payload(file.bytes.size());
  std::memcpy(payload.data(), file.bytes.data(), payload.size());
  panel::Frame frame = panel::make_frame<std::uint8_t>(panel::FrameKind::file, 1, static_cast<Index>(payload.size()),
                                                       std::span<const std::uint8_t>(payload));
  frame.request = request_;
  outlet_->send(std::move(frame));
  return reply;
}

panel::File ClientSession::make_file(const Arguments& arguments) {
  static const std::map<std::string, std::vector<std::string>> known = {
      {"image", {"png", "tiff", "npy", "csv"}},
      {"pattern", {"png", "tiff", "npy", "csv"}},
      {"region", {"png", "tiff", "npy", "csv"}},
      {"spectrum", {"png", "tiff", "npy", "csv"}},
      {"profile", {"csv", "npy", "json"}},
      {"series", {"zip", "tiff", "npy"}},
      {"state", {"json"}},
      {"snapshot", {"html"}},
  };
  std::vector<std::string> words;
  for (const auto& [word, formats] : known) words.push_back(word);
  const std::string what = arguments.word("what", words);
  const std::string format = arguments.word("format", known.at(what));
  const Index channel = arguments.whole_or("channel", 0, most_channels - 1, 0);
  if (what == "state") return named("state", format, bytes_of(to_json(state_value(client_)) + "\n"));
  const Target current = sound_target(arguments);
  if (what == "series") return series_file(current.id(), format, channel);
  if (!current.dataset) arguments.fail("the scan is still being loaded", "wait until it is there");
  if (what == "profile") return profile_file(current, format);
  if (what == "snapshot") return snapshot_file(current);
  return panel_file(current, what, format, channel);
}

Value ClientSession::record_of(const Target& target, const std::string& what, Index channel) {
  if (what == "image") {
    const Shown shown = image(target, view_.channels[static_cast<std::size_t>(channel)].detector);
    DetectorOptions options;
    const std::string& text = view_.channels[static_cast<std::size_t>(channel)].detector;
    const DetectorImage made{text, shown.path, shown.area, shown.mask_hash,
                             PanelValues{shown.frame, {}, {}, shown.exact}.kept()};
    return image_record(*target.dataset, made, options, {},
                        geometry(target, is_moment(text) || DetectorExpression::parse(text).needs_disk()),
                        std::nullopt);
  }
  Value record = provenance(*target.dataset);
  Value& panel = record["panel"];
  panel["what"] = what;
  if (what == "pattern") {
    panel["row"] = view_.scan_row;
    panel["col"] = view_.scan_col;
  } else if (what == "region") {
    panel["region"] = view_.scan_roi.empty() ? Value() : Value(view_.scan_roi);
    panel["reduction"] = name(view_.reduction);
  } else {
    const ClientView::Channel& chosen = channel_with_detector(channel);
    panel["detector"] = chosen.detector;
    panel["window"] = chosen.hann ? "hann" : "none";
    panel["mean"] = "taken away before the window";
  }
  return record;
}

panel::File ClientSession::panel_file(const Target& target, const std::string& what, const std::string& format,
                                      Index channel) {
  const PanelValues values = values_of(target, what, channel);
  std::string name = target.entry->item_label(target.item) + "_";
  if (what == "pattern")
    name += fmt::format("pattern_{}_{}", view_.scan_row, view_.scan_col);
  else if (what == "region")
    name += std::string(sonde::stem::name(view_.reduction));
  else
    name += (what == "spectrum" ? "spectrum_" : "") + short_expression(channel_with_detector(channel).detector);
  if (format == "csv") return named(name, format, bytes_of(csv_of(values.kept())));
  const ScratchFolder folder;
  const std::string file = "panel." + ending(format);
  Value record = record_of(target, what, channel);
  if (const Value* told = values.depiction.record.find("deflection"); told != nullptr && format == "png")
    record["detector"]["deflection"] = *told;
  save_image(folder.file(file), format == "png" ? values.array() : values.kept(), values.scale, {}, std::move(record),
             values.depiction);
  return named(name, format, folder.read(file));
}

panel::File ClientSession::profile_file(const Target& target, const std::string& format) {
  if (!view_.line) throw Error(ErrorKind::bad_input, "no line profile was taken").hint("draw a line first");
  ImageScale scale;
  const LineProfile profile = profile_along(target, *view_.line, scale);
  const double unit_per_px = units_per_px(profile, scale);
  std::vector<float> values(profile.values.begin(), profile.values.end());  // as sent
  const std::string name = target.entry->item_label(target.item) + "_profile";
  if (format == "npy") {
    const ScratchFolder folder;
    write_npy(folder.file("profile.npy"), Array::from(values, {static_cast<Index>(values.size())}));
    return named(name, format, folder.read("profile.npy"));
  }
  const auto distance = [&](std::size_t i) { return static_cast<double>(i) * profile.step_px * unit_per_px; };
  if (format == "csv") {
    std::string text = fmt::format("distance_{},value\n", scale.unit == "1/nm" ? "per_nm" : scale.unit);
    for (std::size_t i = 0; i < values.size(); ++i) text += fmt::format("{},{}\n", distance(i), values[i]);
    return named(name, format, bytes_of(text));
  }
  Value record = provenance(*target.dataset);
  Value& line = record["profile"];
  line["panel"] = view_.line->panel;
  if (view_.line->panel == "image" || view_.line->panel == "spectrum")
    line["detector"] = channel_with_detector(view_.line->channel).detector;
  line["width_px"] = view_.line->width;
  line["unit"] = scale.unit;
  line["fwhm"] = profile.fwhm_px ? Value(*profile.fwhm_px * unit_per_px) : Value();
  for (std::size_t i = 0; i < values.size(); ++i) {
    line["distance"].push_back(distance(i));
    line["value"].push_back(static_cast<double>(values[i]));
  }
  return named(name, format, bytes_of(to_json(record) + "\n"));
}

panel::File ClientSession::series_file(Index dataset, const std::string& format, Index channel) {
  const std::string detector = channel_with_detector(channel).detector;
  Target item{catalogue_.entry(dataset), 0, nullptr};
  const Index items = item.entry->size();
  std::vector<PanelValues> images;
  for (item.item = 0; item.item < items; ++item.item) {
    check_interrupt();
    item.dataset = item.entry->held(item.item);
    const auto kept = catalogue_.cache().find(image_key(item, detector));
    if (!kept && !item.dataset)
      throw Error(ErrorKind::bad_input,
                  fmt::format("item {} of {} is not in memory, and its image was not made yet", item.item, items))
          .hint("play the series, and export it when all of it is ready");
    const Shown shown = kept ? *kept : image(item, detector);
    images.push_back({shown.frame, {}, {}, shown.exact});
  }
  const std::string name = fmt::format("{}_{}", item.entry->label(), short_expression(detector));
  const ScratchFolder folder;
  const std::string file = "series." + ending(format);
  if (format == "zip") {
    // One range for all, so that brightness can be compared.
    const std::optional<Moment> moment = moment_of(detector);
    const bool counts = images.front().frame.type != panel::FrameType::f32;
    ImageStyle style =
        picture_style(moment ? depiction_of(*moment, deflection_unit(*moment, item.entry->pixel_mrad()), {})
                             : Depiction{.unit = counts ? "counts" : ""},
                      {}, {});
    for (const PanelValues& values : images) {
      if (style.colours == ColourMap::phase) break;  // the whole circle
      const ValueRange range = percentile_range(values.array(), style.low_percentile, style.high_percentile);
      style.low = std::min(style.low.value_or(range.low), range.low);
      style.high = std::max(style.high.value_or(range.high), range.high);
    }
    ZipWriter zip(folder.file(file));
    for (std::size_t i = 0; i < images.size(); ++i) {
      check_interrupt();
      const std::vector<std::byte> png = encode_png(render_image(images[i].array(), style));
      const std::array<std::span<const std::byte>, 1> parts = {png};
      zip.add(fmt::format("{:04}_{}.png", i, plain_name(item.entry->item_label(static_cast<Index>(i)))), parts,
              ZipMethod::stored);
    }
    zip.commit();
    return named(name, format, folder.read(file));
  }
  Array stack(Device::cpu(), {items, images.front().rows(), images.front().cols()}, images.front().kept().dtype());
  auto* to = static_cast<std::byte*>(stack.data());
  for (const PanelValues& values : images) {
    const Array image = values.kept();
    std::memcpy(to, image.data(), image.allocated_bytes());
    to += image.allocated_bytes();
  }
  if (format == "npy")
    write_npy(folder.file(file), stack);
  else
    write_tiff(folder.file(file), stack_for_tiff(stack));
  return named(name, format, folder.read(file));
}

panel::File ClientSession::snapshot_file(const Target& target) {
  Snapshot snapshot;
  snapshot.title = target.entry->item_label(target.item);
  const auto add = [&](const std::string& caption, const std::string& what, Index channel) {
    snapshot.pictures.emplace_back(caption, panel_file(target, what, "png", channel).bytes);
  };
  for (Index channel = 0; channel < most_channels; ++channel)
    if (const std::string& text = view_.channels[static_cast<std::size_t>(channel)].detector; !text.empty())
      add(short_expression(text), "image", channel);
  add(fmt::format("pattern at row {}, column {}", view_.scan_row, view_.scan_col), "pattern", 0);
  add(fmt::format("{} over {}", name(view_.reduction),
                  view_.scan_roi.empty() ? "the whole scan" : short_expression(view_.scan_roi)),
      "region", 0);
  const Value record = provenance(*target.dataset);
  snapshot.facts.emplace_back("file", target.entry->item_path(target.item));
  for (const char* fact : {"dtype", "layout", "version"})
    snapshot.facts.emplace_back(fact, record.find(fact)->as_text());
  snapshot.facts.emplace_back("shape", target.dataset->shape().text());
  snapshot.state = to_json(state_value(client_));
  return named(snapshot.title, "html", bytes_of(to_html(snapshot)));
}

}  // namespace sonde::stem
