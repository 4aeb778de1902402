// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/results/model_snapshots.h"

#include <algorithm>
#include <utility>

#include "sonde/engine/base/paths.h"
#include "sonde/engine/io/output_ending.h"

namespace sonde::maxwell {
namespace {

constexpr const char* what_it_is = "the snapshot";

Sampling sampling_of(const GprmaxSnapshotBox& box, const GprmaxAxes& axes) {
  Sampling made{.axes = axes, .first = axes.to_file(box.first), .step = axes.to_file(box.step), .centred = true};
  const XyzIndex last = axes.to_file(box.last);
  // As gprMax counts them; what reaches beyond the domain is zero.
  for (std::size_t u = 0; u < 3; ++u)
    made.count[u] = std::max<Index>(
        1, rounded_half_down(static_cast<double>(last[u] - made.first[u]) / static_cast<double>(made.step[u])));
  return made;
}

/// x, y, z of a vector in each cell.
template <class T>
Array interleaved(const std::array<Array, 3>& planes) {
  const Index cells = planes[0].count();
  Array made = Array::zeros(Device::cpu(), {cells, 3}, dtype_of<T>);
  T* to = static_cast<T*>(made.data());
  for (Index i = 0; i < cells; ++i)
    for (const Array& plane : planes) *to++ = static_cast<const T*>(plane.data())[i];
  return made;
}

/// Of a run that was killed: no file that has its name, but some that never got theirs (AtomicFile).
bool holds_left_overs_only(const std::string& folder) {
  const std::vector<std::filesystem::path> held = entries_of(folder);
  return !held.empty() && std::ranges::all_of(held, [](const std::filesystem::path& each) {
    return each.filename().string().find(".partial-") != std::string::npos;
  });
}

}  // namespace

std::string ResultFolder::file(const std::string& name) {
  if (!std::exchange(used_, true)) {
    made_ = !path_exists(path_) || (is_folder(path_) && holds_left_overs_only(path_));
    make_folders(path_);
  }
  return (std::filesystem::path(path_) / name).string();
}

ResultFolder::~ResultFolder() {
  std::error_code ignored;
  if (made_) std::filesystem::remove(path_, ignored);  // only if it is empty
}

ModelSnapshots::ModelSnapshots(const GprmaxModel& model, Precision precision, double inner_dt,
                               const std::string& folder)
    : model_(model), precision_(precision), inner_dt_(inner_dt) {
  if (!folder.empty()) folder_.emplace(folder);
}

std::string ModelSnapshots::file_name(const GprmaxSnapshotBox& box) {
  const std::string ending = output_ending(box.file);
  return ending == ".vti" || ending == ".h5" ? box.file : box.file + ".h5";
}

void ModelSnapshots::look(Index step, const LiveFields& fields) {
  for (const GprmaxSnapshotBox& box : model_.snapshots)
    if (step == box.before_step - 1) write(box, fields);
}

void ModelSnapshots::write(const GprmaxSnapshotBox& box, const LiveFields& fields) {
  const FrameSpec spec{.title = model_.title,
                       .sampling = sampling_of(box, model_.axes),
                       .grid = model_.grid,
                       .spacing = model_.spacing,
                       .precision = precision_,
                       .magnetic_delay = inner_dt_ / 2};
  if (output_ending(file_name(box)) == ".vti") return write_image(file_name(box), spec.sampling, fields);
  if (!folder_) return for_each_plane(spec, fields, [](Component, Index, const Array&) {});
  FrameFile& file = arrays_.emplace_back(folder_->file(file_name(box)), spec, side_output(what_it_is, FileMark::hdf5));
  file.add(0, static_cast<double>(box.before_step - 1) * model_.dt, fields);
  file.close();
}

void ModelSnapshots::write_image(const std::string& name, const Sampling& sampling, const LiveFields& fields) {
  const DType dtype = precision_ == Precision::f32 ? DType::f32 : DType::f64;
  VtiFile::Image image{.cells = sampling.count, .values = {{"E-field", dtype, 3}, {"H-field", dtype, 3}}};
  for (std::size_t u = 0; u < 3; ++u) {
    image.origin[u] = static_cast<double>(sampling.first[u]) * model_.spacing[u];
    image.spacing[u] = static_cast<double>(sampling.step[u]) * model_.spacing[u];
  }
  VtiFile* const file =
      folder_ ? &images_.emplace_back(folder_->file(name), std::move(image), side_output(what_it_is, FileMark::text))
              : nullptr;
  for (const auto& components : {electric_components, magnetic_components})
    for (Index z = 0; z < sampling.count[2]; ++z) {
      std::array<Array, 3> planes;
      for (std::size_t u = 0; u < 3; ++u) planes[u] = sampled_plane(fields, sampling, components[u], z);
      if (file != nullptr) file->write(dtype == DType::f32 ? interleaved<float>(planes) : interleaved<double>(planes));
    }
  if (file != nullptr) file->close();
}

std::vector<std::string> ModelSnapshots::finish() {
  std::vector<std::string> made;
  const auto finish_all = [&](auto& files) {
    for (auto& file : files) {
      file.finish();
      made.push_back(file.path());
    }
  };
  finish_all(arrays_);
  finish_all(images_);
  return made;
}

}  // namespace sonde::maxwell
