// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sonde/engine/options/fields.h"
#include "sonde/instruments/ptycho/model/loss.h"
#include "sonde/instruments/ptycho/scan/groups.h"

namespace sonde::ptycho {

/// Which frames see the same estimate, for engines that update batch by batch.
struct BatchSettings {
  Index size = 64;
  Spread spread = Spread::random;

  void describe(Fields& fields) {
    fields.add("batch", size, {.help = "frames that are seen from the same estimate and applied together", .min = 1});
    fields.choice("spread", spread,
                  {{"random", Spread::random}, {"compact", Spread::compact}, {"uniform", Spread::uniform}},
                  {.help = "how the frames of a batch are distributed over the specimen"});
  }
};

/// The loss an engine minimises, where it has the choice.
inline void describe_loss(Fields& fields, Loss& loss) {
  fields.choice("loss", loss,
                {{"amplitude", Loss::amplitude},
                 {"anscombe", Loss::anscombe},
                 {"poisson", Loss::poisson},
                 {"intensity", Loss::intensity}},
                {.help = "what is minimised"});
}

}  // namespace sonde::ptycho
