// SPDX-License-Identifier: Apache-2.0
/** What the state and the events of a page of scans hold; docs/viewer-protocol.md, "The page of scans". */
import type { PageState } from "./messages";

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

export interface ScansState extends PageState {
  datasets?: Dataset[];
  memory?: Memory;
}
