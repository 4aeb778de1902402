// SPDX-License-Identifier: Apache-2.0
/** Keeps a fast hand from flooding the server: of each key one command is under way and at most one is sent per
 *  animation frame; while it waits, only the newest wish is kept. */
export class Latest {
  private wishes = new Map<string, () => number | null>();
  private underWay = new Map<string, number>();
  private sentInFrame = new Set<string>();
  private scheduled = false;

  constructor(private readonly nextFrame: (run: () => void) => void) {}

  /** `send` sends the command as it then is and returns its id, or null when it could not. */
  wish(key: string, send: () => number | null): void {
    this.wishes.set(key, send);
    this.flush();
  }

  /** The command with this id has its frame, or failed. The server carries out commands in order, and a newer frame may
   *  have taken the place of an older one on its way: so the commands before it are done as well. */
  done(id: number): void {
    for (const [key, sent] of this.underWay) if (sent <= id) this.underWay.delete(key);
    this.flush();
  }

  /** The connection is new: nothing is under way. */
  reset(): void {
    this.underWay.clear();
    this.flush();
  }

  get idle(): boolean {
    return this.wishes.size === 0 && this.underWay.size === 0;
  }

  private flush(): void {
    for (const [key, send] of this.wishes) {
      if (this.underWay.has(key) || this.sentInFrame.has(key)) continue;
      this.wishes.delete(key);
      this.sentInFrame.add(key);
      const id = send();
      if (id !== null) this.underWay.set(key, id);
    }
    if (this.sentInFrame.size > 0 && !this.scheduled) {
      this.scheduled = true;
      this.nextFrame(() => {
        this.scheduled = false;
        this.sentInFrame.clear();
        this.flush();
      });
    }
  }
}
