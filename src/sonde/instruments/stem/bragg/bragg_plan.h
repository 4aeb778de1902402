// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sonde/engine/array/array.h"
#include "sonde/engine/base/index.h"
#include "sonde/instruments/stem/bragg/probe.h"

namespace sonde::stem {

/// How the place of a disk is found between pixels.
///  - none: the pixel;
///  - poly: a parabola through three values for each axis;
///  - multicorr: the largest value on a grid of 1 / upsample_factor px, and a parabola there (Guizar-Sicairos, Thurman
///    and Fienup, Opt. Lett. 33 (2008) 156);
///  - newton: the maximum of the band-limited correlation, which the grid of multicorr approaches;
///  - gaussian2d: a Gaussian through 7 x 7 values of the correlation, by least squares;
///  - mle: from there the largest Poisson likelihood of the counts near the disk, with overlapping neighbours.
enum class Refinement { none, poly, multicorr, newton, gaussian2d, mle };

[[nodiscard]] std::string_view name(Refinement refinement);

/// What is subtracted from every pattern before the correlation.
///  - constant: the median of its pixels;
///  - radial_median: the median at each distance from the origin;
///  - dog: the pattern blurred by a Gaussian wider than disks, so that, with the blur of the pattern, a difference of
///    Gaussians is left.
enum class PatternBackground { none, constant, radial_median, dog };

[[nodiscard]] std::string_view name(PatternBackground background);

/// How disks are found, in the words of py4DSTEM's find_Bragg_disks.
struct DiskSettings {
  double gain = 1;        ///< units of the detector for one electron
  double corr_power = 1;  ///< 1: cross-correlation, 0: phase correlation, between: hybrid
  double sigma_dp = 0;    ///< Gaussian blur of the pattern, px
  double sigma_cc = 2;    ///< Gaussian smoothing of the correlation, px
  PatternBackground background = PatternBackground::none;
  double background_sigma = 0;  ///< dog: width of the wider Gaussian beyond sigma_dp, px; 0: two radii
  double background_row =
      std::numeric_limits<double>::quiet_NaN();  ///< radial_median: the origin, px; NaN: the probe's
  double background_col = std::numeric_limits<double>::quiet_NaN();
  Refinement subpixel = Refinement::newton;
  Index upsample_factor = 16;
  double min_absolute_intensity = 0;
  double min_relative_intensity = 0.005;  ///< of the disk relative_to_peak
  Index relative_to_peak = 0;             ///< 0: the brightest
  double min_peak_spacing = 60;           ///< px; of two that are closer the brighter one stays
  Index edge_boundary = 20;               ///< px, at least 1
  Index max_num_peaks = 70;

  /// Of the correlation that places are refined on: what smoothing is for is finding, and noise is not refined on.
  [[nodiscard]] double sigma_refine() const { return sigma_cc < 1 ? sigma_cc : 1; }
};

struct BraggDisk {
  float qy = 0, qx = 0;        ///< px
  float intensity = 0;         ///< correlation there
  float var_y = 0, var_x = 0;  ///< px^2 of Poisson counts, NaN where not known
};

/// What happened to the maxima of the correlation: those found, and what each filter removed, in its order.
struct FilterCounts {
  std::uint64_t found = 0, edge = 0, absolute = 0, relative = 0, spacing = 0, number = 0;

  FilterCounts& operator+=(const FilterCounts& other);
  [[nodiscard]] std::uint64_t kept() const { return found - edge - absolute - relative - spacing - number; }
};

/// The disks of some patterns, one list after another.
struct DiskList {
  std::vector<BraggDisk> disks;
  std::vector<std::size_t> ends;  ///< (pattern): the end of its list in `disks`
  FilterCounts filters;

  void clear();
};

/// Finds Bragg disks by correlation with a kernel, prepared once for a detector:
///   m = F(I - B) conj(F(K)),  c = |m|^corr_power exp(i arg m),  cc = max(0, F^-1[c exp(-2 pi^2 sigma_cc^2 f^2)]).
/// A maximum is no smaller than its neighbours at (+1, 0), (0, +1), (+1, +1) and (-1, +1) and larger than the others,
/// so that a plateau of two pixels has one. B is the background (PatternBackground). Maxima are filtered (edge,
/// intensity, spacing, number), the brightest first, and refined. Of Poisson counts and a cross-correlation, newton
/// also gives the variance of a place, H^-1 G H^-1 with H the curvature of the correlation and G = sum I grad(K)
/// grad(K)^T over the pixels of the kernel; mle the inverse of the information of the counts, whatever the correlation
/// was. Const access is thread-safe: one Scratch for each thread. The disks of a frame do not depend on other frames.
class BraggPlan {
 public:
  /// `good`: pixels that mle and medians use, (rows, cols); empty: all. Throws what make_kernel throws, and
  /// Error(bad_input) for a detector without a pixel inside the edge.
  [[nodiscard]] static BraggPlan prepare(Index rows, Index cols, const Probe& probe, const KernelSettings& kernel,
                                         const DiskSettings& settings, std::span<const std::uint8_t> good = {});
  BraggPlan(BraggPlan&&) noexcept;
  BraggPlan& operator=(BraggPlan&&) noexcept;
  ~BraggPlan();

  [[nodiscard]] Index rows() const;
  [[nodiscard]] Index cols() const;
  [[nodiscard]] const DiskSettings& settings() const;
  [[nodiscard]] std::size_t bytes() const;

  /// What run() works in.
  class Scratch {
   public:
    explicit Scratch(const BraggPlan& plan);
    Scratch(Scratch&&) noexcept;
    ~Scratch();
    [[nodiscard]] static std::size_t bytes(Index rows, Index cols);

   private:
    friend class BraggPlan;
    struct Rooms;
    std::unique_ptr<Rooms> rooms_;
  };

  /// Appends the disks of `count` dense frames (rows, cols) to `to`. T is an element type of a pass. Variances are NaN
  /// unless T is an integer. Two transforms of a frame, three with newton.
  template <class T>
  void run(const T* frames, Index count, Scratch& scratch, DiskList& to) const;

 private:
  struct Tables;
  explicit BraggPlan(std::unique_ptr<const Tables> tables);
  template <class T>
  void run_frame(const T* frame, Scratch::Rooms& rooms, DiskList& to) const;

  std::unique_ptr<const Tables> tables_;
};

}  // namespace sonde::stem
