// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sonde/engine/array/view.h"
#include "sonde/engine/base/index.h"

namespace sonde::separate {

/// What a network gave of one file so far, on disk between the network and the files of its stems: for each sample the
/// mixture and all stems, float32 at the network's rate: sums over the passes, or means of what came so far with their
/// weights. It holds what is added up over several passes, what must be
/// known as a whole before it is written (the largest sample), and what a later run continues after an interruption or
/// the death of the process. One thread at a time; a second process that would write it is refused.
class Spool {
 public:
  struct Layout {
    Index channels = 2, stems = 1;
    bool means = false;      ///< not sums
    bool variances = false;  ///< of what came so far around the mean, for each stem; only with means
  };
  /// A new file, in place of what an earlier run left. `origin` is what decides the samples, in lines of text. Throws
  /// Error(io), and Error(bad_input) where there is a file that sonde did not write, or another run is at work on it.
  static Spool begin(const std::string& path, const std::string& origin, const Layout& layout);
  /// The file of an earlier run, if there is one from which work can continue. Throws as begin() does, and
  /// Error(bad_input), naming the line, where it has another origin.
  static std::optional<Spool> resume(const std::string& path, const std::string& origin, const Layout& layout);
  Spool(Spool&& other) noexcept;
  Spool& operator=(Spool&&) = delete;
  ~Spool();

  /// Where work continues: the pass over the file, and samples of it that are finished.
  [[nodiscard]] Index pass() const { return state_.pass; }
  [[nodiscard]] Index finished() const { return state_.finished; }
  /// Of the file: known when the first pass has ended.
  [[nodiscard]] Index samples() const { return state_.samples; }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// The next samples of the first pass: (channels, count) and (stems, channels, count), and the weight of each where
  /// means are kept.
  void append(View<const float, 2> mixture, View<const float, 3> stems, View<const float, 1> weights = {});
  /// Adds the next stems of a later pass, from sample `first` on and from the end on to the beginning. To sums.
  void add(Index first, View<const float, 3> stems);
  /// The same where means are kept, with the weight of each sample.
  void weigh_in(Index first, View<const float, 3> stems, View<const float, 1> weights);
  /// The same where the stems are a mean of so many passes, each as heavy as these.
  void weigh_in(Index first, View<const float, 3> stems, Index results);
  void end_pass();

  /// Numbers of a sample: the channels of the mixture, then those of each stem, then the weight where means are kept,
  /// then the variance of each stem, the mean of its channels, where variances are.
  [[nodiscard]] Index frame() const {
    return weight_at() + (layout_.means ? 1 : 0) + (layout_.variances ? layout_.stems : 0);
  }
  [[nodiscard]] const Layout& layout() const { return layout_; }
  /// Samples [first, first + to.size() / frame()), one after the other.
  void read(Index first, std::vector<float>& to) const;

  /// Closes and removes the file.
  void remove() noexcept;

 private:
  struct State {
    Index pass = 0, finished = 0, samples = 0;
    bool adding = false;  ///< in the middle of add(): what is there is neither before nor after
  };
  Spool(std::string path, int descriptor, const Layout& layout);
  static std::optional<Spool> open(const std::string& path, bool make, const Layout& layout);
  void write_head(const std::string& origin);
  void write_state();
  [[nodiscard]] bool read_state(const std::string& origin);
  void transfer(bool write, Index byte, char* bytes, std::size_t size) const;
  void transfer_frames(bool write, Index first, Index count);
  /// Calls change(numbers of a sample, their place in `stems`) for each sample of the next ones of a later pass.
  template <class Change>
  void change_frames(Index first, Index count, Change&& change);
  [[nodiscard]] Index weight_at() const { return layout_.channels * (1 + layout_.stems); }
  void move_mean(float* frame, float part, View<const float, 3> stems, Index i) const;

  std::string path_;
  int descriptor_ = -1;
  Layout layout_;
  State state_;
  std::vector<float> frames_;
};

}  // namespace sonde::separate
