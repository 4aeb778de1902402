// SPDX-License-Identifier: Apache-2.0
// Disks, strain, orientations and phase, beside the transforms and products that they cannot do without.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "sonde/engine/base/paths.h"
#include "sonde/engine/device/parallel.h"
#include "sonde/engine/math/dense/blas.h"
#include "sonde/engine/math/fft.h"
#include "sonde/engine/math/random.h"
#include "sonde/instruments/stem/bench/inputs.h"
#include "sonde/instruments/stem/bench/prepare.h"
#include "sonde/instruments/stem/bragg/bragg_options.h"
#include "sonde/instruments/stem/bragg/bragg_plan.h"
#include "sonde/instruments/stem/lattice/strain_result.h"
#include "sonde/instruments/stem/load/dataset.h"
#include "sonde/instruments/stem/orient/match_orientations.h"
#include "sonde/instruments/stem/phase/integrate.h"

namespace sonde::stem {
namespace {

using std::numbers::pi;
constexpr const char* transforms = "pair of transforms";

/// A transform of a real pattern and its inverse, as complex ones of half as many columns, in the cache, by the plan
/// that was measured to be the fastest: the least that a correlation takes.
sonde::Operation transform_pairs(Index side, Index patterns) {
  using Complex = std::complex<float>;
  auto plan = std::make_shared<Fft2d<float>>(
      Fft2d<float>::prepare({.rows = side, .cols = side / 2, .effort = FftEffort::measured}));
  auto data = std::make_shared<PerWorker<Array>>([=] {
    return Array::zeros(Device::cpu(), {side, side / 2}, dtype_of<Complex>);
  });
  const auto elements = static_cast<double>(side * side);
  return {.name = transforms,
          .run =
              [=] {
                parallel_for(patterns, 4, [&](Index first, Index last, Worker& worker) {
                  auto* pattern = static_cast<Complex*>((*data)[worker].data());  // zeros stay zeros
                  for (Index i = first; i < last; ++i) {
                    plan->transform(pattern, FftDirection::forward);
                    plan->transform(pattern, FftDirection::inverse);
                  }
                });
              },
          .flops = 2 * 2.5 * elements * std::log2(elements) * static_cast<double>(patterns),
          .items = static_cast<double>(patterns)};
}

BraggPlan disk_plan(Index side, Refinement refinement) {
  const double radius = 7 * static_cast<double>(side) / 128;
  BraggOptions options;
  options.probe = fmt::format("{}", radius);
  options.subpixel = refinement;
  const Probe probe = soft_probe(radius);
  return BraggPlan::prepare(side, side, probe, options.kernel_settings(), options.disk_settings(probe));
}

/// The disks of every frame; how many there are is added to `input`.
sonde::Operation disks_of(const std::shared_ptr<Array>& frames, const std::string& name, Refinement refinement,
                          std::string& input) {
  const Index side = frames->shape()[1], patterns = frames->shape()[0];
  auto plan = std::make_shared<BraggPlan>(disk_plan(side, refinement));
  struct Room {
    BraggPlan::Scratch scratch;
    DiskList list;
  };
  auto rooms = std::make_shared<PerWorker<Room>>([=] { return Room{BraggPlan::Scratch(*plan), {}}; });
  const auto find = [=] {
    const auto* all = static_cast<const std::uint16_t*>(std::as_const(*frames).data());
    parallel_for(patterns, 4, [&](Index first, Index last, Worker& worker) {
      Room& room = (*rooms)[worker];
      room.list.clear();
      plan->run(all + first * side * side, last - first, room.scratch, room.list);
    });
  };
  {
    Room room{BraggPlan::Scratch(*plan), {}};
    plan->run(static_cast<const std::uint16_t*>(std::as_const(*frames).data()), patterns, room.scratch, room.list);
    input += fmt::format(", {:.1f} disks found ({})",
                         static_cast<double>(room.list.disks.size()) / static_cast<double>(patterns), name);
  }
  return {.name = name, .run = find, .items = static_cast<double>(patterns), .floor = transforms};
}

PreparedCase disks_case(Index side, Index patterns, Index orders) {
  const auto frames = disk_frames(patterns, side, orders);
  PreparedCase prepared;
  prepared.input = fmt::format("{} frames of {} x {} u16", patterns, side, side);
  prepared.operations = {disks_of(frames, "poly", Refinement::poly, prepared.input),
                         disks_of(frames, "newton", Refinement::newton, prepared.input),
                         transform_pairs(side, patterns)};
  return prepared;
}

/// Products of two matrices of 256 x 256 on every thread: the measured rate of multiplication.
sonde::Operation products(double flops, double items) {
  constexpr Index n = 256;
  constexpr double flops_of_one = 2.0 * n * n * n;
  const auto count = std::max<Index>(1, static_cast<Index>(std::llround(flops / flops_of_one)));
  auto values = std::make_shared<std::vector<float>>(static_cast<std::size_t>(n * n), 0.5F);
  auto results = std::make_shared<PerWorker<std::vector<float>>>(
      [] { return std::vector<float>(static_cast<std::size_t>(n * n)); });
  return {.name = "products of matrices",
          .run =
              [=] {
                parallel_for(count, 1, [&](Index first, Index last, Worker& worker) {
                  const dense::ConstMatrix<float> a(values->data(), n, n);
                  for (Index i = first; i < last; ++i)
                    dense::multiply(1, a, dense::Form::plain, a, dense::Form::plain, 0,
                                    dense::Matrix<float>((*results)[worker].data(), n, n));
                });
              },
          .flops = flops_of_one * static_cast<double>(count),
          .items = items * flops_of_one * static_cast<double>(count) / flops};
}

constexpr const char* gold =
    "data_gold\n_cell_length_a 4.078\n_cell_length_b 4.078\n_cell_length_c 4.078\n_cell_angle_alpha 90\n"
    "_cell_angle_beta 90\n_cell_angle_gamma 90\n_symmetry_space_group_name_H-M 'F m -3 m'\nloop_\n_atom_site_label\n"
    "_atom_site_type_symbol\n_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_z\nAu1 Au 0 0 0\n";

/// Evenly distributed turns: quaternions of four normal numbers.
Orientation random_orientation(Random& random) {
  double q[4], norm = 0;
  for (double& part : q) {
    part = random.normal();
    norm += part * part;
  }
  return turn_about(normalised({q[1], q[2], q[3]}), 2 * std::acos(q[0] / std::sqrt(norm)));
}

/// Lists of 25 disks of a lattice that changes along the scan, scattered by 0.02 px.
BraggVectors drawn_vectors(Index side) {
  BraggVectors vectors;
  vectors.scan_rows = vectors.scan_cols = side;
  vectors.rows = vectors.cols = 256;
  vectors.probe_radius = 8;
  vectors.valid.assign(static_cast<std::size_t>(side * side), 1);
  vectors.offsets.push_back(0);
  Random random(workload_seed, 0);
  for (Index p = 0; p < side * side; ++p) {
    const double strain = 0.02 * static_cast<double>(p % side) / static_cast<double>(side);
    for (int order = 0; order < 3; ++order)  // the direct disk is the brightest, and lists begin with that
      for (int h = -2; h <= 2; ++h)
        for (int k = -2; k <= 2; ++k) {
          if (std::max(std::abs(h), std::abs(k)) != order) continue;
          vectors.qx.push_back(static_cast<float>(127.3 + 40 * (1 - strain) * h - 5 * k + 0.02 * random.normal()));
          vectors.qy.push_back(static_cast<float>(129.1 + 6 * h + 42 * k + 0.02 * random.normal()));
          vectors.intensity.push_back(static_cast<float>(100 * std::exp(-0.5 * (h * h + k * k))));
        }
    vectors.offsets.push_back(vectors.qx.size());
  }
  return vectors;
}

/// Written pages of a file stay in memory: they are written to the disk first.
void drop_from_memory(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)::fdatasync(descriptor);
  (void)::posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
  (void)::close(descriptor);
}

}  // namespace

PreparedCase prepare_disks(const BenchPoint& point) {
  const Index side = whole_size(point.size, "detector pixels along a side");
  const Index patterns = std::max<Index>(32, Index{512} * 128 * 128 / (side * side));
  PreparedCase prepared = disks_case(side, patterns, 2);
  prepared.peers.push_back(python_peer("SciPy, batched, parabola", "scipy_disks.py",
                                       {point.size, std::to_string(patterns), std::to_string(point.workers)}));
  return prepared;
}

PreparedCase prepare_disk_count(const BenchPoint& point) {
  const Index disks = whole_size(point.size, "disks");
  const auto orders = static_cast<Index>(std::lround((std::sqrt(static_cast<double>(disks)) - 1) / 2));
  return disks_case(128, 256, std::max<Index>(0, orders));
}

PreparedCase prepare_orient(const BenchPoint& point) {
  OrientationOptions options{.voltage = 300};
  options.angle_step_zone_axis = static_cast<double>(whole_size(point.size, "degrees between zone axes"));
  auto plan = std::make_shared<OrientationPlan>(OrientationPlan::prepare(crystal_from_cif(gold, "gold"), options));
  constexpr Index patterns = 256;
  auto peaks = std::make_shared<std::vector<DiffractionPeak>>();
  auto first = std::make_shared<std::vector<Index>>(1, 0);
  Random random(workload_seed, 0);
  for (Index i = 0; i < patterns; ++i) {
    for (const KinematicSpot& spot : kinematic_pattern(plan->reflections(), random_orientation(random), plan->beam()))
      peaks->push_back({spot.x, spot.y, spot.intensity});
    first->push_back(static_cast<Index>(peaks->size()));
  }
  const auto zones = static_cast<double>(plan->zones().size()), shells = static_cast<double>(plan->radii().size()),
             angles = static_cast<double>(plan->angles());
  // Products of the plan with a pattern and its mirror image, and a transform of both for every zone.
  const double flops =
      patterns * zones * (8 * shells * static_cast<double>(plan->frequencies()) + 2 * 2.5 * angles * std::log2(angles));
  PreparedCase prepared;
  prepared.input = fmt::format("{} patterns of gold, {:.1f} peaks; {} zone axes x {} shells x {} angles", patterns,
                               static_cast<double>(peaks->size()) / patterns, zones, shells, angles);
  prepared.operations.push_back({.name = "orientations",
                                 .run = [=] { (void)match_orientations(*plan, *peaks, *first); },
                                 .flops = flops,
                                 .items = patterns,
                                 .floor = "products of matrices"});
  prepared.operations.push_back(products(flops, patterns));
  return prepared;
}

PreparedCase prepare_phase(const BenchPoint& point) {
  const Index side = whole_size(point.size, "positions along a side");
  auto field = std::make_shared<VectorField>(make_field(side, side));
  Random random(workload_seed, 0);
  for (std::size_t i = 0; i < field->x.size(); ++i) {
    field->x[i] = random.normal();
    field->y[i] = random.normal();
  }
  PreparedCase prepared;
  prepared.input = fmt::format("a field of {} x {} positions", side, side);
  prepared.operations.push_back({.name = "dct", .run = [=] { (void)integrate_cosine(*field); }, .items = 1});
  prepared.operations.push_back({.name = "fourier", .run = [=] { (void)integrate_fourier(*field); }, .items = 1});
  return prepared;
}

PreparedCase prepare_strain(const BenchPoint& point) {
  const Index side = whole_size(point.size, "positions along a side");
  auto vectors = std::make_shared<BraggVectors>(drawn_vectors(side));
  PreparedCase prepared;
  prepared.input = fmt::format("{} x {} positions with 25 disks", side, side);
  prepared.operations.push_back({.name = "strain",
                                 .run = [=] { (void)make_strain(*vectors, {}, Budget::automatic(Device::cpu())); },
                                 .items = static_cast<double>(side * side)});
  prepared.operations.push_back({.name = "strain, without outlier tests",
                                 .run =
                                     [=] {
                                       StrainOptions options;
                                       options.robust = false;
                                       (void)make_strain(*vectors, options, Budget::automatic(Device::cpu()));
                                     },
                                 .items = static_cast<double>(side * side)});
  return prepared;
}

PreparedCase prepare_cold_file(const BenchPoint&) {
  const std::string master = workload_file(Workload::w1);
  std::vector<std::filesystem::path> files;
  double bytes = 0;
  for (const std::filesystem::path& file : entries_of(std::filesystem::path(master).parent_path()))
    if (const auto size = file_bytes(file); size && file.filename().string().starts_with("w1_")) {
      files.push_back(file);
      bytes += static_cast<double>(*size);
    }
  LoadOptions options;
  options.layout = LayoutChoice::file;
  const auto moments = [=] { (void)load(master, options, Budget::automatic(Device::cpu())); };
  PreparedCase prepared;
  prepared.input = fmt::format("16384 frames of 192 x 192 u16, {:.0f} MB on disk", bytes / 1e6);
  prepared.operations.push_back(
      {.name = "moments, file in memory", .run = moments, .bytes = 16384.0 * 192 * 192 * 2, .items = 16384});
  prepared.operations.push_back({.name = "moments, file not in memory",
                                 .run = moments,
                                 .bytes = bytes,
                                 .traffic = Traffic::disk,
                                 .before =
                                     [=] {
                                       for (const auto& file : files) drop_from_memory(file);
                                     },
                                 .items = 16384});
  return prepared;
}

}  // namespace sonde::stem
