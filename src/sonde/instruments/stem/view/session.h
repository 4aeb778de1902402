// SPDX-License-Identifier: Apache-2.0
// Private to the room.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sonde/engine/panel/page.h"
#include "sonde/instruments/stem/view/arguments.h"
#include "sonde/instruments/stem/view/catalogue.h"
#include "sonde/instruments/stem/view/client_view.h"
#include "sonde/instruments/stem/view/line_profile.h"
#include "sonde/instruments/stem/view/painter.h"
#include "sonde/instruments/stem/view/panel_values.h"

namespace sonde::stem {

/// Longer than between two steps of a drag, shorter than a hand takes to the next item.
inline constexpr std::chrono::milliseconds moment_of_rest(150);

/// The actions of the page, in the order of the protocol's table.
[[nodiscard]] std::vector<panel::Action> view_actions();

/// Throws Error(bad_input) for a beam without a radius, or one that lies far from the detector of the scan's shape.
void require_near(const GivenBeam& beam, const Shape& shape);

/// Length of a pixel's step along the line, in the scale's unit.
[[nodiscard]] double units_per_px(const LineProfile& profile, const ImageScale& scale);

/// What one client looks at, and how its commands change that. Commands come one at a time; the catalogue's worker may
/// come in between with data that were waited for.
class ClientSession final : public Listener, public std::enable_shared_from_this<ClientSession> {
 public:
  ClientSession(Catalogue& catalogue, std::shared_ptr<panel::Outlet> outlet);

  void run(const panel::Command& command);
  [[nodiscard]] panel::File export_file(const Value& request);
  /// Nothing is sent, and the catalogue not touched, once this has returned.
  void close();

  void event(std::string_view name, const Value& what) override;
  void loaded(Index dataset, Index item, const Error* error) override;

 private:
  /// The item that a command is about; `dataset` is empty while it is being loaded, and when that has failed.
  struct Target {
    std::shared_ptr<Entry> entry;
    Index item = 0;
    std::shared_ptr<const Dataset> dataset;
    std::optional<Error> problem{};  // of its load
    [[nodiscard]] Index id() const { return entry->id(); }
  };
  struct Action {
    std::vector<std::string> arguments;
    Value (ClientSession::*carry_out)(const Arguments& arguments);
  };
  static const std::map<std::string, Action, std::less<>>& actions();

  // One per command; each returns the members of its reply.
  Value set_dataset(const Arguments& arguments);
  Value set_position(const Arguments& arguments);
  Value set_detector(const Arguments& arguments);
  Value set_scan_roi(const Arguments& arguments);
  Value set_reduction(const Arguments& arguments);
  Value set_item(const Arguments& arguments);
  Value find_beam(const Arguments& arguments);
  Value set_beam(const Arguments& arguments);
  Value compare(const Arguments& arguments);
  Value open(const Arguments& arguments);
  Value stats(const Arguments& arguments);
  Value release(const Arguments& arguments);
  Value request_fft(const Arguments& arguments);
  Value line_profile_of(const Arguments& arguments);
  Value play(const Arguments& arguments);
  Value export_and_send(const Arguments& arguments);
  Value save_state(const Arguments& arguments);
  Value load_state(const Arguments& arguments);

  /// The item that the client looks at. One that is not in memory is loaded in the background, unless that has failed
  /// and is not to be tried `again`.
  [[nodiscard]] Target target(Index dataset, bool again = false);
  [[nodiscard]] Target target(const Arguments& arguments);
  /// The same for a command that can do nothing without it: throws why its load failed.
  [[nodiscard]] Target sound_target(const Arguments& arguments);
  /// The members of the reply about an item that is not there. What was chosen is kept for it, and for the others.
  static void tell_waiting(const Target& target, Value& reply);
  [[nodiscard]] std::vector<Target> compared_targets();
  [[nodiscard]] DetectorGeometry geometry(const Target& target, bool needs_beam) const;
  /// Whether it is what the client looks at, and not made in advance.
  [[nodiscard]] bool is_shown(const Target& target) const { return target.item == view_.item(target.id()); }

  // Frames of the view as it is; sent with the id of the command that is being carried out.
  void send(panel::Frame frame, const Target& target);
  void send_pattern(const Target& target);
  // The same from the file, for an item that is being loaded. What cannot be shown yet is left out: its load says why.
  void send_pattern_preview(const Target& target);
  void send_image_preview(const Target& target, Index channel);
  void send_previews(const Target& target);
  void send_reduced(const Target& target);
  Shown send_image(const Target& target, Index channel);
  void send_spectrum(const Target& target, Index channel);
  void send_all(const Target& target, bool with_reduced = true);
  [[nodiscard]] Shown pattern(const Target& target);
  [[nodiscard]] Shown reduced(const Target& target);
  [[nodiscard]] Shown image(const Target& target, const std::string& detector);
  [[nodiscard]] Shown spectrum(const Target& target, const ClientView::Channel& channel);
  [[nodiscard]] std::vector<Index> roi_positions(const Target& target, const std::string& expression) const;
  [[nodiscard]] std::string key(const Target& target, std::string_view what) const;
  [[nodiscard]] std::string image_key(const Target& target, const std::string& detector) const;
  /// The beam that the client gave, as part of a key; empty where it is the item's own.
  [[nodiscard]] std::string beam_key(const Target& target) const;

  // Numbers of a panel: session_measure.cpp
  /// What "image", "pattern", "region" or "spectrum" shows. Throws Error(bad_input) for a channel without a detector.
  [[nodiscard]] PanelValues values_of(const Target& target, const std::string& panel, Index channel);
  [[nodiscard]] const ClientView::Channel& channel_with_detector(Index channel) const;
  /// How an image of this detector is shown; its values are those of its frame.
  [[nodiscard]] Depiction depiction(const Target& target, const std::string& detector) const;
  [[nodiscard]] LineProfile profile_along(const Target& target, const ClientView::Line& line, ImageScale& scale,
                                          std::string* value_unit = nullptr);

  // Series: session_series.cpp
  /// Makes what all items show, loading those that are not in memory.
  void prepare_items();
  /// The same for the items in memory, once no command has come for a moment.
  void prepare_when_at_rest();
  void wait_for_rest(std::chrono::milliseconds rest);
  void prepare_in_order(bool held_only);
  void prepare_next();
  void prepare_item(std::uint64_t generation, Index dataset, Index item, bool held_only);
  [[nodiscard]] bool is_ready(const Target& target) const;
  [[nodiscard]] std::vector<Index> ready_items(Index dataset) const;
  [[nodiscard]] panel::Frame strip(Index dataset, Index channel);

  // Files: session_files.cpp
  [[nodiscard]] panel::File make_file(const Arguments& arguments);
  [[nodiscard]] panel::File panel_file(const Target& target, const std::string& what, const std::string& format,
                                       Index channel);
  [[nodiscard]] panel::File profile_file(const Target& target, const std::string& format);
  [[nodiscard]] panel::File series_file(Index dataset, const std::string& format, Index channel);
  [[nodiscard]] panel::File snapshot_file(const Target& target);
  [[nodiscard]] Value record_of(const Target& target, const std::string& what, Index channel);

  // State: session_state.cpp
  [[nodiscard]] Value state_value(const Value& client);

  Catalogue& catalogue_;
  const std::shared_ptr<panel::Outlet> outlet_;

  std::mutex mutex_;
  bool closed_ = false;
  std::uint32_t request_ = 0;  // the command that is being carried out
  std::uint64_t commands_ = 0, frames_ = 0;
  ClientView view_;
  std::array<std::chrono::steady_clock::time_point, most_channels> detector_set_{};
  Value client_;                           // what the client wants to find again; its own affair
  std::map<Index, ClientImager> imagers_;  // by data set
  ClientPattern reduced_;
  bool playing_ = false;
  std::vector<Index> ready_;      // items in the last message to the client
  std::uint64_t generation_ = 0;  // of prepared items: work of an earlier one is not worth finishing
  struct ToPrepare {
    std::uint64_t generation = 0;
    Index dataset = 0;
    bool held_only = false;
    std::deque<Index> items;  // in their order
  } to_prepare_;
  bool preparing_ = false;  // a job of the catalogue will take the next one
  std::chrono::steady_clock::time_point last_change_;
  bool waits_for_rest_ = false;  // a job of the catalogue will look whether it has come
};

}  // namespace sonde::stem
