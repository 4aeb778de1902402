// SPDX-License-Identifier: Apache-2.0
import { batch } from "@preact/signals";

import type { Listener, Connection } from "../protocol/connection";
import { FrameKind, type Frame } from "../protocol/frame";
import { Latest } from "../protocol/latest";
import type { Dataset, Failure, Memory, PageMessage, Reply, RunSettings, RunState, ServerEvent } from "../protocol/messages";
import { toParams, type Shape } from "../tools/shape";
import { delays } from "../measure/delays";
import type { ChannelReply, ProfileReply, SpectrumReply, Store } from "./store";

type Args = Record<string, unknown>;

interface Waiting {
  resolve(reply: Reply): void;
  reject(problem: Error): void;
}

/** Speaks with the server for the page: turns state into commands and answers into state. */
export class Session implements Listener {
  private connection: Connection | null = null;
  private waiting = new Map<number, Waiting>();
  private channelOf = new Map<number, number>();
  private files = new Map<number, { reply?: Reply; frame?: Frame; resolve(file: ServedFile): void; reject(problem: Error): void }>();
  readonly latest: Latest;

  constructor(
    readonly store: Store,
    nextFrame: (run: () => void) => void,
    /** Whether a server answers at all, though not to this page. */
    private readonly serverIsThere: () => Promise<boolean> = () => Promise.resolve(false),
  ) {
    this.latest = new Latest(nextFrame);
  }

  start(connection: Connection): void {
    this.connection = connection;
    connection.connect();
  }

  // Commands that follow a hand: only the newest counts.

  sendPosition(): void {
    this.wish("position", "set_position", () => ({ ...this.store.view.cursor.peek() }));
  }

  sendDetector(channel: number): void {
    this.wish(`detector/${channel}`, "set_detector", () => {
      const detector = this.store.view.detectors.peek().find((one) => one.channel === channel);
      if (!detector) return { channel, expr: null };
      return detector.shape ? { channel, shape: detector.shape.kind, params: toParams(detector.shape) } : { channel, expr: detector.expr };
    }, channel);
  }

  sendRegion(): void {
    this.wish("region", "set_scan_roi", () => regionArgs(this.store.view.region.peek()));
  }

  sendItem(): void {
    this.wish("item", "set_item", () => ({ item: this.store.view.item.peek() }));
  }

  sendProfile(): void {
    this.wish("profile", "line_profile", () => {
      const line = this.store.view.profile.peek();
      // The diffraction panel shows one of two patterns.
      const panel = line?.panel === "pattern" && this.store.view.patternSource.peek() === "region" ? "region" : line?.panel;
      return line && { panel, channel: this.store.view.active.peek(), p0: line.p0, p1: line.p1, width: line.width };
    });
  }

  sendCentre(row: number, col: number, radius: number): void {
    this.wish("centre", "set_centre", () => ({ row, col, radius }));
  }

  sendSpectrum(): void {
    this.wish("spectrum", "request_fft", () => {
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

  private wish(key: string, command: string, args: () => Args | null, channel?: number): void {
    // The hand moved now, though the command may wait.
    delays.input(key);
    this.latest.wish(key, () => {
      const now = args();
      if (!now) return null;
      const id = this.sendOrSay(command, now);
      if (id === null) return null;
      if (channel !== undefined) this.channelOf.set(id, channel);
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
    // One attempt may fail because the server is just starting.
    if (attempt > 1) void this.explain();
  }

  private async explain(): Promise<void> {
    if (!(await this.serverIsThere()) || this.store.status.peek().status === "open") return;
    this.store.gone.value = "A server answers, but it does not know this page. Open the address that it printed when it started.";
  }

  page(page: PageMessage): void {
    batch(() => {
      this.store.page.value = page;
      this.store.memory.value = page.state?.memory ?? null;
      this.store.run.value = page.state?.run ?? null;
      this.store.settings.value = page.state?.settings ?? null;
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
        this.takeChannel(reply.id, reply as ChannelReply);
        break;
      case "line_profile":
        this.store.profileReply.value = reply as ProfileReply;
        break;
      case "request_fft":
        this.store.spectrumReply.value = reply as SpectrumReply;
        this.latest.done(reply.id);
        break;
      case "set_centre":
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
    if (failure.command === "set_detector") this.takeChannel(id, { error: message, hint });
    if (waiting) waiting.reject(problem);
    else this.store.note.value = { text: message, hint, serious: true };
  }

  event(event: ServerEvent): void {
    const { store } = this;
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
      case "run":
        store.run.value = event as unknown as RunState;
        break;
      case "settings":
        store.settings.value = event as unknown as RunSettings;
        break;
      case "series":
        store.ready.value = (event.ready ?? []) as number[];
        break;
      case "notice":
        store.note.value = { text: String(event.message), hint: event.hint as string | undefined, serious: false };
        break;
      case "closing":
        if (store.page.value?.view === "ptycho") {
          const run = store.run.value ?? {};
          store.run.value = run.outcome === "running" ? { ...run, outcome: "ended" } : run;
          store.gone.value = `The run has ended. This is what it showed last; its result lies in ${store.page.value.title ?? "its file"}.`;
          break;
        }
        store.gone.value = "The server has ended. Start `sonde view` again and open its new address; with the same --port and --token this page goes on by itself.";
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
    if (frame.kind === FrameKind.profile) this.store.profile.value = frame;
    else this.store.frame(frame.kind, frame.dataset, frame.channel).value = frame;
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
    const channel = reply.channel ?? this.channelOf.get(id);
    this.channelOf.delete(id);
    if (channel !== undefined) this.store.channels.value = { ...this.store.channels.peek(), [channel]: reply };
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

function regionArgs(region: Shape | null): Args {
  return region ? { shape: region.kind, params: toParams(region) } : { shape: null };
}
