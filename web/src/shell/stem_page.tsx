// SPDX-License-Identifier: Apache-2.0
import { effect } from "@preact/signals";
import { useEffect, useLayoutEffect } from "preact/hooks";

import { ExportDialog } from "../export/export_dialog";
import { useViewer } from "../panels/context";
import { DetectorSection } from "../panels/detector_section";
import { ImagePanel } from "../panels/image_panel";
import { ProfilePanel } from "../panels/profile_panel";
import { readout } from "../panels/readout_line";
import { ArrangementSection, CentreSection, CompareSection, FactsSection, RegionSection } from "../panels/sections";
import { SeriesBar } from "../panels/series_bar";
import { SpectrumPanel } from "../panels/spectrum_panel";
import { Button, Group } from "../panels/controls";
import { Help } from "./help";
import { listen } from "./keyboard";

/** Real space beside diffraction; below them, when wanted, the FFT and a line profile; controls at the side. */
export function StemPage() {
  const { store, actions } = useViewer();
  useLayoutEffect(() => listen(actions), []);
  const { spectrumOn, profile } = store.view;
  const lower = Number(spectrumOn.value) + Number(profile.value !== null);
  const dialog = store.dialog.value;
  return (
    <main class="stem">
      <div class={`stages lower-${lower}`}>
        <ImagePanel name="image" title="Real space">
          <span class="spring" />
        </ImagePanel>
        <ImagePanel name="pattern" title="Diffraction">
          <span class="spring" />
          <PatternSource />
        </ImagePanel>
        {spectrumOn.value && <SpectrumPanel />}
        {profile.value && <ProfilePanel />}
      </div>
      <aside class="inspector" aria-label="Controls">
        <CompareSection />
        <DetectorSection />
        <CentreSection />
        <RegionSection />
        <ArrangementSection />
        <FactsSection />
      </aside>
      <SeriesBar />
      <Spoken />
      {dialog === "help" && <Help />}
      {dialog === "export" && <ExportDialog />}
    </main>
  );
}

function PatternSource() {
  const { store, actions } = useViewer();
  const { patternSource, reduction } = store.view;
  return (
    <Group label="Pattern of">
      <Button label="The pattern at the probe" text="probe" pressed={patternSource.value === "cursor"} onClick={() => actions.stepCursor(0, 0)} />
      <Button label="The pattern of the region" text={reduction.value} pressed={patternSource.value === "region"} onClick={() => actions.setReduction(reduction.value)} />
    </Group>
  );
}

/** Says values aloud to those who do not see them: what keys change, once they rest. */
function Spoken() {
  const { store, stages } = useViewer();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const stop = effect(() => {
      void [store.view.cursor.value, store.view.detectors.value, store.view.item.value];
      clearTimeout(timer);
      timer = setTimeout(() => {
        const stage = stages.get("image");
        if (stage) store.spoken.value = readout(store, stage).replaceAll(/\s{2,}/g, ", ");
      }, 400);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
  return (
    <p class="unseen" aria-live="polite">
      {store.spoken.value}
    </p>
  );
}
