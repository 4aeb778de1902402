// SPDX-License-Identifier: Apache-2.0
// Private to the room: the most likely places of disks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/bragg/bragg_plan.h"
#include "sonde/instruments/stem/bragg/normal_equations.h"
#include "sonde/instruments/stem/bragg/probe.h"

namespace sonde::stem {

/// The measured probe at any place, of height 1: the soft disk of its radius and edge, or its image between pixels by
/// cubics through four of them for each axis (Catmull and Rom).
class ProbeShape {
 public:
  struct At {
    double value = 0, y = 0, x = 0;  ///< and its derivatives
  };

  ProbeShape(const Probe& probe, Index rows, Index cols);
  /// (y, x) from its centre, px.
  [[nodiscard]] At at(double y, double x) const;
  /// Distance beyond which it is zero, px.
  [[nodiscard]] double reach() const { return reach_; }
  [[nodiscard]] std::size_t bytes() const { return (by_distance_.size() + pixels_.size()) * sizeof(double); }

 private:
  struct Point {
    double value = 0, slope_over_distance = 0;
  };
  double reach_ = 0;
  std::vector<Point> by_distance_;  // of the soft disk
  Index half_ = 0;                  // pixels of the image on either side of its centre
  std::vector<double> pixels_;      // of the image, (2 half + 1, 2 half + 1)
};

/// Moves disks to the places of the largest Poisson likelihood of the counts near them. Of disk d the pixels no farther
/// than radius + 4 px from where it was found are those of
///   mu = b_d + A_d P(q - q_d) + sum over e of A_e P(q - q_e),
/// where e are all other disks found that reach these pixels: overlapping neighbours are in the model, as a sum of
/// intensities. Fisher's scoring of (b, A, y, x) of one disk after the other, five rounds at most. Variances are those
/// of the inverse of the information of a disk with its neighbours, whose own is that of their own pixels. Bad pixels
/// are left out. A disk that fades or moves by more than 1.5 px stays as it was found.
class LikelyPlaces {
 public:
  /// `good`: pixels to use, (rows, cols); empty: all. Values are `gain` times electrons.
  LikelyPlaces(const Probe& probe, Index rows, Index cols, std::span<const std::uint8_t> good, double gain);

  [[nodiscard]] std::size_t bytes() const { return shape_.bytes() + good_.size(); }

  /// One of them as it is known.
  struct Disk {
    double y = 0, x = 0, height = 0, background = 0;
    double start_y = 0, start_x = 0;
    double least = 0;  // of a mean, counts
    bool lost = false;
    std::vector<std::size_t> neighbours;
    Square<4> information{};  // of (background, height, y, x)
  };
  using Room = std::vector<Disk>;
  /// Sets places, and variances where T is an integer, of the disks of one frame (rows, cols).
  template <class T>
  void refine(const T* frame, std::span<BraggDisk> disks, Room& room) const;

 private:
  template <class T, class Body>
  void for_each_near(const T* frame, const Disk& disk, Body&& body) const;
  void find_neighbours(Room& disks) const;
  template <class T>
  void guess(const T* frame, Room& disks, std::size_t which) const;
  template <class T>
  double score(const T* frame, Room& disks, std::size_t which, bool move) const;
  template <class T>
  void add_variance(const T* frame, const Room& disks, std::size_t which, BraggDisk& to) const;

  Index rows_, cols_;
  double radius_, gain_;
  ProbeShape shape_;
  std::vector<std::uint8_t> good_;
};

}  // namespace sonde::stem
