// SPDX-License-Identifier: Apache-2.0
/** From the hand to the eye: the time between the arrival of an input event in the browser and the end of the animation
 *  frame that shows the image that it asked for, or the last of them where there are several. The page measures itself and
 *  shows its numbers as window.__sonde. */
const KEPT = 2000;

/** The parts of that time, one after the other: until the page has the event; until its command leaves (the one before it
 *  is under way); until its image is received; until the next animation frame begins; until that has drawn; until it was
 *  handed on. */
export const STAGES = ["reach", "wait", "answer", "frame", "draw", "hand on"] as const;
export type Stage = (typeof STAGES)[number];

export interface Percentiles {
  p50: number;
  p95: number;
  longest: number;
}

export interface Summary extends Percentiles {
  paints: number;
  paintsPerSecond: number;
  delays: number;
  stages: Record<Stage, Percentiles>;
}

/** What a command has behind it: when the event arrived, and the ends of the stages. */
type Way = number[];

export class Delays {
  private inputs = new Map<string, Way>();
  private underWay = new Map<number, Way>();
  private arrived = new Map<number, Way>();
  private shown = new Map<number, Way>();
  private arrivedAt: number | null = null;
  private paints: number[] = [];
  private waited = new Map<number, Way>();

  constructor(private readonly now: () => number) {}

  /** Runs what an input event asks for; it arrived in the browser at its timeStamp, before the page had time for it. */
  during<T>(event: { timeStamp: number }, act: () => T): T {
    this.arrivedAt = event.timeStamp;
    try {
      return act();
    } finally {
      this.arrivedAt = null;
    }
  }

  /** A hand moved what the commands of this key are about. */
  input(key: string): void {
    // The first movement that a command stands for counts, not the last: the honest, longer time.
    if (this.inputs.has(key)) return;
    const now = this.now();
    this.inputs.set(key, [this.arrivedAt ?? now, now]);
  }

  sent(key: string, id: number): void {
    const way = this.inputs.get(key);
    this.inputs.delete(key);
    if (way) keep(this.underWay, id, [...way, this.now()]);
  }

  received(id: number): void {
    const way = this.underWay.get(id);
    if (way) this.arrived.set(id, [...way, this.now()]);
  }

  /** An animation frame that began at `begun` has drawn everything that has arrived. */
  presented(begun: number): void {
    const now = this.now();
    for (const [id, way] of this.arrived) this.shown.set(id, [...way, Math.max(begun, way[way.length - 1]), now]);
    this.arrived.clear();
  }

  /** That frame was handed on. */
  painted(): void {
    const now = this.now();
    this.paints.push(now);
    if (this.paints.length > KEPT) this.paints.shift();
    for (const [id, way] of this.shown) keep(this.waited, id, [...way, now]);
    this.shown.clear();
  }

  reset(): void {
    this.paints = [];
    this.waited.clear();
  }

  /** Paints per second between the first and the last; of the delay, and of its parts, percentiles in milliseconds. */
  summary(): Summary {
    const percentiles = (values: number[]) => {
      const sorted = values.sort((a, b) => a - b);
      const at = (p: number) => (sorted.length > 0 ? sorted[Math.round(p * (sorted.length - 1))] : NaN);
      return { p50: at(0.5), p95: at(0.95), longest: at(1) };
    };
    const ways = [...this.waited.values()];
    const span = this.paints.length > 1 ? this.paints[this.paints.length - 1] - this.paints[0] : NaN;
    const stages = STAGES.map((name, i) => [name, percentiles(ways.map((way) => way[i + 1] - way[i]))] as const);
    return {
      paints: this.paints.length,
      paintsPerSecond: (1000 * (this.paints.length - 1)) / span,
      delays: ways.length,
      ...percentiles(ways.map((way) => way[STAGES.length] - way[0])),
      stages: Object.fromEntries(stages) as Summary["stages"],
    };
  }
}

/** In place of an earlier one of the same command, and of the oldest where there are too many. */
function keep(ways: Map<number, Way>, id: number, way: Way): void {
  ways.set(id, way);
  for (const [oldest] of ways) {
    if (ways.size <= KEPT) break;
    ways.delete(oldest);
  }
}

export const delays = new Delays(() => performance.now());
