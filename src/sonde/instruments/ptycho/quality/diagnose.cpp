// SPDX-License-Identifier: Apache-2.0
// The table of diagnoses: a new one is a function of symptoms.h and a row here.
#include "sonde/instruments/ptycho/quality/diagnose.h"

#include <array>
#include <cmath>
#include <numbers>

#include "sonde/instruments/ptycho/quality/symptoms.h"

namespace sonde::ptycho {
namespace {

struct Row {
  std::string_view name;
  symptom::Symptom (*measure)(const symptom::View&);
  double threshold;  ///< a value above it is suspect
  std::string_view cause, fix;
  bool quick = false;  ///< looks at no image
};

// docs/ptycho-theory.md#diagnoses has the same thresholds. Lines of a spectrum: the median along a line of noise
// is above 3 times that of the ring for no view of more than twenty pixels. The raster shows at a hundredth of the
// phase in good results, some mrad right, and in the truth as well.
constexpr std::array<Row, 15> rows{{
    {"ringing", symptom::ringing, 3,
     "rings of the probe's edge in the object: defocus or semiangle are wrong, or the overlap is too small",
     "check defocus and semiangle, take more iterations, or smooth with gaussian or tv"},
    {"missing_overlap", symptom::missing_overlap, 0.4, "neighbouring probes share less than 60 % of their diameter",
     "scan with smaller steps, or with a larger defocus", /*quick=*/true},
    {"scan_distortion", symptom::scan_distortion, 0.005,
     "correcting the positions has stretched, turned or sheared the scan: lengths are wrong by as much if the scan was "
     "right, since a wrong defocus looks like another scale",
     "set defocus, pixel size and scan step right first, or hold the scan's shape with positions.affine = \"held\"",
     /*quick=*/true},
    {"streaking", symptom::streaking, 0.5,
     "the phase varies along one axis more than along the other: positions are wrong, or the scan has flyback",
     "refine the positions"},
    {"spectral_line", symptom::spectral_line, 3,
     "a line along an axis of the spectrum: lines of the scan are displaced against each other",
     "refine the positions"},
    {"low_contrast", symptom::low_contrast, 1,
     "the fit is still far from what counting allows, and it is still getting better", "take more iterations"},
    {"not_finite", symptom::not_finite, 0, "the estimate holds numbers that are none",
     "lower the steps, look at dead frames and at the mask"},
    {"checkerboard", symptom::checkerboard, 0.05, "neighbouring pixels alternate: a detail that no pattern measures",
     "check the numerics and the mask, or take the highest frequencies out with butterworth"},
    {"raster_grid", symptom::raster_grid, 0.1,
     "a tenth of the phase's variation is at multiples of the inverse scan step: the raster shows in the object",
     "scan at random positions, or let the probe move more freely (a larger step, an earlier start)"},
    {"phase_wrap", symptom::phase_wrap, std::numbers::pi, "the phase jumps by more than half a turn between neighbours",
     "unwrap the phase, or reconstruct a potential"},
    {"blurring", symptom::blurring, 0.5, "more than half of the power at high frequencies is gone",
     "lower the weight of tv or gaussian"},
    {"probe_structure", symptom::probe_structure, 0.3, "the probe has taken structure of the object",
     "switch the constraint probe_fourier_support on"},
    {"outside_aperture", symptom::outside_aperture, 0.05, "the probe has power where the aperture lets nothing through",
     "switch the constraint probe_fourier_support on", /*quick=*/true},
    {"mode_collapse", symptom::mode_collapse, 0.99, "two probe modes are the same",
     "switch the constraint orthogonalise on, or take fewer modes", /*quick=*/true},
    {"low_dose", symptom::low_dose, 1, "less than a count per detector pixel: the amplitude loss is biased",
     "take the loss \"poisson\"", /*quick=*/true},
}};

std::string_view word(Verdict verdict) {
  switch (verdict) {
    case Verdict::good:
      return "good";
    case Verdict::suspect:
      return "suspect";
    case Verdict::unknown:
      break;
  }
  return "unknown";
}

}  // namespace

Diagnosis judged(std::string_view name, std::optional<double> value, double threshold, std::string_view cause,
                 std::string_view fix) {
  const bool known = value && std::isfinite(*value);
  const Verdict verdict = !known ? Verdict::unknown : *value > threshold ? Verdict::suspect : Verdict::good;
  return {name, known ? *value : 0, threshold, verdict, cause, fix};
}

std::vector<Diagnosis> diagnose(const Evidence& evidence) {
  const symptom::View view(evidence);
  std::vector<Diagnosis> diagnoses;
  for (const Row& row : rows)
    diagnoses.push_back(judged(row.name, row.measure(view), row.threshold, row.cause, row.fix));
  return diagnoses;
}

std::vector<Diagnosis> diagnose_quickly(const Evidence& evidence) {
  const symptom::View view = symptom::View::without_images(evidence);
  std::vector<Diagnosis> diagnoses;
  for (const Row& row : rows)
    if (row.quick) diagnoses.push_back(judged(row.name, row.measure(view), row.threshold, row.cause, row.fix));
  return diagnoses;
}

Value to_value(const std::vector<Diagnosis>& diagnoses) {
  Value list = Value::list();
  for (const Diagnosis& diagnosis : diagnoses) {
    Value item;
    item["name"] = diagnosis.name;
    if (diagnosis.verdict != Verdict::unknown) item["value"] = diagnosis.value;
    item["threshold"] = diagnosis.threshold;
    item["verdict"] = word(diagnosis.verdict);
    if (diagnosis.verdict == Verdict::suspect) {
      item["cause"] = diagnosis.cause;
      item["fix"] = diagnosis.fix;
    }
    list.push_back(std::move(item));
  }
  return list;
}

}  // namespace sonde::ptycho
