// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/maxwell/verbs/model_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "sonde/engine/base/log.h"
#include "sonde/engine/base/paths.h"
#include "sonde/engine/ranks/agree.h"
#include "sonde/engine/ranks/hand_out.h"
#include "sonde/engine/run/write_charts.h"
#include "sonde/instruments/maxwell/results/geometry_view.h"
#include "sonde/instruments/maxwell/verbs/run_parts.h"

namespace sonde::maxwell {
namespace {

namespace fs = std::filesystem;

void require_folder(const std::string& path) {
  // A folder that is not there yet is made where a file could be.
  if (!is_folder(path)) require_place(path, {.what = "the folder of snapshots"});
}

}  // namespace

ModelFiles::ModelFiles(const GprmaxInput& input, Index runs, const std::string& traces)
    : input_(input), runs_(runs), traces_(traces) {
  const std::size_t files = input.snapshots.size() + input.geometry_views.size();
  if (traces_.empty() && files > 0)
    log_warning(fmt::format("{}: its {} snapshots and views of the geometry are not written: give {}", input.name,
                            files, setting("output")));
  if (traces_.empty()) return;
  for (Index which = 0; which < runs && !input.snapshots.empty(); ++which) require_folder(folder(which));
  for (const GprmaxGeometryView& each : input.geometry_views) {
    require_place(view(each.file) + ".vti", side_output("the view of the geometry", FileMark::text));
    require_chart(view(each.file));
  }
}

std::string ModelFiles::folder(Index which) const {
  const fs::path whole(traces_);
  const std::string number = runs_ > 1 ? std::to_string(which + 1) : "";
  return (whole.parent_path() / (whole.stem().string() + "_snaps" + number)).string();
}

std::string ModelFiles::view(const std::string& name) const {
  const std::string stem = name.ends_with(".vti") ? name.substr(0, name.size() - 4) : name;
  return (fs::path(traces_).parent_path() / stem).string();
}

void ModelFiles::add_to(Watch& watch, Index which, const GprmaxRun& run, Precision precision, bool writes) {
  if (traces_.empty() || input_.snapshots.empty()) return;
  snapshots_.push_back(
      std::make_unique<ModelSnapshots>(run.model(), precision, run.plan().dt, writes ? folder(which) : ""));
  watch.look = [first = std::move(watch.look), then = snapshots_.back().get()](Index step, LiveFields& fields) {
    if (first) first(step, fields);
    then->look(step, fields);
  };
}

void ModelFiles::finish_snapshots(const Ranks& ranks, Run& run) {
  std::vector<std::string> finished;
  if (!all_succeed(ranks, [&] {
        for (const auto& each : snapshots_)
          for (std::string& path : each->finish()) finished.push_back(std::move(path));
      }))
    return;
  finished = gather_lines(ranks, finished);
  for (Index which = 0; which < runs_; ++which)
    for (const std::string& path : finished)
      if (fs::path(path).parent_path() == folder(which)) wrote(path, run);
}

void ModelFiles::write_views(const GprmaxModel& model, Run& run) const {
  if (traces_.empty() || input_.geometry_views.empty()) return;
  const std::vector<std::uint32_t> materials = gprmax_cell_materials(input_);
  for (const GprmaxGeometryView& each : input_.geometry_views) {
    write_geometry_view(view(each.file) + ".vti", input_, model, each, materials);
    wrote(view(each.file) + ".vti", run);
    draw(model_chart(input_, model, materials), view(each.file), run);
  }
}

}  // namespace sonde::maxwell
