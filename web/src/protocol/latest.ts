// SPDX-License-Identifier: Apache-2.0
/** How long an answer is waited for before the newest request is sent all the same: the server then gives up the older one. */
export const PATIENCE = 2000;

interface UnderWay {
  id: number;
  at: number;
}

/** Keeps a fast hand from flooding the server: of each key one command is under way; while it is, only the newest request is
 *  kept. A request is sent as soon as the answer before is there, not with the next animation frame: that would cost a whole
 *  one. */
export class Latest {
  private waiting = new Map<string, () => number | null>();
  private underWay = new Map<string, UnderWay>();

  constructor(
    private readonly later: (run: () => void, ms: number) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** `send` sends the command as it then is and returns its id, or null when it could not. */
  ask(key: string, send: () => number | null): void {
    const waits = this.waiting.has(key);
    this.waiting.set(key, send);
    this.flush();
    const before = this.underWay.get(key);
    // One look per command under way; it may have been answered by then.
    if (!waits && before && this.waiting.has(key)) this.later(() => this.flush(), before.at + PATIENCE - this.now());
  }

  /** The command with this id has its frame, or failed. The server carries out commands in order, and a newer frame may
   *  have taken the place of an older one on its way: so the commands before it are done as well. */
  done(id: number): void {
    for (const [key, sent] of this.underWay) if (sent.id <= id) this.underWay.delete(key);
    this.flush();
  }

  /** The connection is new: nothing is under way. */
  reset(): void {
    this.underWay.clear();
    this.flush();
  }

  get idle(): boolean {
    return this.waiting.size === 0 && this.underWay.size === 0;
  }

  private flush(): void {
    for (const [key, send] of this.waiting) {
      const before = this.underWay.get(key);
      if (before && this.now() - before.at < PATIENCE) continue;
      this.waiting.delete(key);
      const id = send();
      if (id !== null) this.underWay.set(key, { id, at: this.now() });
    }
  }
}
