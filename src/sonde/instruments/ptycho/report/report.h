// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sonde/instruments/ptycho/report/findings.h"
#include "sonde/instruments/ptycho/results/picture.h"
#include "sonde/instruments/ptycho/results/result.h"

namespace sonde::ptycho {

/// A page that shows and judges a result: pictures with scale bars, curves, positions, diagnoses with causes and
/// remedies, what to try next, settings and provenance. Nothing is fetched from outside of it, it has no script, and
/// it prints. `name` is what the page is about, usually the result's file name.
[[nodiscard]] std::string report_html(const Result& result, const Findings& findings, const std::string& name);

/// The page of a result as a file, complete or not at all. Throws Error(io).
void write_report(const std::string& path, const Result& result, const Findings& findings, const std::string& name,
                  const OutputRole& role = page_role());

}  // namespace sonde::ptycho
