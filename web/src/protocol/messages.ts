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

export interface PageState {
  /** Options of panels by their ids, in place of those that the page lists. */
  panels?: Record<string, PanelOptions>;
  datasets?: Dataset[];
  memory?: Memory;
  [name: string]: unknown;
}

export type PanelOptions = Record<string, unknown>;

export interface PanelDescription {
  id: string;
  type: string;
  title: string;
  /** "side": in the column at the side. */
  place?: string;
  options?: PanelOptions;
}

export interface PageMessage {
  type: "page";
  protocol: string;
  client: number;
  title: string;
  view: string;
  /** What is said when the server has ended, where that is no fault. */
  ended?: string;
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
