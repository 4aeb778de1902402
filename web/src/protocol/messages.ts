// SPDX-License-Identifier: Apache-2.0
/** The text messages of `sonde.view.v1`; docs/viewer-protocol.md describes them. */

export interface Centre {
  row: number;
  col: number;
  radius?: number;
}

export interface Loading {
  item?: number;
  stage: string;
  fraction: number;
  bytes_per_s?: number;
  remaining_s?: number;
}

export interface SeriesItem {
  label: string;
  path?: string;
  held?: boolean;
  /** Why its last load failed; the others can be looked at all the same. */
  error?: string;
}

export interface Choice {
  what: string;
  value: unknown;
  because: string;
}

/** What a file does not tell is absent. */
export interface Dataset {
  id: number;
  label: string;
  source?: string;
  /** A folder in which no scan is finished yet. */
  waiting?: boolean;
  /** Why nothing of it can be shown. */
  error?: string | null;
  loading?: Loading | null;
  items?: SeriesItem[];
  scan?: [number, number];
  detector?: [number, number];
  dtype?: string;
  layout?: string;
  det_bin?: number;
  scan_bin?: number;
  scan_step_nm?: [number, number];
  pixel_mrad?: number;
  pixel_per_angstrom?: number;
  centre?: Centre;
  bad_pixels?: [number, number][];
  largest?: number;
  choices?: Choice[];
}

export interface HeldItem {
  dataset: number;
  item: number;
  label: string;
  resident: number;
}

export interface Memory {
  resident?: number;
  budget?: number;
  peak?: number;
  process?: number;
  /** What each item that is in memory holds. */
  items?: HeldItem[];
}

/** Where positions were and by how much they moved, in pixels of the image; [0, 0] is its upper left corner. */
export interface Moves {
  /** row, column, rows, columns of each. */
  arrows: number[];
  /** By what they are to be drawn longer. */
  longer: number;
  one_of: number;
  rms_px: number;
  largest_px: number;
}

/** One thing that may be wrong; cause and fix where it is. */
export interface Diagnosis {
  name: string;
  /** Absent where it is unknown. */
  value?: number;
  threshold: number;
  verdict: "good" | "suspect" | "unknown";
  cause?: string;
  fix?: string;
}

/** How a reconstruction stands; the ptychography page. */
export interface RunState {
  iteration?: number;
  iterations?: number;
  engine?: string;
  outcome?: string;
  because?: string;
  seconds?: number;
  power_total?: number;
  /** R_I that counting alone leaves; 0: not known. */
  floor?: number;
  pixel_nm?: number;
  probe_pixel_nm?: number;
  curves?: { iteration: number[]; R_I: number[]; R_A: number[]; R_free: (number | null)[] };
  /** How positions were moved; null while none was. */
  moves?: Moves | null;
  diagnoses?: Diagnosis[];
  paused?: boolean;
  stopping?: boolean;
}

/** A setting that may be another from one iteration to the next. */
export interface RunSetting {
  /** "engine.0.step". */
  setting: string;
  /** The engine or constraint that it belongs to. */
  of: string;
  key: string;
  help: string;
  unit: string;
  min: number | null;
  max: number | null;
  /** Whether null unsets it. */
  optional: boolean;
  value: number | null;
}

/** What a person changed after so many iterations; a restart has no setting. */
export interface RunChange {
  after: number;
  setting?: string;
  before?: number | null;
  now?: number | null;
  restart?: boolean;
}

export interface RunSettings {
  settings: RunSetting[];
  changes: RunChange[];
}

export interface PageState {
  run?: RunState;
  settings?: RunSettings;
  datasets?: Dataset[];
  memory?: Memory;
  [name: string]: unknown;
}

export interface PanelDescription {
  id: string;
  type: string;
  title: string;
  options?: Record<string, unknown>;
}

export interface PageMessage {
  type: "page";
  protocol: string;
  client: number;
  title: string;
  view: string;
  panels: PanelDescription[];
  actions: { name: string; help: string }[];
  state: PageState | null;
}

export interface Reply {
  type: "reply";
  id: number;
  command: string;
  [name: string]: unknown;
}

export interface Failure {
  type: "error";
  id: number;
  command: string;
  kind: string;
  message: string;
  hint?: string;
  activity?: string;
}

export interface ServerEvent {
  type: "event";
  event: string;
  [name: string]: unknown;
}

export type Message = PageMessage | Reply | Failure | ServerEvent;

export const PROTOCOL = "sonde.view.v1";

/** Throws an Error for text that is no message of the protocol. */
export function parseMessage(text: string): Message {
  const value: unknown = JSON.parse(text);
  if (typeof value !== "object" || value === null || !("type" in value)) throw new Error("a message without a type");
  const message = value as Message;
  switch (message.type) {
    case "page":
      if (message.protocol !== PROTOCOL)
        throw new Error(`the server speaks ${String(message.protocol)}, this page ${PROTOCOL}; load the page again`);
      return message;
    case "reply":
    case "error":
    case "event":
      return message;
    default:
      throw new Error(`a message of unknown type "${String((value as { type: unknown }).type)}"`);
  }
}
