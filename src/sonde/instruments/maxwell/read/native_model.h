// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "sonde/engine/io/atomic_file.h"
#include "sonde/engine/io/hdf5.h"
#include "sonde/instruments/maxwell/read/experiment_draft.h"

namespace sonde::maxwell {

/// The attribute `format` of native models and of what is recorded on them.
inline constexpr const char* native_format = "sonde-maxwell-1";

/// A native model, HDF5 with the attribute format = "sonde-maxwell-1". Arrays have the axes [z][x] (TM waves in two
/// dimensions) or [z][y][x]; lists of axes have their order.
///   /model/eps_r, sigma, mu_r, debye/deps, debye/tau    [pole] first; sigma and mu_r may be absent: 0 and 1
///   /model attributes: spacing (m, one or one for each axis), material_location ("node", "cell"), origin (m),
///     allow_sub_vacuum
///   /survey/source_location, receiver_location    [shot][point][axis]: integers are indices of the array of the
///     component, floats are positions in cells from plane 0; [source][axis] is a shot for each, [receiver][axis] is
///     for all shots
///   /survey/source_component, receiver_component    "Ex" to "Hz": one text, or one for each point
///   /source/amplitude    [shot][source][step], [source][step] or [step], with the attribute f0 of /source (Hz) where
///   it
///     is known; or attributes of /source in its place: wavelet, f0 (Hz), t0 (s), amp, cycles
///   /time attributes: dt (s; absent: courant of /grid), nt
///   /grid attributes, all optional: order, dtype ("f32", "f64"), courant, pml (cells: one, or low and high of each
///     axis), time_dispersion ("off", "corrected"), pml_preset ("default", "gprmax", "tide"), and of its profile
///     pml_grading, pml_sigma_factor, pml_kappa_max, pml_alpha_max, pml_alpha_min, pml_scale ("slab", "x_low",
///     "vacuum")
/// What the file says; parts may be missing. Throws Error(bad_file) for files of another format, and for values of
/// another type.
[[nodiscard]] ExperimentDraft read_native_draft(const std::string& path);
/// All of it, complete and valid. Throws like read_native_draft() and experiment_of().
[[nodiscard]] Experiment read_native_model(const std::string& path, std::size_t most_bytes);

/// Writes a valid experiment, whose shots have equally many sources and receivers, with float64 elements and positions:
/// reading it gives the same one. The file appears under its name when it is complete. Throws like Hdf5Writer.
void write_native_model(const std::string& path, const Experiment& experiment, const OutputRole& role = {});

/// The part /survey of a file, and one of its texts as it is stored: a data set of one or several texts, each of one
/// word or of several between commas.
void read_survey(const Hdf5File& file, ExperimentDraft& draft);

/// The lists of a survey as files hold them: [shot][point][axis], and a word for each point or one for all. Throws
/// Error(bad_input) for shots that differ in their number of points.
struct SurveyLists {
  Array source_location, receiver_location;
  std::vector<std::string> source_component, receiver_component;
};
[[nodiscard]] SurveyLists survey_lists(const std::vector<SurveyShot>& shots, Mode mode);

}  // namespace sonde::maxwell
