// SPDX-License-Identifier: Apache-2.0
import { batch } from "@preact/signals";

import { NOT_KNOWN, type Connection, type Listener } from "../protocol/connection";
import { FrameKind, type Frame } from "../protocol/frame";
import { Latest } from "../protocol/latest";
import type { Failure, PageMessage, PanelOptions, Reply, ServerEvent } from "../protocol/messages";
import { delays } from "../measure/delays";
import { ADVICE, placeOfPage } from "./advice";
import type { Store } from "./store";

type Args = Record<string, unknown>;

/** Events that bring new options of a panel: "panel/" and its id. */
const PANEL = "panel/";

interface Waiting {
  resolve(reply: Reply): void;
  reject(problem: Error): void;
}

/** What panels of some kinds do with the server's messages, by the names of commands and events and the kinds of frames. */
export interface Handlers {
  page?(page: PageMessage): void;
  lost?(): void;
  replies?: Record<string, (reply: Reply) => void>;
  /** True: what is in the way is said elsewhere than in a banner. */
  failures?: Record<string, (failure: Failure) => boolean>;
  events?: Record<string, (event: ServerEvent) => void>;
  frames?: Record<number, (frame: Frame) => void>;
}

/** Speaks with the server for any page: sends commands, keeps what comes in the store and hands it to those who know more
 *  of it. */
export class Session implements Listener {
  private connection: Connection | null = null;
  private handlers: Handlers[] = [];
  private waiting = new Map<number, Waiting>();
  private files = new Map<number, { reply?: Reply; frame?: Frame; resolve(file: ServedFile): void; reject(problem: Error): void }>();
  readonly latest: Latest;
  /** Called when a command has its reply, which follows its frames. */
  answered: () => void = () => {};
  /** Called when a command has left that several images answer. */
  severalAsked: () => void = () => {};

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

  /** From now on; the page that is there is handed over at once. */
  handle(handlers: Handlers): void {
    this.handlers.push(handlers);
    const page = this.store.page.peek();
    if (page) handlers.page?.(page);
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

  /** What is refused is said. */
  async attempt(command: string, args: Args): Promise<void> {
    try {
      await this.request(command, args);
    } catch (problem) {
      this.confusion(problem);
    }
  }

  /** A file that the server makes: its reply names it, a frame of kind file holds it. */
  requestFile(args: Args): Promise<ServedFile> {
    return new Promise((resolve, reject) => {
      const id = this.send("export", args);
      if (id === null) throw new Error("there is no connection to the server");
      this.files.set(id, { resolve, reject });
    });
  }

  /** A command that follows a hand: of those of one key only the newest counts. `args` are asked for when it leaves, null
   *  if there is nothing to send any more; `sent` gets its id and says whether a frame will follow. */
  follow(key: string, command: string, args: () => Args | null, sent: (id: number, args: Args) => boolean = () => true): void {
    // The hand moved now, though the command may wait.
    delays.input(key);
    this.latest.ask(key, () => {
      const now = args();
      const id = now && this.sendOrSay(command, now);
      if (id === null) return null;
      const awaited = sent(id, now ?? {});
      delays.sent(key, id);
      return awaited ? id : null;
    });
  }

  private sendOrSay(command: string, args: Args): number | null {
    try {
      return this.send(command, args);
    } catch (problem) {
      this.confusion(problem);
      return null;
    }
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
    for (const one of this.handlers) one.lost?.();
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
      this.store.options.value = page.state?.panels ?? {};
      this.store.ended.value = false;
    });
    document.title = page.title ? `${page.title} \u2013 sonde` : "sonde";
    for (const one of this.handlers) one.page?.(page);
  }

  reply(reply: Reply): void {
    // What is still being loaded has no frame yet; it comes by itself.
    if (reply.waiting === true) this.latest.done(reply.id);
    this.waiting.get(reply.id)?.resolve(reply);
    this.waiting.delete(reply.id);
    const file = this.files.get(reply.id);
    if (file) this.takeFile(reply.id, { ...file, reply });
    for (const one of this.handlers) one.replies?.[reply.command]?.(reply);
    this.answered();
  }

  failure(failure: Failure): void {
    const { id, command, message, hint } = failure;
    this.latest.done(id);
    const waiting = this.waiting.get(id) ?? this.files.get(id);
    this.waiting.delete(id);
    this.files.delete(id);
    const said = this.handlers.filter((one) => one.failures?.[command]?.(failure)).length > 0;
    if (waiting) waiting.reject(new Error(message, { cause: hint }));
    else if (!said) this.store.note.value = { text: message, hint, serious: true };
  }

  event(event: ServerEvent): void {
    const { store } = this;
    if (event.event.startsWith(PANEL)) store.options.value = { ...store.options.peek(), [event.event.slice(PANEL.length)]: event.options as PanelOptions };
    if (event.event === "notice") store.note.value = { text: String(event.message), hint: event.hint as string | undefined, serious: false };
    if (event.event === "closing") {
      store.ended.value = true;
      store.gone.value = store.page.value?.ended ?? ADVICE[placeOfPage()].ended;
    }
    for (const one of this.handlers) one.events?.[event.event]?.(event);
  }

  frame(frame: Frame): void {
    if (frame.kind === FrameKind.file) {
      const file = this.files.get(frame.id);
      if (file) this.takeFile(frame.id, { ...file, frame });
      return;
    }
    delays.received(frame.id);
    batch(() => {
      for (const one of this.handlers) one.frames?.[frame.kind]?.(frame);
      this.store.take(frame);
    });
    if (frame.id !== 0) this.latest.done(frame.id);
  }

  /** What went wrong, in a banner. */
  confusion(problem: unknown): void {
    const { message, cause } = problem instanceof Error ? problem : new Error(String(problem));
    this.store.note.value = { text: message, hint: cause as string | undefined, serious: true };
  }

  private takeFile(id: number, file: NonNullable<ReturnType<typeof this.files.get>>): void {
    this.files.set(id, file);
    if (!file.reply || !file.frame) return;
    this.files.delete(id);
    const { values } = file.frame;
    const bytes = new Uint8Array(values.buffer as ArrayBuffer, values.byteOffset, values.byteLength);
    file.resolve({ name: String(file.reply.name), type: String(file.reply.media_type ?? ""), bytes });
  }
}

export interface ServedFile {
  name: string;
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
}
