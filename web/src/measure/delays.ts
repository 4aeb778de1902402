// SPDX-License-Identifier: Apache-2.0
/** From the hand to the eye: the time between an input event and the paint of the image that it asked for. The page
 *  measures itself and shows its numbers as window.__sonde. */
const KEPT = 2000;

export class Delays {
  private inputs = new Map<string, number>();
  private underWay = new Map<number, number>();
  private arrived: number[] = [];
  private paints: number[] = [];
  private waited: number[] = [];

  constructor(private readonly now: () => number) {}

  /** A hand moved what the commands of this key are about. */
  input(key: string): void {
    // The first movement that a command stands for counts, not the last: the honest, longer time.
    if (!this.inputs.has(key)) this.inputs.set(key, this.now());
  }

  sent(key: string, id: number): void {
    const at = this.inputs.get(key);
    this.inputs.delete(key);
    if (at !== undefined) this.underWay.set(id, at);
  }

  received(id: number): void {
    const at = this.underWay.get(id);
    this.underWay.delete(id);
    if (at !== undefined) this.arrived.push(at);
  }

  /** Everything that had arrived is on the screen. */
  painted(): void {
    const now = this.now();
    this.keep(this.paints, now);
    for (const at of this.arrived.splice(0)) this.keep(this.waited, now - at);
    // Commands that never get a frame, for instance failed ones.
    if (this.underWay.size > KEPT) this.underWay.clear();
  }

  reset(): void {
    this.paints = [];
    this.waited = [];
  }

  /** Paints per second between the first and the last, percentiles of the delay in milliseconds. */
  summary(): { paints: number; paintsPerSecond: number; delays: number; p50: number; p95: number; longest: number } {
    const sorted = [...this.waited].sort((a, b) => a - b);
    const percentile = (p: number) => (sorted.length > 0 ? sorted[Math.round(p * (sorted.length - 1))] : NaN);
    const span = this.paints.length > 1 ? this.paints[this.paints.length - 1] - this.paints[0] : NaN;
    return {
      paints: this.paints.length,
      paintsPerSecond: (1000 * (this.paints.length - 1)) / span,
      delays: sorted.length,
      p50: percentile(0.5),
      p95: percentile(0.95),
      longest: percentile(1),
    };
  }

  private keep(list: number[], value: number): void {
    list.push(value);
    if (list.length > KEPT) list.shift();
  }
}

export const delays = new Delays(() => performance.now());
