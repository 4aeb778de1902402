// SPDX-License-Identifier: Apache-2.0
import { Button } from "./controls";
import { useViewer } from "./context";
import { ImagePanel } from "./image_panel";

/** Magnitude of the Fourier transform of the active image, with its strongest frequency. */
export function SpectrumPanel() {
  const { store, actions } = useViewer();
  const { spectrumWindow } = store.view;
  const peak = store.spectrumReply.value?.peak;
  const frequency = peak?.frequency_per_nm;
  const text = frequency ? `peak ${frequency.toPrecision(4)} 1/nm, d ${(1 / frequency).toPrecision(4)} nm` : peak ? `peak at row ${peak.row}, col ${peak.col}` : "";
  return (
    <ImagePanel name="spectrum" title="FFT">
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
