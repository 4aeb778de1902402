// SPDX-License-Identifier: Apache-2.0
import { batch } from "@preact/signals";

import { NOT_KNOWN, type Connection, type Listener } from "../protocol/connection";
import { FrameKind, type Frame } from "../protocol/frame";
import { Latest } from "../protocol/latest";
import type { Dataset, Failure, Memory, PageMessage, PanelOptions, Reply, ServerEvent } from "../protocol/messages";
import { toParams, type Shape } from "../tools/shapes";
import { delays } from "../measure/delays";
import { ADVICE, placeOfPage } from "./advice";
import { isEmptyMask, isWorded } from "./detectors";
import type { ChannelReply, ProfileReply, SpectrumReply, Store } from "./store";
import type { Detector } from "./view";

type Args = Record<string, unknown>;

/** Events that bring new options of a panel: "panel/" and its id. */
const PANEL = "panel/";

interface Waiting {
  resolve(reply: Reply): void;
  reject(problem: Error): void;
}

/** Speaks with the server for the page: turns state into commands and answers into state. */
export class Session implements Listener {
  private connection: Connection | null = null;
  private waiting = new Map<number, Waiting>();
  /** The detectors that were asked for, by the ids of their commands. */
  private asked = new Map<number, Detector>();
  private files = new Map<number, { reply?: Reply; frame?: Frame; resolve(file: ServedFile): void; reject(problem: Error): void }>();
  readonly latest: Latest;

  constructor(
    readonly store: Store,
    later: (run: () => void, ms: number) => void,
    /** Called when the server does not know this page. */
    private readonly notKnown: () => void = () => {},
  ) {
    this.latest = new Latest(later);
  }

  start(connection: Connection): void {
    this.connection = connection;
    connection.connect();
  }

  /** Nothing let this page in, so there is no connection to make. */
  notLetIn(problem: string): void {
    batch(() => {
      this.store.gone.value = ADVICE[placeOfPage()].outside ?? problem;
      this.store.status.value = { status: "lost", attempt: 0 };
    });
  }

  // Commands that follow a hand: only the newest counts.

  sendPosition(): void {
    this.askFor("position", "set_position", () => ({ ...this.store.view.cursor.peek() }));
  }

  sendDetector(channel: number): void {
    this.askFor(`detector/${channel}`, "set_detector", () => {
      const detector = this.detectorOf(channel);
      if (!detector) return { channel, expr: null };
      if (isEmptyMask(detector)) return null;
      return detector.shape ? { channel, shape: detector.shape.kind, params: toParams(detector.shape) } : { channel, expr: detector.expr, ...(isWorded(detector) && { mask: true }) };
    }, channel);
  }

  private detectorOf(channel: number): Detector | undefined {
    return this.store.view.detectors.peek().find((one) => one.channel === channel);
  }

  /** Detectors that failed give way to those that are shown; not under a hand, which may still bring them back. */
  settleFailed(): void {
    const { failed, good, held, view } = this.store;
    if (held.peek() || Object.keys(failed.peek()).length === 0) return;
    view.detectors.value = view.detectors.peek().map((one) => (one.channel in failed.peek() ? (good.peek()[one.channel] ?? one) : one));
  }

  sendRegion(): void {
    this.askFor("region", "set_scan_roi", () => regionArgs(this.store.view.region.peek()));
  }

  sendItem(): void {
    this.askFor("item", "set_item", () => ({ item: this.store.view.item.peek() }));
  }

  sendProfile(): void {
    this.askFor("profile", "line_profile", () => {
      const line = this.store.view.profile.peek();
      // The diffraction panel shows one of two patterns.
      const panel = line?.panel === "pattern" && this.store.view.patternSource.peek() === "region" ? "region" : line?.panel;
      return line && { panel, channel: this.store.view.active.peek(), p0: line.p0, p1: line.p1, width: line.width };
    });
  }

  sendCentre(row: number, col: number, radius: number): void {
    this.askFor("centre", "set_centre", () => ({ row, col, radius }));
  }

  sendSpectrum(): void {
    this.askFor("spectrum", "request_fft", () => {
      const { spectrumOn, spectrumWindow, active } = this.store.view;
      return { channel: active.peek(), window: spectrumWindow.peek(), on: spectrumOn.peek() };
    });
  }

  sendReduction(): void {
    this.send("set_reduction", { reduction: this.store.view.reduction.peek() });
  }

  /** All that a person has set, for a server that knows nothing of it. */
  sendAll(): void {
    const { dataset, detectors, compared, item, region } = this.store.view;
    const current = this.store.dataset.peek();
    if (!current || current.error || !current.scan) return;
    if (this.store.datasets.peek().length > 1) this.send("set_dataset", { dataset: dataset.peek() });
    if (compared.peek().length > 1) this.send("compare", { datasets: compared.peek() });
    if ((current.items?.length ?? 0) > 1) this.send("set_item", { item: item.peek() });
    const centre = this.store.view.centres.peek().find((one) => one.dataset === dataset.peek());
    if (centre) this.sendCentre(centre.row, centre.col, centre.radius);
    for (const { channel } of detectors.peek()) this.sendDetector(channel);
    this.sendPosition();
    if (region.peek()) this.sendRegion();
    this.sendReduction();
    if (this.store.view.spectrumOn.peek()) this.sendSpectrum();
    if (this.store.view.profile.peek()) this.sendProfile();
  }

  send(command: string, args: Args = {}): number | null {
    return this.connection?.send(command, args) ?? null;
  }

  request(command: string, args: Args = {}): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const id = this.send(command, args);
      if (id === null) throw new Error("there is no connection to the server");
      this.waiting.set(id, { resolve, reject });
    });
  }

  /** A file that the server makes: its reply names it, a frame of kind file holds it. */
  requestFile(args: Args): Promise<ServedFile> {
    return new Promise((resolve, reject) => {
      const id = this.send("export", args);
      if (id === null) throw new Error("there is no connection to the server");
      this.files.set(id, { resolve, reject });
    });
  }

  private sendOrSay(command: string, args: Args): number | null {
    try {
      return this.send(command, args);
    } catch (problem) {
      this.confusion(problem as Error);
      return null;
    }
  }

  private askFor(key: string, command: string, args: () => Args | null, channel?: number): void {
    // The hand moved now, though the command may wait.
    delays.input(key);
    this.latest.ask(key, () => {
      const now = args();
      if (!now) return null;
      const id = this.sendOrSay(command, now);
      if (id === null) return null;
      const detector = channel === undefined ? undefined : this.detectorOf(channel);
      if (detector) this.asked.set(id, detector);
      delays.sent(key, id);
      // A channel that is removed has no frame to wait for.
      return command === "set_detector" && now.expr === null && !("shape" in now) ? null : id;
    });
  }

  // What the server says.

  status(status: "connecting" | "open" | "lost" | "closed", attempt: number): void {
    this.store.status.value = { status, attempt };
    if (status === "open") this.store.gone.value = null;
    if (status !== "lost") return;
    this.latest.reset();
    for (const { reject } of [...this.waiting.values(), ...this.files.values()]) reject(new Error("the connection was lost"));
    this.waiting.clear();
    this.files.clear();
    this.asked.clear();
  }

  refused(code: number, reason: string): void {
    if (code === NOT_KNOWN) {
      this.notKnown();
      this.store.gone.value = ADVICE[placeOfPage()].stranger;
    } else {
      this.store.gone.value = `The server takes no more pages: ${reason}. Close one of them.`;
    }
  }

  page(page: PageMessage): void {
    batch(() => {
      this.store.page.value = page;
      this.store.memory.value = page.state?.memory ?? null;
      this.store.options.value = page.state?.panels ?? {};
      this.store.ended.value = false;
      this.takeDatasets(page.state?.datasets ?? []);
    });
    document.title = page.title ? `${page.title} \u2013 sonde` : "sonde";
    this.sendAll();
  }

  reply(reply: Reply): void {
    // What is still being loaded has no frame yet; it comes by itself.
    if (reply.waiting === true) this.latest.done(reply.id);
    this.waiting.get(reply.id)?.resolve(reply);
    this.waiting.delete(reply.id);
    const file = this.files.get(reply.id);
    if (file) this.takeFile(reply.id, { ...file, reply });
    switch (reply.command) {
      case "set_detector":
        this.takeChannel(reply.id, reply as ChannelReply & { channel?: number });
        break;
      case "set_item":
      case "set_dataset":
        this.store.failedItem.value = null;
        break;
      case "line_profile":
        this.store.profileReply.value = reply as ProfileReply;
        break;
      case "request_fft":
        this.store.spectrumReply.value = reply as SpectrumReply;
        this.latest.done(reply.id);
        break;
      case "set_centre":
        this.latest.done(reply.id);
        // Words may speak of the centre: their pixels are others now. What failed may have lacked one.
        for (const one of this.store.view.detectors.peek()) if (isWorded(one) || one.channel in this.store.failed.peek()) this.sendDetector(one.channel);
        break;
      case "set_scan_roi":
        this.latest.done(reply.id);
        break;
    }
  }

  failure(failure: Failure): void {
    const { id, message, hint } = failure;
    this.latest.done(id);
    const problem = new Error(message, { cause: hint });
    const waiting = this.waiting.get(id) ?? this.files.get(id);
    this.waiting.delete(id);
    this.files.delete(id);
    if (waiting) waiting.reject(problem);
    else if (failure.command === "set_detector" && this.refuse(id, message, hint)) return;
    else this.store.note.value = { text: message, hint, serious: true };
    if (failure.command === "set_item" || failure.command === "set_dataset") this.store.failedItem.value = message;
  }

  /** A detector that the program does not take. It is said on its image and beside its words. */
  private refuse(id: number, message: string, hint?: string): boolean {
    const detector = this.asked.get(id);
    this.asked.delete(id);
    if (!detector) return false;
    const { failed } = this.store;
    failed.value = { ...failed.peek(), [detector.channel]: { expr: detector.expr, message, hint } };
    this.settleFailed();
    return true;
  }

  event(event: ServerEvent): void {
    const { store } = this;
    if (event.event.startsWith(PANEL)) {
      store.options.value = { ...store.options.peek(), [event.event.slice(PANEL.length)]: event.options as PanelOptions };
      return;
    }
    switch (event.event) {
      case "datasets": {
        const before = store.dataset.peek();
        this.takeDatasets((event.datasets ?? []) as Dataset[]);
        const now = store.dataset.peek();
        // A scan that has just become whole has its images computed from all of it.
        if (now && !now.loading && store.problem.peek() === null && (before?.loading || before?.waiting || before?.id !== now.id)) this.sendAll();
        break;
      }
      case "progress":
        store.datasets.value = store.datasets.peek().map((one) =>
          one.id === event.dataset ? { ...one, loading: { stage: "", fraction: 0, ...one.loading, ...(event as object) } } : one,
        );
        break;
      case "memory":
        store.memory.value = event as unknown as Memory;
        break;
      case "series":
        store.ready.value = (event.ready ?? []) as number[];
        break;
      case "notice":
        store.note.value = { text: String(event.message), hint: event.hint as string | undefined, serious: false };
        break;
      case "closing":
        store.ended.value = true;
        store.gone.value = store.page.value?.ended ?? ADVICE[placeOfPage()].ended;
        break;
    }
  }

  frame(frame: Frame): void {
    const file = this.files.get(frame.id);
    if (frame.kind === FrameKind.file) {
      if (file) this.takeFile(frame.id, { ...file, frame });
      return;
    }
    delays.received(frame.id);
    const detector = frame.kind === FrameKind.image ? this.asked.get(frame.id) : undefined;
    batch(() => {
      if (detector) this.store.good.value = { ...this.store.good.peek(), [detector.channel]: detector };
      if (frame.kind === FrameKind.profile) this.store.profile.value = frame;
      else this.store.frame(frame.kind, frame.dataset, frame.channel).value = frame;
    });
    if (frame.id !== 0) this.latest.done(frame.id);
  }

  confusion(problem: Error): void {
    this.store.note.value = { text: problem.message, hint: problem.cause as string | undefined, serious: true };
  }

  private takeFile(id: number, file: NonNullable<ReturnType<typeof this.files.get>>): void {
    this.files.set(id, file);
    if (!file.reply || !file.frame) return;
    this.files.delete(id);
    const { values } = file.frame;
    const bytes = new Uint8Array(values.buffer as ArrayBuffer, values.byteOffset, values.byteLength);
    file.resolve({ name: String(file.reply.name), type: String(file.reply.media_type ?? ""), bytes });
  }

  private takeChannel(id: number, reply: ChannelReply & { channel?: number }): void {
    const detector = this.asked.get(id);
    // Its frames may come after the reply: it is forgotten with the next one.
    for (const earlier of this.asked.keys()) if (earlier < id) this.asked.delete(earlier);
    const channel = reply.channel ?? detector?.channel;
    if (channel === undefined) return;
    const { channels, good, failed } = this.store;
    batch(() => {
      channels.value = { ...channels.peek(), [channel]: reply };
      if (detector) good.value = { ...good.peek(), [channel]: detector };
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

export interface ServedFile {
  name: string;
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
}

function without<T>(all: Record<number, T>, key: number): Record<number, T> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => name !== String(key)));
}

function regionArgs(region: Shape | null): Args {
  return region ? { shape: region.kind, params: toParams(region) } : { shape: null };
}
