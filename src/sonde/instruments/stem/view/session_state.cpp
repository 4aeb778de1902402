// SPDX-License-Identifier: Apache-2.0
// Everything that a client chose, as a file, and back.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/base/version.h"
#include "sonde/instruments/stem/results/provenance.h"
#include "sonde/instruments/stem/view/session.h"
#include "sonde/instruments/stem/view/state.h"
#include "sonde/instruments/stem/view/state_reader.h"

namespace sonde::stem {
namespace {

Value pair(const Place& place) {
  Value both = Value::list();
  both.push_back(place.row);
  both.push_back(place.col);
  return both;
}

Value shape_value(const Shape& shape) {
  Value list = Value::list();
  for (int i = 0; i < shape.rank(); ++i) list.push_back(shape[i]);
  return list;
}

Reduction reduction_of(const std::string& word) {
  for (const Reduction each : {Reduction::sum, Reduction::mean, Reduction::max})
    if (name(each) == word) return each;
  throw Error(ErrorKind::bad_input, fmt::format("\"{}\" is not a reduction", word)).hint("known are sum, mean and max");
}

}  // namespace

Value ClientSession::state_value(const Value& client) {
  Value state;
  state["schema"] = state_schema;
  state["version"] = build_info().version;
  state["revision"] = build_info().revision;
  state["dataset"] = view_.dataset;
  state["datasets"] = Value::list();
  for (Index id = 0; id < catalogue_.size(); ++id) {
    const auto entry = catalogue_.entry(id);
    const Index item = view_.item(id);
    Value& each = state["datasets"].push_back(Value::object());
    each["source"] = entry->source();
    each["item"] = item;
    each["path"] = Value();
    if (entry->size() == 0) continue;  // of a folder that waits there is nothing to find again
    each["path"] = absolute_path(entry->item_path(item)).string();
    each["shape"] = shape_value(entry->shape());
    // How it was loaded, as decided: what --state needs to load it in the same way.
    const auto dataset = entry->held(item);
    each["record"] = dataset ? provenance(*dataset) : Value();
    Value beam;
    if (const auto given = view_.beams.find(id); given != view_.beams.end()) {
      beam["row"] = given->second.row;
      beam["col"] = given->second.col;
      beam["radius"] = given->second.radius;
      beam["given"] = true;
    } else if (const BeamFound found = entry->beam(item); found.centre) {
      beam["row"] = found.centre->row;
      beam["col"] = found.centre->col;
      beam["radius"] = found.centre->radius;
      beam["given"] = false;
    }
    each["beam"] = std::move(beam);
  }
  state["channels"] = Value::list();
  for (Index channel = 0; channel < most_channels; ++channel) {
    const ClientView::Channel& chosen = view_.channels[static_cast<std::size_t>(channel)];
    if (chosen.detector.empty()) continue;
    Value& each = state["channels"].push_back(Value::object());
    each["channel"] = channel;
    each["detector"] = chosen.detector;
    each["spectrum"] = chosen.spectrum;
    each["window"] = chosen.hann ? "hann" : "none";
  }
  state["position"].push_back(view_.scan_row);
  state["position"].push_back(view_.scan_col);
  state["region"] = view_.scan_roi.empty() ? Value() : Value(view_.scan_roi);
  state["reduction"] = name(view_.reduction);
  state["compared"] = view_.compared.empty() ? Value::list() : Value(view_.compared);
  if (view_.line) {
    state["line"]["panel"] = view_.line->panel;
    state["line"]["channel"] = view_.line->channel;
    state["line"]["p0"] = pair(view_.line->p0);
    state["line"]["p1"] = pair(view_.line->p1);
    state["line"]["width"] = view_.line->width;
  }
  state["view"] = client;
  return state;
}

Value ClientSession::save_state(const Arguments& arguments) {
  client_ = arguments.has("view") ? arguments.value("view") : Value();
  Value reply;
  reply["state"] = state_value(client_);
  return reply;
}

Value ClientSession::load_state(const Arguments& arguments) {
  const Value& state = arguments.value("state");
  const std::string where = "the state";
  require_state(state, where);
  ClientView view;
  // Data sets may have other numbers now: they are found by where they lie.
  std::vector<Index> numbers;
  for (const Value& each : state_member(state, "datasets", where).items()) {
    const Index id = catalogue_.open(state_member(each, "source", where).as_text());
    numbers.push_back(id);
    const auto entry = catalogue_.entry(id);
    if (state_member(each, "path", where).is_null()) continue;  // it had no scan yet
    if (const Value shape = shape_value(entry->shape()); !(state_member(each, "shape", where) == shape))
      throw Error(ErrorKind::bad_input,
                  fmt::format("{}: the state is of another shape than this scan after its bins", entry->source()))
          .hint("start the viewer with the " + setting("det_bin") + ", " + setting("scan_bin") + " and " +
                setting("scan_region") + " of the state");
    view.items[id] = state_member(each, "item", where).as_whole();
    if (view.items[id] < 0 || view.items[id] >= entry->size())
      throw Error(ErrorKind::bad_input,
                  fmt::format("{}: item {} of {}", entry->source(), view.items[id], entry->size()));
    const Value& beam = state_member(each, "beam", where);
    if (!beam.is_null() && state_member(beam, "given", where).as_bool()) {
      const GivenBeam given{state_member(beam, "row", where).as_real(), state_member(beam, "col", where).as_real(),
                            state_member(beam, "radius", where).as_real()};
      require_near(given, entry->shape());
      view.beams[id] = given;
    }
  }
  const auto number = [&](const Value& saved) {
    const Index old = saved.as_whole();
    if (old < 0 || old >= static_cast<Index>(numbers.size()))
      throw Error(ErrorKind::bad_input, fmt::format("the state names data set {} of {}", old, numbers.size()));
    return numbers[static_cast<std::size_t>(old)];
  };
  view.dataset = number(state_member(state, "dataset", where));
  for (const Value& each : state_member(state, "compared", where).items())
    if (const Index id = number(each); std::find(view.compared.begin(), view.compared.end(), id) == view.compared.end())
      view.compared.push_back(id);
  for (const Value& each : state_member(state, "channels", where).items()) {
    const Index channel = state_member(each, "channel", where).as_whole();
    if (channel < 0 || channel >= most_channels)
      throw Error(ErrorKind::bad_input, fmt::format("the state has channel {}, known are 0 to 7", channel));
    ClientView::Channel& chosen = view.channels[static_cast<std::size_t>(channel)];
    chosen.detector = state_member(each, "detector", where).as_text();
    if (!is_moment(chosen.detector)) (void)DetectorExpression::parse(chosen.detector);
    chosen.spectrum = state_member(each, "spectrum", where).as_bool();
    chosen.hann = state_member(each, "window", where).as_text() == "hann";
  }
  catalogue_.entry(view.dataset)->require_scan();
  const Shape shape = catalogue_.entry(view.dataset)->shape();
  const auto& position = state_member(state, "position", where).items();
  if (position.size() != 2) throw Error(ErrorKind::bad_input, "the state's position is not [row, col]");
  view.scan_row = std::clamp<Index>(position[0].as_whole(), 0, shape[0] - 1);
  view.scan_col = std::clamp<Index>(position[1].as_whole(), 0, shape[1] - 1);
  if (const Value& region = state_member(state, "region", where); !region.is_null()) view.scan_roi = region.as_text();
  view.reduction = reduction_of(state_member(state, "reduction", where).as_text());

  // Only a state that makes sense as a whole takes the place of the one before.
  const ClientView before = std::exchange(view_, std::move(view));
  Value reply;
  try {
    const Target current = target(view_.dataset, true);
    if (!view_.scan_roi.empty()) (void)roi_positions(current, view_.scan_roi);
    if (current.dataset)
      send_all(current);
    else
      reply["waiting"] = true;
    for (const Target& each : compared_targets())
      if (each.id() != current.id() && each.dataset) send_all(each);
  } catch (...) {
    view_ = before;
    throw;
  }
  client_ = state_member(state, "view", where);
  reply["view"] = client_;
  reply["numbers"] = numbers;
  return reply;
}

}  // namespace sonde::stem
