// SPDX-License-Identifier: Apache-2.0
import { batch } from "@preact/signals";

import { FrameKind } from "../protocol/frame";
import type { Failure, PageMessage, Reply, ServerEvent } from "../protocol/messages";
import type { Dataset, Memory, ScansState } from "../protocol/scans";
import { toParams, type Shape } from "../tools/shapes";
import { isWorded, isEmptyMask } from "./detectors";
import type { ChannelReply, ProfileReply, ScanStore, SpectrumReply } from "./scan_store";
import type { Session } from "./session";
import type { Detector } from "./view";

/** Speaks with the server for a page of scans: turns state into commands and answers into state. */
export class ScanSession {
  /** The detectors that were asked for, by the ids of their commands. */
  private asked = new Map<number, Detector>();

  constructor(
    readonly session: Session,
    readonly store: ScanStore,
  ) {
    const { latest } = session;
    const shown = () => void (store.failedItem.value = null);
    const failedItem = ({ message }: Failure) => {
      store.failedItem.value = message;
      return false;
    };
    session.handle({
      page: (page) => this.page(page),
      lost: () => this.asked.clear(),
      replies: {
        set_detector: (reply) => this.takeChannel(reply.id, reply),
        set_item: shown,
        set_dataset: shown,
        line_profile: (reply) => void (store.profileReply.value = reply as ProfileReply),
        request_fft: (reply) => {
          store.spectrumReply.value = reply as SpectrumReply;
          latest.done(reply.id);
        },
        set_centre: ({ id }) => {
          latest.done(id);
          // Words may speak of the centre: their pixels are others now. What failed may have lacked one.
          for (const one of store.view.detectors.peek()) if (isWorded(one) || one.channel in store.failed.peek()) this.sendDetector(one.channel);
        },
        set_scan_roi: ({ id }) => latest.done(id),
      },
      failures: { set_detector: (failure) => this.refuse(failure), set_item: failedItem, set_dataset: failedItem },
      events: {
        datasets: ({ datasets }) => this.change((datasets ?? []) as Dataset[]),
        progress: (event) => this.progress(event),
        memory: (event) => void (store.memory.value = event as Memory),
        series: ({ ready }) => void (store.ready.value = (ready ?? []) as number[]),
      },
      frames: {
        [FrameKind.image]: ({ id }) => this.taken(this.asked.get(id)),
        [FrameKind.profile]: (frame) => void (store.profile.value = frame),
      },
    });
  }

  // Commands that follow a hand: only the newest counts.

  sendPosition(): void {
    this.session.follow("position", "set_position", () => ({ ...this.store.view.cursor.peek() }));
  }

  sendDetector(channel: number): void {
    const wanted = () => this.store.view.detectors.peek().find((one) => one.channel === channel);
    const args = () => {
      const detector = wanted();
      if (!detector) return { channel, expr: null };
      if (isEmptyMask(detector)) return null;
      return detector.shape ? { channel, shape: detector.shape.kind, params: toParams(detector.shape) } : { channel, expr: detector.expr, ...(isWorded(detector) && { mask: true }) };
    };
    this.session.follow(`detector/${channel}`, "set_detector", args, (id) => {
      const detector = wanted();
      if (detector) this.asked.set(id, detector);
      // A channel that is removed has no frame to wait for.
      return detector !== undefined;
    });
  }

  /** Detectors that failed give way to those that are shown; not under a hand, which may still bring them back. */
  settleFailed(): void {
    const { failed, good, held, view } = this.store;
    if (held.peek() || Object.keys(failed.peek()).length === 0) return;
    view.detectors.value = view.detectors.peek().map((one) => (one.channel in failed.peek() ? (good.peek()[one.channel] ?? one) : one));
  }

  sendRegion(): void {
    this.session.follow("region", "set_scan_roi", () => regionArgs(this.store.view.region.peek()));
  }

  sendItem(): void {
    const { item, patternSource } = this.store.view;
    // Whoever looks at the region's pattern later asks for it then.
    const args = () => ({ item: item.peek(), reduced: patternSource.peek() === "region" });
    this.session.follow("item", "set_item", args, () => {
      this.session.severalAsked();
      return true;
    });
  }

  sendProfile(): void {
    this.session.follow("profile", "line_profile", () => {
      const line = this.store.view.profile.peek();
      // The diffraction panel shows one of two patterns.
      const panel = line?.panel === "pattern" && this.store.view.patternSource.peek() === "region" ? "region" : line?.panel;
      return line && { panel, channel: this.store.view.active.peek(), p0: line.p0, p1: line.p1, width: line.width };
    });
  }

  sendCentre(row: number, col: number, radius: number): void {
    this.session.follow("centre", "set_centre", () => ({ row, col, radius }));
  }

  sendSpectrum(): void {
    this.session.follow("spectrum", "request_fft", () => {
      const { spectrumOn, spectrumWindow, active } = this.store.view;
      return { channel: active.peek(), window: spectrumWindow.peek(), on: spectrumOn.peek() };
    });
  }

  sendReduction(): void {
    this.session.send("set_reduction", { reduction: this.store.view.reduction.peek() });
  }

  /** All that a person has set, for a server that knows nothing of it. */
  sendAll(): void {
    const { dataset, detectors, compared, item, region } = this.store.view;
    const current = this.store.dataset.peek();
    if (!current || current.error || !current.scan) return;
    if (this.store.datasets.peek().length > 1) this.session.send("set_dataset", { dataset: dataset.peek() });
    if (compared.peek().length > 1) this.session.send("compare", { datasets: compared.peek() });
    if ((current.items?.length ?? 0) > 1) this.session.send("set_item", { item: item.peek() });
    const centre = this.store.view.centres.peek().find((one) => one.dataset === dataset.peek());
    if (centre) this.sendCentre(centre.row, centre.col, centre.radius);
    for (const { channel } of detectors.peek()) this.sendDetector(channel);
    this.sendPosition();
    if (region.peek()) this.sendRegion();
    this.sendReduction();
    if (this.store.view.spectrumOn.peek()) this.sendSpectrum();
    if (this.store.view.profile.peek()) this.sendProfile();
  }

  // What the server says.

  private page({ state }: PageMessage): void {
    const { datasets, memory } = (state ?? {}) as ScansState;
    batch(() => {
      this.store.memory.value = memory ?? null;
      this.takeDatasets(datasets ?? []);
    });
    this.sendAll();
  }

  private change(datasets: Dataset[]): void {
    const before = this.store.dataset.peek();
    this.takeDatasets(datasets);
    const now = this.store.dataset.peek();
    // A scan that has just become whole has its images computed from all of it.
    if (now && !now.loading && this.store.problem.peek() === null && (before?.loading || before?.waiting || before?.id !== now.id)) this.sendAll();
  }

  private progress(event: ServerEvent): void {
    const { datasets } = this.store;
    datasets.value = datasets.peek().map((one) => (one.id === event.dataset ? { ...one, loading: { stage: "", fraction: 0, ...one.loading, ...(event as object) } } : one));
  }

  /** A detector that the program does not take. It is said on its image and beside its words. */
  private refuse({ id, message, hint }: Failure): boolean {
    const detector = this.asked.get(id);
    this.asked.delete(id);
    if (!detector) return false;
    const { failed } = this.store;
    failed.value = { ...failed.peek(), [detector.channel]: { expr: detector.expr, message, hint } };
    this.settleFailed();
    return true;
  }

  /** There are images of a detector. */
  private taken(detector: Detector | undefined): void {
    const { good } = this.store;
    if (detector) good.value = { ...good.peek(), [detector.channel]: detector };
  }

  private takeChannel(id: number, reply: Reply & ChannelReply & { channel?: number }): void {
    const detector = this.asked.get(id);
    // Its frames may come after the reply: it is forgotten with the next one.
    for (const earlier of this.asked.keys()) if (earlier < id) this.asked.delete(earlier);
    const channel = reply.channel ?? detector?.channel;
    if (channel === undefined) return;
    const { channels, failed } = this.store;
    batch(() => {
      channels.value = { ...channels.peek(), [channel]: reply };
      this.taken(detector);
      if (channel in failed.peek()) failed.value = without(failed.peek(), channel);
    });
  }

  private takeDatasets(datasets: Dataset[]): void {
    const { store } = this;
    const waited = store.dataset.peek()?.waiting;
    store.datasets.value = datasets;
    const now = store.dataset.peek();
    if (now && !(waited && now.scan)) return;
    const first = now ?? datasets.find(({ error }) => !error) ?? datasets[0];
    store.view.dataset.value = first?.id ?? null;
    if (first?.scan) store.view.cursor.value = { row: first.scan[0] >> 1, col: first.scan[1] >> 1 };
  }
}

function without<T>(all: Record<number, T>, key: number): Record<number, T> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => name !== String(key)));
}

function regionArgs(region: Shape | null) {
  return region ? { shape: region.kind, params: toParams(region) } : { shape: null };
}
