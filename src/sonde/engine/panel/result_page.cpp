// SPDX-License-Identifier: Apache-2.0
#include "sonde/engine/panel/result_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/panel/contents.h"
#include "sonde/engine/panel/frame.h"

namespace sonde::panel {
namespace {

constexpr Index most_pixels = 1024;  // along a side of what is sent
constexpr Index most_points = 2000;  // of a curve
constexpr Index most_curves = 8;     // that can be distinguished by their colours
constexpr Index too_few = 8;         // elements of an axis that make no picture
constexpr std::size_t band_bytes = std::size_t{8} << 20;

Index groups_of(Index count, Index most) { return std::max<Index>(1, (count + most - 1) / most); }

Value axis_value(const Axis& axis) {
  Value value;
  value["name"] = axis.name;
  value["unit"] = unit_text(axis.unit);
  value["size"] = axis.size;
  const bool several = axis.size > 1;
  value["first"] = axis.place(0);
  value["step"] =
      several ? (axis.place(axis.size - 1) - axis.place(0)) / static_cast<double>(axis.size - 1) : axis.step;
  return value;
}

/// Axes that are chosen with sliders, with the places of their elements.
Value sliders(const Quantity& quantity, const std::vector<int>& shown) {
  Value list = Value::list();
  for (std::size_t i = 0; i < quantity.axes.size(); ++i) {
    const bool is_shown = std::find(shown.begin(), shown.end(), static_cast<int>(i)) != shown.end();
    if (is_shown || quantity.axes[i].size < 2) continue;
    Value axis = axis_value(quantity.axes[i]);
    axis["axis"] = static_cast<Index>(i);
    if (!quantity.axes[i].places.empty()) axis["places"] = quantity.axes[i].places;
    list.push_back(std::move(axis));
  }
  return list;
}

/// Rows and columns of a picture: those that are given, else the last two axes that have more than one element, else
/// the last two.
std::array<int, 2> picture_axes(const ResultPanel& panel, const Quantity& quantity) {
  if (panel.kind == ResultPanel::Kind::colours) return {0, 1};
  if (panel.family >= 0) return {panel.family, panel.along};
  const auto rank = static_cast<int>(quantity.axes.size());
  std::vector<int> long_ones;
  for (int i = 0; i < rank; ++i)
    if (quantity.axes[static_cast<std::size_t>(i)].size > 1) long_ones.push_back(i);
  if (long_ones.size() < 2) return {rank - 2, rank - 1};
  return {long_ones.end()[-2], long_ones.back()};
}

std::vector<int> shown_axes(const ResultPanel& panel, const Quantity& quantity) {
  if (panel.kind == ResultPanel::Kind::curves) return {panel.along, panel.family};
  const auto [row, col] = picture_axes(panel, quantity);
  if (panel.kind == ResultPanel::Kind::colours) return {row, col, static_cast<int>(quantity.axes.size()) - 1};
  return {row, col};
}

/// What is shown of a number: of complex ones phase (rad) and amplitude.
enum class Part { value, phase, amplitude };

std::vector<float> part_of(const std::vector<std::vector<double>>& planes, Part part) {
  std::vector<float> values(planes[0].size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = part == Part::value   ? planes[0][i]
                         : part == Part::phase ? std::atan2(planes[1][i], planes[0][i])
                                               : std::hypot(planes[0][i], planes[1][i]);
    values[i] = static_cast<float>(value);
  }
  return values;
}

struct PartText {
  Part part;
  const char *name, *unit;
};

std::vector<PartText> parts_of(const Quantity& quantity) {
  if (!quantity.complex()) return {{Part::value, "", ""}};
  return {{Part::phase, "phase", "rad"}, {Part::amplitude, "amplitude", ""}};
}

const char* type_of(ResultPanel::Kind kind) {
  switch (kind) {
    case ResultPanel::Kind::image:
      return "picture";
    case ResultPanel::Kind::vectors:
      return "vectors";
    case ResultPanel::Kind::labels:
      return "labels";
    case ResultPanel::Kind::colours:
      return "colours";
    default:
      return "curves";
  }
}

bool is_picture(ResultPanel::Kind kind) {
  return kind != ResultPanel::Kind::curves && kind != ResultPanel::Kind::points;
}

/// The elements of one panel that one `show` asks for.
struct Slice {
  Shape first, count;
};

/// Means of blocks of (rows_of, cols_of) elements, the last ones as far as they reach; not-a-number is left out.
class BlockMeans {
 public:
  BlockMeans(Index rows, Index cols, Index rows_of, Index cols_of)
      : cols_(cols),
        rows_of_(rows_of),
        cols_of_(cols_of),
        made_rows_((rows + rows_of - 1) / rows_of),
        made_cols_((cols + cols_of - 1) / cols_of),
        sums_(static_cast<std::size_t>(made_rows_ * made_cols_)),
        counts_(sums_.size()) {}
  /// `names`: of values that have no mean the last one of a block counts.
  void add(Index first_row, Index rows, std::span<const double> values, bool names) {
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < cols_; ++c) {
        const auto at = static_cast<std::size_t>((first_row + r) / rows_of_ * made_cols_ + c / cols_of_);
        const double value = values[static_cast<std::size_t>(r * cols_ + c)];
        if (std::isnan(value)) continue;
        sums_[at] = names ? value : sums_[at] + value;
        counts_[at] = names ? 1 : counts_[at] + 1;
      }
  }
  [[nodiscard]] Index rows() const { return made_rows_; }
  [[nodiscard]] Index cols() const { return made_cols_; }
  /// Not-a-number for a block without a value.
  [[nodiscard]] std::vector<double> means() const {
    std::vector<double> means(sums_.size());
    for (std::size_t i = 0; i < means.size(); ++i) means[i] = sums_[i] / static_cast<double>(counts_[i]);
    return means;
  }

 private:
  Index cols_, rows_of_, cols_of_, made_rows_, made_cols_;
  std::vector<double> sums_;
  std::vector<Index> counts_;
};

class ResultView {
 public:
  ResultView(std::shared_ptr<const StoredResult> result, std::vector<ResultPanel> panels)
      : result_(std::move(result)), panels_(std::move(panels)) {}

  [[nodiscard]] const StoredResult& result() const { return *result_; }
  [[nodiscard]] const std::vector<ResultPanel>& panels() const { return panels_; }
  /// This view with the quantities of another result in place of those of equal names. Their axes must be equal too.
  [[nodiscard]] ResultView with(std::shared_ptr<const StoredResult> adjusted) const {
    ResultView view(result_, panels_);
    view.adjusted_ = std::move(adjusted);
    return view;
  }

  [[nodiscard]] Value options(std::size_t number) const;
  void show(const Command& command, Outlet& outlet) const;

 private:
  [[nodiscard]] const Quantity& quantity(const std::string& name) const;
  [[nodiscard]] Array read(const Quantity& quantity, const Shape& first, const Shape& count) const {
    return holder_of(quantity).read(quantity, first, count);
  }
  [[nodiscard]] const StoredResult& holder_of(const Quantity& quantity) const {
    return adjusted_ && find(*adjusted_, quantity.name) != nullptr ? *adjusted_ : *result_;
  }
  static const Quantity* find(const StoredResult& result, const std::string& name) {
    for (const Quantity& each : result.quantities())
      if (each.name == name) return &each;
    return nullptr;
  }
  [[nodiscard]] std::size_t panel_of(const Command& command) const;
  [[nodiscard]] Slice slice_of(const Command& command, const ResultPanel& panel, const Quantity& quantity) const;
  void show_image(const Command& command, std::size_t number, Outlet& outlet) const;
  [[nodiscard]] std::vector<BlockMeans> means_of(const ResultPanel& panel, const Quantity& shown,
                                                 const Slice& slice) const;
  /// The pixels of one frame.
  struct Plane {
    Index rows = 0, cols = 0;
    std::vector<float> values;
  };
  /// Three elements of the last axis: of u8 as the bytes of one number, the first the highest, of others each by
  /// itself.
  [[nodiscard]] std::vector<Plane> colour_planes(const Command& command, const ResultPanel& panel,
                                                 const Quantity& shown) const;
  [[nodiscard]] std::vector<Plane> planes_shown(const Command& command, const ResultPanel& panel) const;
  [[nodiscard]] Value curves(const Command& command, const ResultPanel& panel) const;
  [[nodiscard]] Value points(const ResultPanel& panel) const;

  std::shared_ptr<const StoredResult> result_, adjusted_;
  std::vector<ResultPanel> panels_;
};

const Quantity& ResultView::quantity(const std::string& name) const {
  if (adjusted_)
    if (const Quantity* found = find(*adjusted_, name)) return *found;
  if (const Quantity* found = find(*result_, name)) return *found;
  throw Error(ErrorKind::internal, fmt::format("{}: no quantity {}", result_->path(), name));
}

/// Channels of a panel's parts: at most five for each panel.
std::uint16_t channel_of(std::size_t panel, std::size_t part) { return static_cast<std::uint16_t>(5 * panel + part); }

Value ResultView::options(std::size_t number) const {
  const ResultPanel& panel = panels_[number];
  const Quantity& first = quantity(panel.quantities.front());
  Value options;
  options["panel"] = number;
  if (panel.kind == ResultPanel::Kind::points) {
    options["marks"] = "points";
    options["x"] = axis_value({.name = "column", .unit = first.unit});
    options["y"] = axis_value({.name = "row", .unit = first.unit});
    options["sliders"] = Value::list();
    return options;
  }
  options["sliders"] = sliders(first, shown_axes(panel, first));
  if (panel.kind == ResultPanel::Kind::curves) {
    options["x"] = axis_value(first.axes[static_cast<std::size_t>(panel.along)]);
    options["y"] = axis_value({.name = "", .unit = first.unit});
    if (panel.family >= 0) options["family"] = axis_value(first.axes[static_cast<std::size_t>(panel.family)]);
    return options;
  }
  const auto [row, col] = picture_axes(panel, first);
  options["rows"] = axis_value(first.axes[static_cast<std::size_t>(row)]);
  options["cols"] = axis_value(first.axes[static_cast<std::size_t>(col)]);
  options["parts"] = Value::list();
  const auto add_part = [&](const char* name, const std::string& unit) {
    Value each;
    each["name"] = name;
    each["unit"] = unit;
    each["channel"] = static_cast<Index>(channel_of(number, options["parts"].size()));
    options["parts"].push_back(std::move(each));
  };
  if (!panel.range.empty())
    for (std::size_t i = 0; i < panels_.size(); ++i)
      if (panels_[i].range == panel.range) options["shares"].push_back(static_cast<Index>(channel_of(i, 0)));
  if (panel.kind == ResultPanel::Kind::vectors)
    for (const char* name : {"x", "y"}) add_part(name, unit_text(first.unit));
  else if (panel.kind == ResultPanel::Kind::colours)
    for (const std::string& name : panel.quantities)
      if (quantity(name).dtype == DType::u8)
        add_part(&name == &panel.quantities.front() ? "colours" : "legend", "");
      else
        for (const char* axis : {"x", "y", "z"}) add_part(axis, "");
  else
    for (const PartText& part : parts_of(first))
      add_part(part.name, part.part == Part::phase ? part.unit : unit_text(first.unit));
  return options;
}

std::size_t ResultView::panel_of(const Command& command) const {
  const Value* panel = command.arguments.find("panel");
  const Index number = panel != nullptr && panel->is_whole() ? panel->as_whole() : -1;
  if (number < 0 || number >= static_cast<Index>(panels_.size()))
    throw Error(ErrorKind::bad_input, fmt::format("show: expected a panel from 0 to {}", panels_.size() - 1));
  return static_cast<std::size_t>(number);
}

Slice ResultView::slice_of(const Command& command, const ResultPanel& panel, const Quantity& quantity) const {
  const Value* index = command.arguments.find("index");
  const std::vector<int> shown = shown_axes(panel, quantity);
  Slice slice;
  for (std::size_t i = 0; i < quantity.axes.size(); ++i) {
    const Index size = quantity.axes[i].size;
    const bool whole = std::find(shown.begin(), shown.end(), static_cast<int>(i)) != shown.end();
    Index at = 0;
    if (!whole && index != nullptr && index->is_list() && i < index->size()) {
      const Value& each = index->items()[i];
      at = each.is_whole() ? each.as_whole() : -1;
      if (at < 0 || at >= size)
        throw Error(ErrorKind::bad_input,
                    fmt::format("show: {} has the elements 0 to {} along axis {}", quantity.name, size - 1, i));
    }
    slice.first.append(at);
    slice.count.append(whole ? size : 1);
  }
  return slice;
}

std::vector<BlockMeans> ResultView::means_of(const ResultPanel& panel, const Quantity& shown,
                                             const Slice& slice) const {
  const auto rank = static_cast<int>(shown.axes.size());
  const auto [row_axis, col_axis] = picture_axes(panel, shown);
  const Index rows = slice.count[row_axis], cols = slice.count[col_axis];
  // Of complex numbers the means are taken before their phase: that of a block that the phase wraps in is right too.
  std::vector<BlockMeans> planes(shown.complex() ? 2 : 1,
                                 BlockMeans(rows, cols, groups_of(rows, most_pixels), groups_of(cols, most_pixels)));
  // A band of rows at a time, so that a picture of any size takes little memory, where reading a part costs a part.
  const auto row_bytes = static_cast<std::size_t>(cols) * size_bytes(shown.dtype);
  const Index band = !holder_of(shown).reads_boxes()
                         ? rows
                         : std::max<Index>(1, static_cast<Index>(band_bytes / std::max<std::size_t>(1, row_bytes)));
  for (Index row = 0; row < rows; row += band) {
    Shape first, count;
    for (int i = 0; i < rank; ++i) {
      first.append(i == row_axis ? row : slice.first[i]);
      count.append(i == row_axis ? std::min(band, rows - row) : slice.count[i]);
    }
    const std::vector<std::vector<double>> values = planes_of(read(shown, first, count));
    for (std::size_t i = 0; i < planes.size(); ++i)
      planes[i].add(row, count[row_axis], values[i], panel.kind == ResultPanel::Kind::labels);
  }
  return planes;
}

std::vector<ResultView::Plane> ResultView::colour_planes(const Command& command, const ResultPanel& panel,
                                                         const Quantity& shown) const {
  const Slice all_parts = slice_of(command, panel, shown);
  const auto last = static_cast<int>(shown.axes.size()) - 1;
  std::vector<Plane> planes;
  for (Index part = 0; part < 3; ++part) {
    Slice slice;
    for (int i = 0; i <= last; ++i) {
      slice.first.append(i == last ? part : all_parts.first[i]);
      slice.count.append(i == last ? 1 : all_parts.count[i]);
    }
    const BlockMeans means = means_of(panel, shown, slice).front();
    planes.push_back({means.rows(), means.cols(), part_of({means.means()}, Part::value)});
  }
  if (shown.dtype != DType::u8) return planes;
  Plane all = planes[0];
  for (std::size_t i = 0; i < all.values.size(); ++i)
    all.values[i] = 65536 * std::round(planes[0].values[i]) + 256 * std::round(planes[1].values[i]) +
                    std::round(planes[2].values[i]);  // below 2^24: exact
  return {all};
}

std::vector<ResultView::Plane> ResultView::planes_shown(const Command& command, const ResultPanel& panel) const {
  std::vector<Plane> all;
  for (const std::string& name : panel.quantities) {
    const Quantity& shown = quantity(name);
    if (panel.kind == ResultPanel::Kind::colours) {
      for (Plane& plane : colour_planes(command, panel, shown)) all.push_back(std::move(plane));
      continue;
    }
    const std::vector<BlockMeans> planes = means_of(panel, shown, slice_of(command, panel, shown));
    std::vector<std::vector<double>> means;
    for (const BlockMeans& plane : planes) means.push_back(plane.means());
    for (const PartText& part : parts_of(shown))
      all.push_back({planes[0].rows(), planes[0].cols(), part_of(means, part.part)});
  }
  return all;
}

void ResultView::show_image(const Command& command, std::size_t number, Outlet& outlet) const {
  const ResultPanel& panel = panels_[number];
  std::vector<Plane> planes = planes_shown(command, panel);
  const Quantity& first = quantity(panel.quantities.front());
  const auto [row_axis, col_axis] = picture_axes(panel, first);
  Value reply;
  reply["panel"] = number;
  for (const int axis : {row_axis, col_axis})
    reply["one_of"].push_back(groups_of(first.axes[static_cast<std::size_t>(axis)].size, most_pixels));
  outlet.reply(command, std::move(reply));
  for (std::size_t i = 0; i < planes.size(); ++i) {
    Frame frame = make_frame<float>(FrameKind::image, planes[i].rows, planes[i].cols, std::move(planes[i].values));
    frame.request = command.id;
    frame.channel = channel_of(number, i);
    outlet.send(std::move(frame));
  }
}

/// Every n-th of some numbers, and the last.
Value thinned(std::span<const float> values) {
  Value list = Value::list();
  const auto count = static_cast<Index>(values.size());
  const Index every = groups_of(count, most_points);
  for (Index i = (count - 1) % every; i < count; i += every) {
    const auto value = static_cast<double>(values[static_cast<std::size_t>(i)]);
    list.push_back(std::isfinite(value) ? Value(value) : Value());
  }
  return list;
}

Value places(const Axis& axis) {
  Value list = Value::list();
  const Index every = groups_of(axis.size, most_points);
  for (Index i = (axis.size - 1) % every; i < axis.size; i += every) list.push_back(axis.place(i));
  return list;
}

std::string element_text(const Axis& axis, Index i) {
  const std::string unit = axis.unit.empty() ? "" : " " + unit_text(axis.unit);
  const std::string name = axis.name.empty() ? "" : axis.name + " ";
  const bool has_place = !axis.places.empty() && std::isfinite(axis.place(i));
  return has_place ? fmt::format("{}{:.4g}{}", name, axis.place(i), unit) : fmt::format("{}{}", name, i);
}

Value ResultView::curves(const Command& command, const ResultPanel& panel) const {
  Value reply;
  reply["curves"] = Value::list();
  const Quantity& first = quantity(panel.quantities.front());
  reply["x"] = places(first.axes[static_cast<std::size_t>(panel.along)]);
  for (const std::string& name : panel.quantities) {
    const Quantity& shown = quantity(name);
    Slice slice = slice_of(command, panel, shown);
    const Index family = panel.family < 0 ? 1 : slice.count[panel.family];
    const Index most = std::min(family, most_curves);
    for (Index k = 0; k < most; ++k) {
      // The outermost ones are among those that are chosen.
      const Index at = most < 2 ? 0 : k * (family - 1) / (most - 1);
      Shape from, count;
      for (int i = 0; i < static_cast<int>(shown.axes.size()); ++i) {
        from.append(i == panel.family ? at : slice.first[i]);
        count.append(i == panel.family ? 1 : slice.count[i]);
      }
      const std::vector<std::vector<double>> values = planes_of(read(shown, from, count));
      for (const PartText& part : parts_of(shown)) {
        Value curve;
        std::string label = family < 2 ? "" : element_text(shown.axes[static_cast<std::size_t>(panel.family)], at);
        if (panel.quantities.size() > 1) label = name.substr(name.rfind('/') + 1);
        if (*part.name != '\0') label += (label.empty() ? "" : ", ") + std::string(part.name);
        curve["name"] = label;
        curve["y"] = thinned(part_of(values, part.part));
        reply["curves"].push_back(std::move(curve));
      }
    }
    if (family > most) reply["of"] = family;
  }
  const Index size = first.axes[static_cast<std::size_t>(panel.along)].size;
  if (size > most_points) reply["one_of"] = groups_of(size, most_points);
  return reply;
}

Value ResultView::points(const ResultPanel& panel) const {
  Value reply;
  reply["curves"] = Value::list();
  for (const std::string& name : panel.quantities) {
    const Quantity& shown = quantity(name);
    const Index count = shown.axes.front().size;
    const std::vector<float> values = part_of(planes_of(read(shown, Shape{0, 0}, Shape{count, 2})), Part::value);
    std::vector<float> row, col;
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) row.push_back(values[i]), col.push_back(values[i + 1]);
    Value curve;
    curve["name"] = name;
    curve["x"] = thinned(col);
    curve["y"] = thinned(row);
    reply["curves"].push_back(std::move(curve));
    if (count > most_points) reply["one_of"] = groups_of(count, most_points);
  }
  return reply;
}

void ResultView::show(const Command& command, Outlet& outlet) const {
  const std::size_t number = panel_of(command);
  const ResultPanel& panel = panels_[number];
  if (is_picture(panel.kind)) return show_image(command, number, outlet);
  Value reply = panel.kind == ResultPanel::Kind::points ? points(panel) : curves(command, panel);
  reply["panel"] = number;
  outlet.reply(command, std::move(reply));
}

Value settings_value(const std::vector<ResultSetting>& settings, const Value& values, Index made) {
  Value options;
  options["settings"] = Value::list();
  for (const ResultSetting& setting : settings) {
    Value each;
    each["name"] = setting.name;
    each["help"] = setting.help;
    each["unit"] = unit_text(setting.unit);
    each["value"] = *values.find(setting.name);
    if (!setting.choices.empty()) each["choices"] = setting.choices;
    if (setting.choices.empty() && setting.value.is_number()) {
      each["min"] = setting.low;
      each["max"] = setting.high;
      each["whole"] = setting.value.is_whole();
    }
    options["settings"].push_back(std::move(each));
  }
  options["made"] = made;
  return options;
}

Value values_of(const std::vector<ResultSetting>& settings) {
  Value values = Value::object();
  for (const ResultSetting& setting : settings) values[setting.name] = setting.value;
  return values;
}

/// Throws Error(bad_input) for what the setting cannot be.
void check_value(const ResultSetting& setting, const Value& value) {
  if (!setting.choices.empty()) {
    if (value.is_text() && std::ranges::find(setting.choices, value.as_text()) != setting.choices.end()) return;
    throw Error(ErrorKind::bad_input, fmt::format("{} is one of {}", setting.name, fmt::join(setting.choices, ", ")));
  }
  if (setting.value.is_bool()) {
    if (value.is_bool()) return;
    throw Error(ErrorKind::bad_input, fmt::format("{} is true or false", setting.name));
  }
  if (setting.value.is_whole() && !value.is_whole())
    throw Error(ErrorKind::bad_input, fmt::format("{} is a whole number", setting.name));
  if (!value.is_number() || !(value.as_real() >= setting.low && value.as_real() <= setting.high))
    throw Error(ErrorKind::bad_input,
                fmt::format("{} is a number from {:g} to {:g}", setting.name, setting.low, setting.high));
}

class ResultSession final : public Session {
 public:
  ResultSession(std::shared_ptr<const ResultView> view, std::shared_ptr<const ResultAdjustment> adjustment,
                std::shared_ptr<Outlet> outlet)
      : view_(std::move(view)),
        adjustment_(std::move(adjustment)),
        outlet_(std::move(outlet)),
        values_(values_of(adjustment_->settings)) {}
  void run(const Command& command) override {
    if (command.name == "show") return view_->show(command, *outlet_);
    if (command.name == "adjust" && !adjustment_->settings.empty()) return adjust(command);
    throw Error(ErrorKind::bad_input, fmt::format("no command is called \"{}\"", command.name));
  }
  File export_file(const Value&) override {
    throw Error(ErrorKind::not_supported, "the page of a result has no files to take away")
        .hint("all numbers are in " + view_->result().path());
  }

 private:
  void adjust(const Command& command) {
    const Value *name = command.arguments.find("setting"), *value = command.arguments.find("value");
    const auto& settings = adjustment_->settings;
    const auto setting = std::ranges::find_if(settings, [&](const ResultSetting& each) {
      return name != nullptr && name->is_text() && name->as_text() == each.name;
    });
    if (setting == settings.end() || value == nullptr)
      throw Error(ErrorKind::bad_input, "adjust: expected a setting of this page and its value");
    check_value(*setting, *value);
    Value values = values_;
    values[setting->name] = *value;
    AdjustedResult made = adjustment_->adjust(values);
    auto adjusted =
        StoredResult::of(std::make_shared<const Contents>(std::move(made.contents)), view_->result().path());
    if (!adjusted) throw Error(ErrorKind::internal, "an adjusted result without a schema");
    view_ = std::make_shared<const ResultView>(view_->with(std::make_shared<const StoredResult>(*std::move(adjusted))));
    values_ = std::move(values);
    // Before the reply: a page that has it shows what is here, and no longer what the hand said.
    tell("panel/found", std::move(made.facts));
    tell("panel/adjust", settings_value(settings, values_, ++made_));
    outlet_->reply(command, Value::object());
  }
  void tell(std::string_view event, Value options) {
    Value what;
    what["options"] = std::move(options);
    outlet_->event(event, std::move(what));
  }

  std::shared_ptr<const ResultView> view_;
  std::shared_ptr<const ResultAdjustment> adjustment_;
  std::shared_ptr<Outlet> outlet_;
  Value values_;
  Index made_ = 0;
};

void add_numbers(Page& page, const StoredResult& result) {
  Facts facts;
  for (const Numbers& each : result.numbers()) {
    std::string text;
    for (const double value : each.values) text += fmt::format("{}{:.6g}", text.empty() ? "" : ", ", value);
    facts.add(each.name, each.unit.empty() ? text : text + " " + unit_text(each.unit));
  }
  constexpr std::size_t short_text = 80;
  for (const Text& each : result.texts())
    if (each.tree.is_null() && each.text.size() <= short_text && each.text.find('\n') == std::string::npos)
      facts.add(each.name, each.text);
  add_panel(page, "numbers", "facts", "Numbers", facts.take());
  for (const Text& each : result.texts()) {
    if (!each.tree.is_null()) {
      add_tree(page, each.name, each.name, each.tree);
    } else if (each.text.size() > short_text || each.text.find('\n') != std::string::npos) {
      Value options;
      options["text"] = each.text;
      page.panels.push_back({each.name, "text", each.name, std::move(options)});
    }
  }
}

/// Whether a panel can show a quantity beside the others that it shows.
bool suits(const ResultPanel& panel, const Quantity& quantity, const std::vector<const Quantity*>& others) {
  const auto rank = static_cast<int>(quantity.axes.size());
  const auto as_the_first = [&] {
    return others.empty() || std::ranges::equal(quantity.axes, others.front()->axes, {}, &Axis::size, &Axis::size);
  };
  switch (panel.kind) {
    case ResultPanel::Kind::image:
    case ResultPanel::Kind::labels:
      return others.empty() && rank >= 2 && std::max(panel.along, panel.family) < rank;
    case ResultPanel::Kind::vectors:
      return rank >= 2 && std::max(panel.along, panel.family) < rank && !quantity.complex() && as_the_first();
    case ResultPanel::Kind::curves:
      return panel.along < rank && panel.family < rank && as_the_first();
    case ResultPanel::Kind::colours:
      return rank >= 3 && quantity.axes.back().size == 3 && !quantity.complex() && others.size() < 3 &&
             (!others.empty() || quantity.dtype == DType::u8);
    case ResultPanel::Kind::points:
      return rank == 2 && quantity.axes[1].size == 2 && !quantity.complex();
  }
  return false;
}

/// What `first` shows of this result, then the rest: pictures before curves. A file may hold anything under the names
/// that an instrument arranges.
std::vector<ResultPanel> arranged(const StoredResult& result, const std::vector<ResultPanel>& first) {
  std::map<std::string, const Quantity*> known;
  for (const Quantity& quantity : result.quantities()) known.emplace(quantity.name, &quantity);
  std::set<std::string> shown;
  std::vector<ResultPanel> panels;
  for (ResultPanel panel : first) {
    std::vector<const Quantity*> held;
    for (const std::string& name : panel.quantities)
      if (const auto found = known.find(name); found != known.end() && suits(panel, *found->second, held))
        held.push_back(found->second);
    if (held.empty() || (panel.kind == ResultPanel::Kind::vectors && held.size() != 2)) continue;
    panel.quantities.clear();
    for (const Quantity* quantity : held) panel.quantities.push_back(quantity->name);
    shown.insert(panel.quantities.begin(), panel.quantities.end());
    panels.push_back(std::move(panel));
  }
  for (const ResultPanel::Kind kind : {ResultPanel::Kind::image, ResultPanel::Kind::curves})
    for (const Quantity& quantity : result.quantities())
      if (ResultPanel panel = default_panel(quantity); panel.kind == kind && !shown.contains(quantity.name))
        panels.push_back(std::move(panel));
  return panels;
}

}  // namespace

ResultPanel default_panel(const Quantity& quantity) {
  ResultPanel panel{.title = quantity.name, .quantities = {quantity.name}};
  const auto rank = static_cast<int>(quantity.axes.size());
  const auto curves = [&](int along, int family) {
    panel.kind = ResultPanel::Kind::curves;
    panel.along = along;
    panel.family = family;
  };
  if (rank < 2) {
    curves(0, -1);
    return panel;
  }
  const auto [row, col] = picture_axes(panel, quantity);
  const Axis &rows = quantity.axes[static_cast<std::size_t>(row)], &cols = quantity.axes[static_cast<std::size_t>(col)];
  if (rows.even() && cols.even() && std::min(rows.size, cols.size) >= too_few) return panel;
  // Over the axis whose places say something, else over the longer one.
  const bool over_rows = rows.even() == cols.even() ? rows.size >= cols.size : cols.even();
  over_rows ? curves(row, col) : curves(col, row);
  return panel;
}

Page result_page(std::shared_ptr<const StoredResult> result, const std::vector<ResultPanel>& first,
                 const ResultAdjustment& adjustment) {
  Page page;
  page.title = std::filesystem::path(result->path()).filename().string();
  page.view = "panels";
  const auto view = std::make_shared<const ResultView>(result, arranged(*result, first));
  const auto shared = std::make_shared<const ResultAdjustment>(adjustment);
  page.actions = {
      {.name = "show", .help = "the numbers of one panel, at places of its sliders", .distinct = {"panel"}}};
  if (!adjustment.settings.empty()) {
    page.actions.push_back(
        {.name = "adjust", .help = "the result with another value of a setting", .distinct = {"setting"}});
    page.panels.push_back({"adjust", "adjust", "Settings",
                           settings_value(adjustment.settings, values_of(adjustment.settings), 0), "side"});
    page.panels.push_back({"found", "facts", "Found", adjustment.facts, "side"});
  }
  for (std::size_t i = 0; i < view->panels().size(); ++i) {
    const ResultPanel& panel = view->panels()[i];
    page.panels.push_back({fmt::format("array.{}", i), type_of(panel.kind), panel.title, view->options(i)});
  }
  add_numbers(page, *result);
  page.open = [view, shared](std::shared_ptr<Outlet> outlet) -> std::unique_ptr<Session> {
    return std::make_unique<ResultSession>(view, shared, std::move(outlet));
  };
  return page;
}

std::string unit_text(const std::string& unit) {
  static const std::vector<std::string_view> raised = {"\u2070", "\u00b9", "\u00b2", "\u00b3", "\u2074",
                                                       "\u2075", "\u2076", "\u2077", "\u2078", "\u2079"};
  std::string text;
  bool exponent = false;
  if (unit == "1") return "";  // a pure number
  for (const char each : unit) {
    if (each == '^') {
      exponent = true;
    } else if (exponent && each == '-') {
      text += "\u207b";
    } else if (exponent && each >= '0' && each <= '9') {
      text += raised[static_cast<std::size_t>(each - '0')];
    } else {
      exponent = false;
      text += each;
    }
  }
  return text;
}

}  // namespace sonde::panel
