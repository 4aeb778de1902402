// SPDX-License-Identifier: Apache-2.0
#include "sonde/instruments/ptycho/engines/gd.h"

#include "sonde/instruments/ptycho/engines/preconditioned_step.h"

namespace sonde::ptycho {

void GdSettings::describe(Fields& fields) {
  fields.add("step", step, {.help = "step along the preconditioned gradient", .min = 0, .max = 2, .changeable = true});
  fields.add("g", g,
             {.help = "0 divides by the local illumination, 1 by its maximum", .min = 0, .max = 1, .changeable = true});
  batch.describe(fields);
  describe_loss(fields, loss);
}

MemoryNeed GdSettings::memory(const WorkSizes& sizes, const BatchSizes& batch_sizes) const {
  return {sums_bytes(sizes, batch_sizes), "sums of object and probe, band tiles"};
}

template <class Real>
void Gd<Real>::iterate(Workbench<Real>& bench, const Iteration& iteration) {
  State& state = bench.state();
  const Preconditioner by{.keep = 1 - settings_.g, .floor = settings_.g};
  const SharedBatches batches = bench.batches(settings_.batch, iteration.number);
  const Wanted wanted{iteration.object_free, iteration.probe_free};
  if (DevicePass<Real>* there = bench.device_pass()) {
    const double step = settings_.step;
    there->iterate(
        batches.here, wanted, {},
        [wanted, by, step](Stream& stream, const DeviceSums& sums, DeviceEstimate& estimate) {
          if (wanted.object) step_object<Real>(stream, sums, by, step, estimate);
          if (wanted.probe) step_probe<Real>(stream, sums, by, step, estimate);
        },
        bench.fit());
    there->give(state);
    return;
  }
  for (Index b = 0; b < batches.count(); ++b) {
    bench.check_interrupt();
    if (b + 1 < batches.count()) bench.pass().comes_next(batches[b + 1]);
    bench.pass().run(state, bench.spectrum(), batches[b], wanted, sums_, bench.fit());
    if (iteration.object_free) step_object<Real>(sums_, by, settings_.step, state);
    if (!iteration.probe_free) continue;
    step_probe<Real>(sums_, by, settings_.step, state);
    bench.renew_spectrum();
  }
}

template class Gd<float>;
template class Gd<double>;

}  // namespace sonde::ptycho
