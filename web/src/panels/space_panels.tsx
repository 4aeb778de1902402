// SPDX-License-Identifier: Apache-2.0
import { effect } from "@preact/signals";
import { useEffect } from "preact/hooks";

import type { PanelDescription } from "../protocol/messages";
import { Button, Group } from "./controls";
import { ImagePanel } from "./image_panel";
import { readout } from "./readout_line";
import { useScan } from "./scan";

/** The virtual images. What keys change is said aloud to those who do not see the values, once it rests. */
export function RealSpacePanel({ panel }: { panel: PanelDescription }) {
  const { store, stages } = useScan();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const stop = effect(() => {
      void [store.view.cursor.value, store.view.detectors.value, store.view.item.value];
      clearTimeout(timer);
      timer = setTimeout(() => {
        const stage = stages.get("image");
        if (stage) store.shared.spoken.value = readout(store, stage).replaceAll(/\s{2,}/g, ", ");
      }, 400);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, []);
  return (
    <ImagePanel name="image" title={panel.title}>
      <span class="spring" />
    </ImagePanel>
  );
}

/** The pattern at the probe, or that of a region. */
export function DiffractionPanel({ panel }: { panel: PanelDescription }) {
  const { store, actions } = useScan();
  const { patternSource, reduction } = store.view;
  return (
    <ImagePanel name="pattern" title={panel.title}>
      <span class="spring" />
      <Group label="Pattern of">
        <Button label="The pattern at the probe" text="probe" pressed={patternSource.value === "cursor"} onClick={() => actions.stepCursor(0, 0)} />
        <Button label="The pattern of the region" text={reduction.value} pressed={patternSource.value === "region"} onClick={() => actions.setReduction(reduction.value)} />
      </Group>
    </ImagePanel>
  );
}

/** Magnitude of the Fourier transform of the active image, with its strongest frequency, while it is wanted. */
export function SpectrumPanel({ panel }: { panel: PanelDescription }) {
  const { store, actions } = useScan();
  const { spectrumOn, spectrumWindow } = store.view;
  if (!spectrumOn.value) return null;
  const peak = store.spectrumReply.value?.peak;
  const frequency = peak?.frequency_per_nm;
  const text = frequency ? `peak ${frequency.toPrecision(4)} 1/nm, d ${(1 / frequency).toPrecision(4)} nm` : peak ? `peak at row ${peak.row}, col ${peak.col}` : "";
  return (
    <ImagePanel name="spectrum" title={panel.title}>
      <span class="hint spring">{text}</span>
      <Button
        label="Hann window before the transform"
        text="Hann"
        pressed={spectrumWindow.value === "hann"}
        onClick={() => actions.setSpectrum(true, spectrumWindow.value === "hann" ? "none" : "hann")}
      />
      <Button quiet label="Close the FFT" icon="close" keys="F" onClick={() => actions.setSpectrum(false)} />
    </ImagePanel>
  );
}
