// SPDX-License-Identifier: Apache-2.0
import type { ComponentType } from "preact";

import type { PanelDescription } from "../protocol/messages";
import { CurvesPanel } from "./curves_panel";
import { DiagnosesPanel } from "./diagnoses";
import { FramesPanel } from "./frames_panel";
import { PicturePanel } from "./picture_panel";
import { RunBar } from "./run_bar";
import { RunSettingsPanel } from "./run_settings";
import { Chart, Facts, Table, TextPanel } from "./text_panels";

/** What draws a panel of each type that a page may have. The server decides which panels there are, in which order; a new
 *  kind is a file and a row here. */
export const KINDS: Readonly<Record<string, ComponentType<{ panel: PanelDescription }>>> = {
  chart: Chart,
  curves: CurvesPanel,
  diagnoses: DiagnosesPanel,
  facts: Facts,
  frames: FramesPanel,
  picture: PicturePanel,
  run: RunBar,
  settings: RunSettingsPanel,
  table: Table,
  text: TextPanel,
};

/** Kinds that are lines without a title. */
export const BARS: ReadonlySet<string> = new Set(["run"]);
