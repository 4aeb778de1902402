// SPDX-License-Identifier: Apache-2.0
// The commands of the page: their names, what they take and what people read of them.
#include "sonde/instruments/stem/view/session.h"

namespace sonde::stem {

const std::map<std::string, ClientSession::Action, std::less<>>& ClientSession::actions() {
  using S = ClientSession;
  static const std::map<std::string, Action, std::less<>> all = {
      {"open", {{"path"}, &S::open}},
      {"set_dataset", {{}, &S::set_dataset}},
      {"set_position", {{"row", "col"}, &S::set_position}},
      {"set_detector", {{"channel", "expr", "shape", "params", "mask"}, &S::set_detector}},
      {"set_scan_roi", {{"expr", "shape", "params"}, &S::set_scan_roi}},
      {"set_reduction", {{"reduction"}, &S::set_reduction}},
      {"set_item", {{"item", "reduced"}, &S::set_item}},
      {"find_centre", {{}, &S::find_beam}},
      {"set_centre", {{"row", "col", "radius"}, &S::set_beam}},
      {"play", {{"playing", "fps", "loop", "boomerang"}, &S::play}},
      {"request_fft", {{"channel", "window", "on"}, &S::request_fft}},
      {"line_profile", {{"panel", "channel", "p0", "p1", "width"}, &S::line_profile_of}},
      {"compare", {{"datasets"}, &S::compare}},
      {"export", {{"what", "format", "channel"}, &S::export_and_send}},
      {"save_state", {{"view"}, &S::save_state}},
      {"load_state", {{"state"}, &S::load_state}},
      {"stats", {{}, &S::stats}},
      {"release", {{"item"}, &S::release}},
  };
  return all;
}

std::vector<panel::Action> view_actions() {
  const auto in_order = [](const char* name, const char* help) { return panel::Action{name, help, {}, false}; };
  const auto newest = [](const char* name, const char* help, std::vector<std::string> distinct = {}) {
    return panel::Action{name, help, std::move(distinct), true};
  };
  return {
      in_order("open", "Open a scan or a folder below those given at start"),
      newest("set_dataset", "Look at another data set"),
      newest("set_position", "Show the pattern of one scan position", {"dataset"}),
      newest("set_detector", "Set or remove a detector and show its image", {"channel", "dataset"}),
      newest("set_scan_roi", "Sum patterns over a region of the scan", {"dataset"}),
      newest("set_reduction", "Sum, mean or maximum of the patterns"),
      newest("set_item", "Look at another item of the series", {"dataset"}),
      newest("play", "Make the images of all items, so that switching is instant"),
      newest("request_fft", "Fourier transform of an image", {"channel"}),
      newest("line_profile", "Values along a line, and the width of a peak", {"panel", "channel"}),
      in_order("find_centre", "Take the bright-field disk as it was found"),
      newest("set_centre", "Say where the bright-field disk is", {"dataset"}),
      in_order("compare", "Carry out every detector on several data sets"),
      in_order("export", "What is shown as a file"),
      in_order("save_state", "Everything that was chosen, as data"),
      in_order("load_state", "Everything as it was saved"),
      in_order("stats", "Numbers of this connection, and memory"),
      in_order("release", "Let go of the memory of an item or a data set"),
  };
}

}  // namespace sonde::stem
