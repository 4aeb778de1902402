// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/report/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "sonde/instruments/ptycho/engines/engine.h"

namespace sonde::ptycho {
namespace {

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool is_suspect(const Findings& findings, std::string_view name) {
  return std::any_of(findings.diagnoses.begin(), findings.diagnoses.end(), [&](const Diagnosis& diagnosis) {
    return diagnosis.name == name && diagnosis.verdict == Verdict::suspect;
  });
}

std::string sentence(std::string_view words) {
  std::string text(words);
  if (!text.empty()) text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

/// Whether the last engine has no step that could be halved.
bool has_no_steps(const Findings& findings) {
  return !findings.engines.empty() && !engine_kind(findings.engines.back()).setup()->traits().has_steps;
}

}  // namespace

std::vector<Advice> advice_for(const Findings& findings) {
  std::vector<Advice> advice;
  const double ratio = findings.floor > 0 ? findings.r_intensity / findings.floor : 0;
  const bool power_is_kept = contains(findings.constraints, "probe_power");
  const bool refined = !findings.position_method.empty() && findings.position_method != "none";
  if (findings.outcome == "diverged" && has_no_steps(findings))
    advice.push_back({"Let another engine continue from its best estimate",
                      "the run diverged: " + findings.because + "; projections fluctuate around the solution",
                      "[[engine]]\nname = \"gd\"\niterations = 60"});
  else if (findings.outcome == "diverged")
    advice.push_back({"Halve the steps of the engine", "the run diverged: " + findings.because,
                      power_is_kept ? "" : "[[constraint]]\nname = \"probe_power\""});
  else if (findings.power_total > 1.5 || findings.power_total < 0.67)
    advice.push_back({power_is_kept ? "Shorten the steps of the engine" : "Hold the probe's power",
                      fmt::format("the probe's power has changed {:.2f}-fold since the start", findings.power_total),
                      power_is_kept ? "" : "[[constraint]]\nname = \"probe_power\""});
  if (findings.outcome == "stopped")
    advice.push_back(
        {"Let the run end", "it was stopped after " + std::to_string(findings.iterations) + " iterations", ""});
  if (findings.r_free && findings.lowest_r_free && *findings.r_free > 1.02 * *findings.lowest_r_free)
    advice.push_back(
        {"Stop earlier, or constrain more",
         fmt::format("R_free was lowest in iteration {} ({:.4f}) and is {:.4f} now: later iterations fit noise",
                     findings.lowest_r_free_at, *findings.lowest_r_free, *findings.r_free),
         "[[constraint]]\nname = \"tv\"\nweight = 0.002"});
  else if (findings.fit == Fit::below_floor && !findings.r_free)
    advice.push_back({"Hold frames out", "R_I is below what counting noise allows, so that noise is fitted",
                      "[data]\nholdout = 0.03"});
  if (findings.still_falls && findings.outcome != "diverged")
    advice.push_back({"Take more iterations", "R_I is still falling by more than 1 % in ten iterations", ""});
  const bool far = findings.fit == Fit::poor;
  if (far && !findings.still_falls && !refined)
    advice.push_back({"Refine the positions",
                      fmt::format("R_I stays at {:.2f} times its floor while positions are as the file says", ratio),
                      "[positions]\nmethod = \"gradient\""});
  if (far && !findings.still_falls && findings.occupancy.size() == 1)
    advice.push_back({"Take more probe modes",
                      fmt::format("R_I stays at {:.2f} times its floor: partial coherence may be the rest", ratio),
                      "[probe]\nmodes = 3"});
  if (far && !findings.still_falls)
    advice.push_back({"Check defocus, semiangle, pixel size and orientation",
                      "a wrong calibration or a transposed detector leaves a large R_I whatever the engine does", ""});
  if (findings.occupancy.size() > 2 && findings.occupancy.back() < 0.002)
    advice.push_back({"Take fewer probe modes",
                      fmt::format("the last mode holds {:.2f} % of the power", 100 * findings.occupancy.back()), ""});
  if (is_suspect(findings, "scan_distortion"))
    advice.push_back(
        {"Check defocus, pixel size and scan step, or hold the scan's shape",
         fmt::format(
             "correcting the positions has stretched the scan by {:+.2f} %, turned it by {:+.2f}°, sheared it by "
             "{:.2f} %; a wrong defocus looks like another scale, and lengths are wrong by as much",
             100 * (findings.movement.affine.scale() - 1), findings.movement.affine.rotation() * 180 / std::numbers::pi,
             100 * findings.movement.affine.shear()),
         "[positions]\naffine = \"held\""});
  for (const Diagnosis& diagnosis : findings.diagnoses) {
    if (diagnosis.verdict != Verdict::suspect) continue;
    if (diagnosis.name == "low_contrast" && findings.still_falls) continue;  // said already
    if (diagnosis.name == "scan_distortion") continue;                       // said above, with numbers
    const std::string title =
        refined && diagnosis.fix == "refine the positions"
            ? "Let the positions move further (max_move_px), or check step and rotation of the scan"
            : sentence(diagnosis.fix);
    const auto says_so = [&](const Advice& each) { return each.what == title; };
    if (std::any_of(advice.begin(), advice.end(), says_so)) continue;
    advice.push_back({title, fmt::format("{}: {}", diagnosis.name, diagnosis.cause), ""});
  }
  if (!findings.half_data && !is_suspect(findings, "not_finite") && findings.outcome != "diverged")
    advice.push_back({"Let two halves of the data tell the resolution", "no half-data run is part of this result",
                      "[quality]\nhalf_data = true"});
  return advice;
}

}  // namespace sonde::ptycho
