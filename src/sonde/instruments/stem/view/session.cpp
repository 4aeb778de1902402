// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/view/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "sonde/engine/base/clock.h"
#include "sonde/engine/base/error.h"
#include "sonde/engine/report/progress.h"
#include "sonde/instruments/stem/results/detector_images.h"
#include "sonde/instruments/stem/view/shape_text.h"

namespace sonde::stem {
namespace {

using panel::Frame;
using panel::FrameKind;

std::uint32_t microseconds(const Stopwatch& watch) { return static_cast<std::uint32_t>(watch.seconds() * 1e6); }

}  // namespace

void require_near(const GivenBeam& beam, const Shape& shape) {
  if (!(beam.radius > 0))
    throw Error(ErrorKind::bad_input, fmt::format("centre: \"radius\" is {:.6g}, expected more than 0", beam.radius));
  const double reach = 2 * static_cast<double>(shape[2] + shape[3]);
  for (const double place : {beam.row, beam.col, beam.radius})
    if (!(std::abs(place) < reach))
      throw Error(ErrorKind::bad_input, fmt::format("centre: {:.6g} is far from the {} x {} pixels of the detector",
                                                    place, shape[2], shape[3]))
          .hint(fmt::format("less than {} in size", static_cast<Index>(reach)));
}

ClientSession::ClientSession(Catalogue& catalogue, std::shared_ptr<panel::Outlet> outlet)
    : catalogue_(catalogue), outlet_(std::move(outlet)) {}

void ClientSession::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

void ClientSession::event(std::string_view name, const Value& what) { outlet_->event(name, what); }

void ClientSession::loaded(Index dataset, Index item, const Error* error) {
  const std::lock_guard lock(mutex_);
  if (closed_ || error != nullptr) return;
  const bool shown = dataset == view_.dataset ||
                     std::find(view_.compared.begin(), view_.compared.end(), dataset) != view_.compared.end();
  if (!shown || item != view_.item(dataset)) return;
  request_ = 0;
  try {
    // It may be gone again: released, or pushed out by a later item.
    if (const Target now{catalogue_.entry(dataset), item, catalogue_.entry(dataset)->held(item)}; now.dataset)
      send_all(now);
    if (!playing_) prepare_when_at_rest();
  } catch (const Error& problem) {  // nobody asked, so nobody gets an answer
    Value notice;
    notice["message"] = problem.message();
    notice["hint"] = problem.hint();
    outlet_->event("notice", notice);
  }
}

void ClientSession::run(const panel::Command& command) {
  const ProgressScope silent([](const Progress&) {});  // what a look decodes is not worth a bar
  const std::lock_guard lock(mutex_);
  const auto found = actions().find(command.name);
  if (found == actions().end())
    throw Error(ErrorKind::bad_input, fmt::format("no command is called \"{}\"", command.name));
  request_ = command.id;
  ++commands_;
  const auto& [arguments, carry_out] = found->second;
  catalogue_.used();
  outlet_->reply(command, (this->*carry_out)(Arguments(command, arguments)));
  if (!playing_) prepare_when_at_rest();
}

// ---- What commands do -----------------------------------------------------------------------------------------------

Value ClientSession::set_dataset(const Arguments& arguments) {
  const Target chosen = target(arguments.whole("dataset", 0, catalogue_.size() - 1), true);
  view_.dataset = chosen.id();
  view_.scan_row = std::min(view_.scan_row, chosen.entry->shape()[0] - 1);
  view_.scan_col = std::min(view_.scan_col, chosen.entry->shape()[1] - 1);
  if (chosen.dataset)
    send_all(chosen);
  else
    send_previews(chosen);
  Value reply;
  reply["dataset"] = chosen.id();
  reply["item"] = chosen.item;
  if (!chosen.dataset) tell_waiting(chosen, reply);
  return reply;
}

Value ClientSession::set_position(const Arguments& arguments) {
  const Target chosen = target(arguments);
  const Shape scan = chosen.entry->shape();
  view_.scan_row = arguments.whole("row", 0, scan[0] - 1);
  view_.scan_col = arguments.whole("col", 0, scan[1] - 1);
  Value reply;
  if (chosen.dataset) {
    send_pattern(chosen);
  } else {
    if (!chosen.problem) send_pattern_preview(chosen);
    tell_waiting(chosen, reply);
  }
  reply["row"] = view_.scan_row;
  reply["col"] = view_.scan_col;
  return reply;
}

Value ClientSession::set_detector(const Arguments& arguments) {
  const Index channel = arguments.whole("channel", 0, most_channels - 1);
  ClientView::Channel& chosen = view_.channels[static_cast<std::size_t>(channel)];
  Value reply;
  reply["channel"] = channel;
  if (!arguments.has("expr") && !arguments.has("shape")) {
    chosen = {};
    reply["expr"] = Value();
    return reply;
  }
  const std::string text = expression_of(arguments);
  if (!is_moment(text)) (void)DetectorExpression::parse(text);
  const Target current = target(arguments);
  reply["expr"] = text;
  if (!current.dataset) {
    chosen.detector = text;
    if (!current.problem) send_image_preview(current, channel);
    tell_waiting(current, reply);
    return reply;
  }
  // What cannot be shown is not kept: the last picture stays, and its detector with it.
  const std::string before = std::exchange(chosen.detector, text);
  try {
    const Shown shown = send_image(current, channel);
    reply["area"] = shown.area;
    reply["path"] = shown.path;
    reply["because"] = shown.because;
    reply["mask_hash"] = fmt::format("{:016x}", shown.mask_hash);
    reply["compute_us"] = shown.frame.compute_us;
    reply["cached"] = shown.frame.cached;
  } catch (...) {
    chosen.detector = before;
    throw;
  }
  // Nobody comes back to the steps of a drag: each gives its memory to the next.
  const auto now = std::chrono::steady_clock::now();
  const auto last = std::exchange(detector_set_[static_cast<std::size_t>(channel)], now);
  if (now - last < moment_of_rest && before != text) catalogue_.cache().erase(image_key(current, before));
  for (const Target& other : compared_targets())
    if (other.id() != current.id() && other.dataset) (void)send_image(other, channel);
  if (playing_) prepare_items();
  if (arguments.truth_or("mask", false) && !is_moment(text)) {
    const DetectorOf detector = detector_of(*current.dataset, text, geometry(current, true));
    const Shape shape = current.dataset->shape();
    std::vector<float> weights(static_cast<std::size_t>(shape[2] * shape[3]));
    for (std::size_t i = 0; i < detector.mask->pixels.size(); ++i)
      weights[static_cast<std::size_t>(detector.mask->pixels[i])] =
          detector.mask->boolean() ? 1.0f : detector.mask->weights[i];
    Frame frame = panel::make_frame<float>(FrameKind::mask, shape[2], shape[3], weights);
    frame.channel = static_cast<std::uint16_t>(channel);
    send(std::move(frame), current);
  }
  return reply;
}

Value ClientSession::set_scan_roi(const Arguments& arguments) {
  const Target chosen = target(arguments);
  const std::string text = arguments.has("expr") || arguments.has("shape") ? expression_of(arguments) : "";
  const Shape scan = chosen.entry->shape();
  Value reply;
  reply["positions"] = text.empty() ? scan[0] * scan[1] : static_cast<Index>(roi_positions(chosen, text).size());
  reply["expr"] = text.empty() ? Value() : Value(text);
  view_.scan_roi = text;
  if (chosen.dataset)
    send_reduced(chosen);
  else
    tell_waiting(chosen, reply);
  return reply;
}

Value ClientSession::set_reduction(const Arguments& arguments) {
  const std::string word = arguments.word("reduction", {"sum", "mean", "max"});
  view_.reduction = word == "sum" ? Reduction::sum : word == "mean" ? Reduction::mean : Reduction::max;
  const Target chosen = target(arguments);
  Value reply;
  reply["reduction"] = word;
  if (chosen.dataset)
    send_reduced(chosen);
  else
    tell_waiting(chosen, reply);
  return reply;
}

Value ClientSession::set_item(const Arguments& arguments) {
  const Index dataset = arguments.whole_or("dataset", 0, catalogue_.size() - 1, view_.dataset);
  const Index items = catalogue_.entry(dataset)->size();
  view_.items[dataset] = arguments.whole("item", 0, items - 1);
  const Target chosen = target(dataset, !playing_);  // a series that is played comes by again and again
  if (chosen.dataset)
    send_all(chosen, arguments.truth_or("reduced", true));
  else if (!chosen.problem)
    send_previews(chosen);
  Value reply;
  reply["dataset"] = dataset;
  reply["item"] = chosen.item;
  if (!chosen.dataset) tell_waiting(chosen, reply);
  return reply;
}

Value ClientSession::find_beam(const Arguments& arguments) {
  const Target chosen = sound_target(arguments);
  if (!chosen.dataset) arguments.fail("the scan is still being loaded", "its centre is found when it is there");
  const BeamFound found = chosen.entry->beam(chosen.item);
  if (!found.centre) throw found.error.value_or(Error(ErrorKind::internal, "the centre was not looked for"));
  const bool given = view_.beams.erase(chosen.id()) > 0;
  if (given) send_all(chosen);
  Value reply;
  reply["row"] = found.centre->row;
  reply["col"] = found.centre->col;
  reply["radius"] = found.centre->radius;
  reply["rms"] = found.centre->residual_rms;
  reply["confidence"] = found.centre->confidence;
  return reply;
}

Value ClientSession::set_beam(const Arguments& arguments) {
  const Target chosen = target(arguments);
  const GivenBeam beam{arguments.real("row"), arguments.real("col"), arguments.real("radius")};
  require_near(beam, chosen.entry->shape());
  view_.beams[chosen.id()] = beam;
  if (chosen.dataset)
    for (Index channel = 0; channel < most_channels; ++channel) {
      const std::string& text = view_.channels[static_cast<std::size_t>(channel)].detector;
      if (text.empty() || (!is_moment(text) && !DetectorExpression::parse(text).needs_disk())) continue;
      (void)send_image(chosen, channel);
    }
  Value reply;
  reply["row"] = beam.row;
  reply["col"] = beam.col;
  reply["radius"] = beam.radius;
  return reply;
}

Value ClientSession::compare(const Arguments& arguments) {
  std::vector<Index> chosen;
  for (const double each : arguments.reals("datasets")) {
    if (each != std::floor(each) || !(each >= 0 && each < static_cast<double>(catalogue_.size())))
      arguments.fail(fmt::format("\"datasets\" holds {:.6g}, expected numbers of data sets, 0 to {}", each,
                                 catalogue_.size() - 1));
    const Index id = catalogue_.entry(static_cast<Index>(each))->id();
    if (std::find(chosen.begin(), chosen.end(), id) == chosen.end()) chosen.push_back(id);
  }
  view_.compared = chosen;
  Value reply;
  reply["datasets"] = chosen;
  for (const Target& each : compared_targets())
    if (each.dataset) {
      for (Index channel = 0; channel < most_channels; ++channel)
        if (!view_.channels[static_cast<std::size_t>(channel)].detector.empty()) (void)send_image(each, channel);
    } else {
      tell_waiting(each, reply);
    }
  return reply;
}

Value ClientSession::open(const Arguments& arguments) {
  Value reply;
  reply["dataset"] = catalogue_.open(arguments.text("path"));
  return reply;
}

Value ClientSession::stats(const Arguments&) {
  Value reply;
  reply["commands"] = commands_;
  reply["frames"] = frames_;
  reply["memory"] = catalogue_.memory();
  reply["memory"]["frames_kept"] = catalogue_.cache().bytes();
  return reply;
}

Value ClientSession::release(const Arguments& arguments) {
  const Index dataset = arguments.whole_or("dataset", 0, catalogue_.size() - 1, view_.dataset);
  std::optional<Index> item;
  if (arguments.has("item")) item = arguments.whole("item", 0, catalogue_.entry(dataset)->size() - 1);
  const std::size_t before = catalogue_.resident_bytes();
  imagers_.erase(dataset);
  catalogue_.release(dataset, item);
  const std::size_t after = catalogue_.resident_bytes();
  Value reply;
  reply["freed"] = before - std::min(before, after);
  return reply;
}

// ---- What they are about --------------------------------------------------------------------------------------------

ClientSession::Target ClientSession::target(Index dataset, bool again) {
  Target target{catalogue_.entry(dataset), view_.item(dataset), nullptr};
  target.entry->require_scan();
  if (again)
    target.entry->forget_problem(target.item);
  else
    target.problem = target.entry->problem(target.item);
  if (!target.problem) target.dataset = catalogue_.want(*target.entry, target.item);
  return target;
}

ClientSession::Target ClientSession::target(const Arguments& arguments) {
  return target(arguments.whole_or("dataset", 0, catalogue_.size() - 1, view_.dataset));
}

ClientSession::Target ClientSession::sound_target(const Arguments& arguments) {
  Target found = target(arguments);
  if (found.problem) throw *found.problem;
  return found;
}

void ClientSession::tell_waiting(const Target& target, Value& reply) {
  reply["waiting"] = true;
  if (target.problem) reply["failed"] = in_words(*target.problem, target.entry->item_path(target.item));
}

std::vector<ClientSession::Target> ClientSession::compared_targets() {
  std::vector<Target> all;
  for (const Index dataset : view_.compared)
    if (catalogue_.entry(dataset)->size() > 0) all.push_back(target(dataset));
  return all;
}

DetectorGeometry ClientSession::geometry(const Target& target, bool needs_beam) const {
  DetectorGeometry geometry;
  const Shape shape = target.entry->shape();
  geometry.rows = shape[2];
  geometry.cols = shape[3];
  if (target.dataset) geometry.good = target.dataset->good();
  if (!needs_beam) return geometry;
  const auto take = [&](const Centre& centre) {
    geometry.centre_row = centre.row;
    geometry.centre_col = centre.col;
    if (centre.radius > 0) geometry.radius = centre.radius;
  };
  if (const auto given = view_.beams.find(target.id()); given != view_.beams.end()) {
    geometry.centre_row = given->second.row;
    geometry.centre_col = given->second.col;
    geometry.radius = given->second.radius;
  } else if (const BeamFound found = target.entry->beam(target.item); found.centre) {
    take(*found.centre);
  } else if (!target.dataset) {
    if (const auto& seen = target.entry->first_look(target.item)->beam()) take(*seen);
  }
  return geometry;
}

std::vector<Index> ClientSession::roi_positions(const Target& target, const std::string& expression) const {
  const Shape scan = target.entry->shape();
  const Mask mask = detector_mask(expression, {scan[0], scan[1], {}, {}, {}, {}});
  if (mask.area() == 0)
    throw Error(ErrorKind::bad_input,
                fmt::format("the region {} holds no position of {} x {}", expression, scan[0], scan[1]))
        .hint("coordinates are scan positions, rows before columns");
  return mask.pixels;
}

// ---- Frames ---------------------------------------------------------------------------------------------------------

std::string ClientSession::key(const Target& target, std::string_view what) const {
  return fmt::format("{}/{}/{}", target.id(), target.item, what);
}

void ClientSession::send(Frame frame, const Target& target) {
  frame.request = request_;
  frame.dataset = static_cast<std::uint32_t>(target.id());
  frame.item = static_cast<std::uint32_t>(target.item);
  ++frames_;
  outlet_->send(std::move(frame));
}

Shown ClientSession::pattern(const Target& target) {
  const std::string name = key(target, fmt::format("pattern {} {}", view_.scan_row, view_.scan_col));
  if (std::optional<Shown> shown = catalogue_.cache().find(name)) return *shown;
  const Stopwatch watch;
  Shown shown{pattern_frame(*target.dataset, view_.scan_row, view_.scan_col), 0, "", "", 0};
  shown.frame.compute_us = microseconds(watch);
  catalogue_.cache().put(name, shown);
  return shown;
}

Shown ClientSession::reduced(const Target& target) {
  const std::string name = key(target, fmt::format("{} {}", sonde::stem::name(view_.reduction), view_.scan_roi));
  if (std::optional<Shown> shown = catalogue_.cache().find(name)) return *shown;
  const Stopwatch watch;
  std::vector<Index> positions;
  if (!view_.scan_roi.empty()) positions = roi_positions(target, view_.scan_roi);
  ClientPattern alone;  // what is made in advance leaves the history of what is shown as it is
  ClientPattern& region = is_shown(target) ? reduced_ : alone;
  Shown shown{region.pattern(target.dataset, positions, view_.reduction), 0, "", "", 0};
  shown.frame.compute_us = microseconds(watch);
  catalogue_.cache().put(name, shown);
  return shown;
}

std::string ClientSession::beam_key(const Target& target) const {
  const auto given = view_.beams.find(target.id());
  if (given == view_.beams.end()) return "";
  return fmt::format("@{},{},{}", given->second.row, given->second.col, given->second.radius);
}

std::string ClientSession::image_key(const Target& target, const std::string& detector) const {
  return key(target, fmt::format("image{} {}", beam_key(target), detector));
}

Shown ClientSession::image(const Target& target, const std::string& detector) {
  const std::string name = image_key(target, detector);
  if (std::optional<Shown> shown = catalogue_.cache().find(name)) return *shown;
  const Stopwatch watch;
  const bool needs_disk = !is_moment(detector) && DetectorExpression::parse(detector).needs_disk();
  if (const BeamFound found = target.entry->beam(target.item); needs_disk && beam_key(target).empty() && found.error)
    throw *found.error;
  const DetectorOf made = detector_of(*target.dataset, detector, geometry(target, needs_disk || is_moment(detector)));
  const auto with_history = [&] {
    auto imager = imagers_.find(target.id());
    if (imager == imagers_.end() || !imager->second.is_of(target.dataset)) {
      imagers_.erase(target.id());
      imager = imagers_.try_emplace(target.id(), target.dataset, catalogue_.budget()).first;
    }
    return imager->second.image(*target.dataset, made);
  };
  Shown shown = is_shown(target) ? with_history() : image_of(*target.dataset, made);
  shown.frame.mask_hash = static_cast<std::uint32_t>(shown.mask_hash);
  shown.frame.compute_us = microseconds(watch);
  catalogue_.cache().put(name, shown);
  return shown;
}

void ClientSession::send_pattern(const Target& target) { send(pattern(target).frame, target); }

void ClientSession::send_pattern_preview(const Target& target) {
  const Stopwatch watch;
  const Shape shape = target.entry->shape();
  try {
    Frame frame = frame_of(FrameKind::pattern, shape[2], shape[3],
                           target.entry->preview_pattern(target.item, view_.scan_row, view_.scan_col));
    frame.preview = true;
    frame.compute_us = microseconds(watch);
    send(std::move(frame), target);
  } catch (const Error&) {
  }
}

void ClientSession::send_image_preview(const Target& target, Index channel) {
  const std::string& detector = view_.channels[static_cast<std::size_t>(channel)].detector;
  const Stopwatch watch;
  try {
    const auto look = target.entry->first_look(target.item);
    Frame frame =
        is_moment(detector)
            ? moment_preview(*look, *moment_of(detector), geometry(target, true),
                             deflection_unit(*moment_of(detector), target.entry->pixel_mrad()))
            : look->image(detector_mask(detector, geometry(target, DetectorExpression::parse(detector).needs_disk())));
    frame.channel = static_cast<std::uint16_t>(channel);
    frame.preview = true;
    frame.compute_us = microseconds(watch);
    send(std::move(frame), target);
  } catch (const Error&) {
  }
}

void ClientSession::send_previews(const Target& target) {
  send_pattern_preview(target);
  for (Index channel = 0; channel < most_channels; ++channel)
    if (!view_.channels[static_cast<std::size_t>(channel)].detector.empty()) send_image_preview(target, channel);
}

void ClientSession::send_reduced(const Target& target) { send(reduced(target).frame, target); }

Shown ClientSession::send_image(const Target& target, Index channel) {
  const ClientView::Channel& chosen = view_.channels[static_cast<std::size_t>(channel)];
  Shown shown = image(target, chosen.detector);
  shown.frame.channel = static_cast<std::uint16_t>(channel);
  send(shown.frame, target);
  if (chosen.spectrum) send_spectrum(target, channel);
  return shown;
}

void ClientSession::send_all(const Target& target, bool with_reduced) {
  send_pattern(target);
  if (with_reduced) send_reduced(target);
  for (Index channel = 0; channel < most_channels; ++channel)
    if (!view_.channels[static_cast<std::size_t>(channel)].detector.empty()) (void)send_image(target, channel);
}

}  // namespace sonde::stem
