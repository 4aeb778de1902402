// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/stem/calibrate/calibrate_options.h"

#include <fmt/format.h>

#include "sonde/engine/base/error.h"
#include "sonde/engine/base/setting.h"

namespace sonde::stem {

void CalibrateOptions::describe(Fields& fields) {
  fields.heading("Rings");
  fields.add("calibrant", calibrant,
             {.help = "substance of the rings, for the size of a pixel: a CIF file, or spacings in A, one to a line",
              .metavar = "FILE.cif|FILE.D"});
  fields.add("centre", centre,
             {.help = "where the fit begins, in pixels after binning; auto finds it in the mean pattern",
              .metavar = "ROW,COL|auto",
              .alias = "center"});
  fields.choice("centre_method", centre_method,
                {{"edge", CentreMethod::edge},
                 {"threshold", CentreMethod::threshold},
                 {"plateau", CentreMethod::plateau},
                 {"com", CentreMethod::com},
                 {"friedel", CentreMethod::friedel}},
                {.help = "how that centre is found", .alias = "center_method"});
  fields.add("inner", inner,
             {.help = "rings are measured from this radius on; else from 1.5 radii of the direct disk",
              .unit = "px",
              .min = 0,
              .max = 1e5});
  fields.add(
      "outer", outer,
      {.help = "up to this radius; else to the nearest edge of the detector", .unit = "px", .min = 1, .max = 1e5});
  fields.add("k_max", k_max,
             {.help = "largest 1/d of the lines of the calibrant", .unit = "1/A", .min = 0.01, .max = 20});
  fields.add("fit_ellipse", fit_ellipse,
             {.help = "measure the ellipse; else rings are taken as circles about the centre"});
  fields.heading("");
}

void CalibrateOptions::check() const {
  if (inner && outer && !(*outer >= *inner + 4))
    throw Error(ErrorKind::usage,
                fmt::format("rings from {:g} to {:g} px; expected 4 px or more between them", *inner, *outer))
        .hint("give a larger " + setting("outer") + " or a smaller " + setting("inner"));
}

}  // namespace sonde::stem
