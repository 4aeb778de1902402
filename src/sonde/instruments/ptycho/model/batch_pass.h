// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "sonde/engine/device/parallel.h"
#include "sonde/instruments/ptycho/model/exposure.h"
#include "sonde/instruments/ptycho/scan/bands.h"

namespace sonde::ptycho {

/// What a batch of frames says about object and probe, all seen from the same estimate. Arrays of the state's
/// precision.
struct BatchSums {
  Array object;                               ///< (S, Y, X): sum_j sum_m conj(incident) chi = minus dL/dconj(O)
  Array object_weight;                        ///< (S, Y, X) real: sum_j sum_m |incident|^2
  Array probe;                                ///< (M, Ny, Nx): sum_j of conj(O) chi shifted back = minus dL/dconj(P)
  Array probe_weight;                         ///< (Ny, Nx) real: sum_j |O_j|^2 of the first slice, in the probe's frame
  std::vector<double> largest_object_weight;  ///< per slice
  double largest_probe_weight = 0;
};

/// Which sums somebody needs.
struct Wanted {
  bool object = true, probe = true, weights = true;
  friend bool operator==(const Wanted&, const Wanted&) = default;
};

/// How a batch is cut for the threads.
inline constexpr BandLimits batch_bands{.most = 16, .least_members = 16};

/// The forward model and its adjoint over a batch, on all threads, with bits that do not depend on their number: the
/// batch is cut into bands along a space-filling curve, each band adds into a tile of its own, and the tiles are added
/// in the order of the bands (docs/ptycho-theory.md#order-of-sums).
template <class Real>
class BatchPass {
 public:
  explicit BatchPass(const Model<Real>& model, BandLimits limits = batch_bands);

  /// Brings an exposure to the point where its waves() after the last slice are what is added: chi, or whatever an
  /// engine puts there. Called on all threads, once per frame; `frame` names the measurement.
  using Visit = std::function<void(Index frame, Exposure<Real>& exposure)>;

  /// Fills `sums` (made when empty) from chi, and `fit[frame]` for the frames of the batch. `spectrum` as for
  /// Exposure::aim.
  void run(const State& state, const Array& spectrum, std::span<const Index> batch, Wanted wanted, BatchSums& sums,
           std::span<FrameSums> fit);
  /// Fills `sums` from what `visit` leaves in the waves.
  void run(const State& state, std::span<const Index> batch, Wanted wanted, BatchSums& sums, const Visit& visit);
  /// What turns the sums of a batch into those of all processes, before anybody sees them.
  void finish_with(std::function<void(BatchSums&, Wanted)> finish) { finish_ = std::move(finish); }
  /// Whoever keeps more of each frame than its patterns hears from then on which frames come up.
  void announce_to(std::function<void(std::span<const Index>)> listener) { listener_ = std::move(listener); }
  /// A hint: the batch after the one that run() is called for now, until the end of which it stays where it is.
  void comes_next(std::span<const Index> batch) { next_ = batch; }
  /// Only the fit.
  void compare(const State& state, const Array& spectrum, std::span<const Index> batch, std::span<FrameSums> fit);

 private:
  using Complex = std::complex<Real>;
  /// What the members of one band add up.
  struct Tile {
    std::vector<Complex> object, probe;
    std::vector<Real> object_weight, probe_weight;
  };

  void announce(std::span<const Index> frames) const {
    model_->measurement().will_read(frames);
    if (listener_) listener_(frames);
  }
  void fill(const Bands& bands, Index band, Wanted wanted, const Visit& visit, Exposure<Real>& exposure);
  void collect_object(const Bands& bands, Wanted wanted, BatchSums& sums);
  void collect_probe(const Bands& bands, Wanted wanted, BatchSums& sums);

  const Model<Real>* model_;
  BandLimits limits_;
  PerWorker<Exposure<Real>> exposures_;
  std::vector<Tile> tiles_;
  std::span<const Index> next_;
  bool announced_ = false;  // the batch of this run, while the one before was worked on
  std::function<void(std::span<const Index>)> listener_;
  std::function<void(BatchSums&, Wanted)> finish_;
};

}  // namespace sonde::ptycho
