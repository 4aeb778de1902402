// SPDX-License-Identifier: Apache-2.0
import type { ComponentType } from "preact";

import { ExportPanel } from "../export/export_dialog";
import type { PanelDescription } from "../protocol/messages";
import { ColoursPanel, LabelsPanel } from "./colours_panel";
import { CurvesPanel } from "./curves_panel";
import { AdjustPanel } from "./adjust_panel";
import { DetectorSection } from "./detector_section";
import { DiagnosesPanel } from "./diagnoses";
import { FramesPanel } from "./frames_panel";
import type { IconName } from "./icons";
import { KeysPanel } from "./keys_panel";
import { DatasetChoice, MemoryPanel } from "./memory_panel";
import { MixerPanel } from "./mixer_panel";
import { PicturePanel } from "./picture_panel";
import { ProfilePanel } from "./profile_panel";
import { RunBar } from "./run_bar";
import { RunSettingsPanel } from "./run_settings";
import { ArrangementSection, CentreSection, CompareSection, DataSection, RegionSection } from "./sections";
import { SeriesBar } from "./series_bar";
import { DiffractionPanel, RealSpacePanel, SpectrumPanel } from "./space_panels";
import { Chart, Facts, Table, TextPanel } from "./text_panels";
import { VectorsPanel } from "./vectors_panel";

export interface Kind {
  Body: ComponentType<{ panel: PanelDescription }>;
  /** What is around it: a box with the title where nothing is said, a box without, or what it draws itself. */
  frame?: "untitled" | "own";
  /** In the top bar, where its place is "dialog". */
  button?: { icon: IconName; keys: string };
}

/** What draws a panel of each type that a page may have. The server decides which panels there are, in which order and
 *  place; a new kind is a file and a row here. */
export const KINDS: Readonly<Record<string, Kind>> = {
  adjust: { Body: AdjustPanel },
  chart: { Body: Chart },
  colours: { Body: ColoursPanel },
  curves: { Body: CurvesPanel },
  diagnoses: { Body: DiagnosesPanel },
  facts: { Body: Facts },
  frames: { Body: FramesPanel },
  labels: { Body: LabelsPanel },
  mixer: { Body: MixerPanel, frame: "own" },
  picture: { Body: PicturePanel },
  run: { Body: RunBar, frame: "untitled" },
  settings: { Body: RunSettingsPanel },
  table: { Body: Table },
  text: { Body: TextPanel },
  vectors: { Body: VectorsPanel },
  // Of a page of scans, which share the state in scan.ts.
  arrangement: { Body: ArrangementSection, frame: "own" },
  centre: { Body: CentreSection, frame: "own" },
  compare: { Body: CompareSection, frame: "own" },
  data: { Body: DataSection, frame: "own" },
  datasets: { Body: DatasetChoice, frame: "own" },
  detectors: { Body: DetectorSection, frame: "own" },
  export: { Body: ExportPanel, frame: "own", button: { icon: "export", keys: "E" } },
  image: { Body: RealSpacePanel, frame: "own" },
  keys: { Body: KeysPanel, frame: "own", button: { icon: "help", keys: "?" } },
  memory: { Body: MemoryPanel, frame: "own" },
  pattern: { Body: DiffractionPanel, frame: "own" },
  profile: { Body: ProfilePanel, frame: "own" },
  region: { Body: RegionSection, frame: "own" },
  series: { Body: SeriesBar, frame: "own" },
  spectrum: { Body: SpectrumPanel, frame: "own" },
};
