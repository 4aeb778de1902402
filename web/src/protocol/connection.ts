// SPDX-License-Identifier: Apache-2.0
import { decodeFrame, frameKey, type Frame } from "./frame";
import { parseMessage, type Failure, type PageMessage, type Reply, type ServerEvent } from "./messages";

/** The part of a WebSocket that is used here, so that tests can stand in for it. */
export interface Socket {
  binaryType: string;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  send(text: string): void;
  close(): void;
}

export type ConnectionStatus = "connecting" | "open" | "lost" | "closed";

export interface Listener {
  status(status: ConnectionStatus, attempt: number): void;
  /** The server ends the connection because of who asks: close code and words of RFC 6455. */
  refused(code: number, reason: string): void;
  page(page: PageMessage): void;
  reply(reply: Reply): void;
  failure(failure: Failure): void;
  event(event: ServerEvent): void;
  frame(frame: Frame): void;
  /** A message that breaks the protocol. */
  confusion(problem: Error): void;
}

/** Waiting time before attempt n (from 1): short at first, for a server that restarts, then at most five seconds. */
export function retryDelay(attempt: number): number {
  return Math.min(5000, 250 * 2 ** (attempt - 1));
}

/** Close codes: the secret is not known; as many pages as there may be are open. */
export const NOT_KNOWN = 1008;
export const TOO_MANY = 1013;

/** What the server takes as one message, in bytes. */
const LONGEST_COMMAND = 64 * 1024;

/** One WebSocket, opened anew whenever it is lost. Ids grow over all of them, so an answer from before never counts. */
export class Connection {
  private socket: Socket | null = null;
  private nextId = 1;
  private attempt = 0;
  private ended = false;
  private ready = false;
  private newest = new Map<string, number>();

  constructor(
    private readonly open: () => Socket,
    private readonly listener: Listener,
    private readonly secret: string,
    private readonly later: (run: () => void, ms: number) => void = (run, ms) => void setTimeout(run, ms),
  ) {}

  connect(): void {
    if (this.ended) return;
    this.listener.status(this.attempt === 0 ? "connecting" : "lost", this.attempt);
    const socket = this.open();
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => socket.send(JSON.stringify({ secret: this.secret }));
    socket.onmessage = ({ data }) => {
      if (this.socket === socket) this.receive(data);
    };
    socket.onclose = ({ code, reason }) => {
      if (this.socket !== socket) return;
      if (code === NOT_KNOWN || code === TOO_MANY) this.listener.refused(code, reason);
      this.lose();
    };
  }

  /** Sends a command and returns its id; null before the server has introduced itself. Throws for one that the server
   *  would close the connection for. */
  send(command: string, args: Record<string, unknown> = {}): number | null {
    if (!this.socket || !this.ready) return null;
    const text = JSON.stringify({ ...args, id: this.nextId, command });
    const bytes = new TextEncoder().encode(text).length;
    if (bytes > LONGEST_COMMAND)
      throw new Error(`what was set is too detailed to be sent: ${Math.ceil(bytes / 1024)} KiB, at most ${LONGEST_COMMAND / 1024}`, {
        cause: "a mask of fewer pieces; the command line takes a state of any size",
      });
    this.socket.send(text);
    return this.nextId++;
  }

  /** Ends for good. */
  close(): void {
    this.ended = true;
    this.socket?.close();
    this.listener.status("closed", this.attempt);
  }

  private lose(): void {
    this.socket = null;
    this.ready = false;
    if (this.ended) return;
    this.attempt += 1;
    this.listener.status("lost", this.attempt);
    this.later(() => this.connect(), retryDelay(this.attempt));
  }

  private receive(data: unknown): void {
    try {
      if (data instanceof ArrayBuffer) this.receiveFrame(decodeFrame(data));
      else this.receiveText(String(data));
    } catch (problem) {
      this.listener.confusion(problem instanceof Error ? problem : new Error(String(problem)));
    }
  }

  private receiveFrame(frame: Frame): void {
    const key = frameKey(frame);
    // Nobody asked for frame 0, for instance a preview while loading: it is as new as its arrival.
    if (frame.id !== 0) {
      if (frame.id < (this.newest.get(key) ?? 0)) return;
      this.newest.set(key, frame.id);
    }
    this.listener.frame(frame);
  }

  private receiveText(text: string): void {
    const message = parseMessage(text);
    switch (message.type) {
      case "page":
        this.attempt = 0;
        this.ready = true;
        this.newest.clear();
        this.listener.status("open", 0);
        this.listener.page(message);
        break;
      case "reply":
        this.listener.reply(message);
        break;
      case "error":
        this.listener.failure(message);
        break;
      case "event":
        this.listener.event(message);
        break;
    }
  }
}
