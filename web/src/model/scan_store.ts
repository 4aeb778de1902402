// SPDX-License-Identifier: Apache-2.0
import { computed, effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";

import type { Frame } from "../protocol/frame";
import type { Centre, Dataset, Memory } from "../protocol/scans";
import { quantityOf, type Quantity } from "./detectors";
import type { Store } from "./store";
import { initialView, type Detector, type PanelName, type Tool, type View } from "./view";

/** What the server said of a channel. */
export interface ChannelReply {
  expr?: string;
  area?: number;
  path?: string;
  because?: string;
  compute_us?: number;
  /** Nothing was computed: the image was made before. */
  cached?: boolean;
}

/** Why a detector that was asked for is not shown; the one before stays. */
export interface FailedDetector {
  /** The words in which it was asked for; none of a shape. */
  expr: string | null;
  message: string;
  hint?: string;
}

export interface ProfileReply {
  length?: number;
  unit?: string;
  /** Of the values along the line. */
  value_unit?: string;
  step?: number;
  fwhm?: number | null;
}

export interface SpectrumReply {
  step_per_nm?: number | [number, number];
  peak?: { row: number; col: number; frequency_per_nm?: number } | null;
}

type ViewSignals = { [Name in keyof View]: Signal<View[Name]> };

function signals(view: View): ViewSignals {
  const entries = Object.entries(view).map(([name, value]) => [name, signal(value as unknown)]);
  return Object.fromEntries(entries) as ViewSignals;
}

/** The one place where the state of a page of scans lives. Panels read it, the session and the gestures write it. */
export class ScanStore {
  readonly view = signals(initialView());

  readonly datasets = signal<Dataset[]>([]);
  readonly memory = signal<Memory | null>(null);
  readonly channels = signal<Record<number, ChannelReply>>({});
  /** The detectors that the images are of, by channel: the last ones that the program took. */
  readonly good = signal<Record<number, Detector>>({});
  readonly failed = signal<Record<number, FailedDetector>>({});
  /** Why the item that was chosen last is not shown, where its images could not be made. */
  readonly failedItem = signal<string | null>(null);
  /** Whether a hand holds something on a panel. */
  readonly held = signal(false);
  readonly profile = signal<Frame | null>(null);
  readonly profileReply = signal<ProfileReply | null>(null);
  readonly spectrumReply = signal<SpectrumReply | null>(null);
  /** Items of the series whose image is there, for the slider. */
  readonly ready = signal<number[]>([]);

  readonly tool = signal<Record<PanelName, Tool>>({ image: "move", pattern: "move", spectrum: "pan" });
  readonly focus = signal<PanelName>("image");
  readonly playing = signal(false);

  readonly dataset: ReadonlySignal<Dataset | null> = computed(
    () => this.datasets.value.find(({ id }) => id === this.view.dataset.value) ?? null,
  );
  /** Why the item that is looked at cannot be shown; null while it is tried, and when it can. */
  readonly problem: ReadonlySignal<string | null> = computed(() => {
    const item = this.view.item.value;
    const { loading, items, error } = this.dataset.value ?? {};
    if (loading && (loading.item ?? item) === item) return null;
    return items?.[item]?.error ?? error ?? null;
  });
  readonly centre: ReadonlySignal<Centre | undefined> = computed(
    () => this.view.centres.value.find(({ dataset }) => dataset === this.view.dataset.value) ?? this.dataset.value?.centre,
  );
  readonly activeDetector: ReadonlySignal<Detector | null> = computed(
    () => this.view.detectors.value.find(({ channel }) => channel === this.view.active.value) ?? null,
  );
  /** What the image of the active detector holds: the same for every step of a drag, so that what only asks for it rests. */
  readonly quantity: ReadonlySignal<Quantity> = computed(() => (this.activeDetector.value ? quantityOf(this.activeDetector.value) : "image"));
  /** Data sets in the order a person gave them, hidden ones left out, starred ones first. */
  readonly listed: ReadonlySignal<Dataset[]> = computed(() => {
    const { order, hidden, starred } = this.view;
    const rank = (id: number) => {
      const at = order.value.indexOf(id);
      return (starred.value.includes(id) ? 0 : 1e6) + (at < 0 ? 1e5 + id : at);
    };
    return this.datasets.value.filter(({ id }) => !hidden.value.includes(id)).sort((a, b) => rank(a.id) - rank(b.id));
  });

  constructor(readonly shared: Store) {
    // What was shown before must not stand there as if it were of an item that cannot be shown.
    effect(() => {
      if (this.problem.value === null) return;
      shared.clear(this.view.dataset.value);
      this.profile.value = null;
    });
  }

  frame(kind: number, dataset: number, channel = 0): Signal<Frame | null> {
    return this.shared.frame(kind, dataset, channel);
  }

  snapshot(): View {
    const entries = Object.entries(this.view).map(([name, field]) => [name, field.peek()]);
    return structuredClone(Object.fromEntries(entries)) as View;
  }

  apply(view: Partial<View>): void {
    for (const [name, value] of Object.entries(view)) (this.view[name as keyof View] as Signal<unknown>).value = value;
  }
}
