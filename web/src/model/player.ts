// SPDX-License-Identifier: Apache-2.0

/** What is played: tracks of one length, whose samples come in pieces. */
export interface Source {
  rate: number;
  channels: number;
  /** Samples of each channel. */
  frames: number;
  tracks: number;
  /** Frames that one piece may have. */
  longest: number;
  /** Of each track, channel after channel, `count` samples each from `first` on. */
  read(first: number, count: number): Promise<Float32Array[]>;
}

/** Frames from the first to behind the last one. */
export interface Loop {
  begin: number;
  end: number;
}

/** Where a piece begins in the time of the audio context, in seconds. */
interface Piece {
  at: number;
  first: number;
  count: number;
}

// In seconds. What is played is there so long before: a server that is busy for less is not heard.
const AHEAD = 3;
const PIECE = 1;
const LEAD = 0.05;
const POLL_MS = 50;
/** In which a level goes to its new value, so that no step is heard. */
const GLIDE = 0.005;

/** Plays all tracks together, each through a level of its own. Memory is that of a few seconds. */
export class Player {
  private context: AudioContext | null = null;
  private nodes: GainNode[] = [];
  private sounding = new Set<AudioBufferSourceNode>();
  private pieces: Piece[] = [];
  private run = 0;
  private levels: number[];

  constructor(
    readonly source: Source,
    /** Called when playing has ended by itself, with what went wrong. */
    private readonly ended: (problem?: unknown) => void,
  ) {
    this.levels = Array.from({ length: source.tracks }, () => 1);
  }

  get playing(): boolean {
    return this.context !== null;
  }

  setLevel(track: number, level: number): void {
    this.levels[track] = level;
    if (this.context) this.nodes[track].gain.setTargetAtTime(level, this.context.currentTime, GLIDE);
  }

  play(from: number, loop: Loop | null): void {
    this.stop();
    const { rate } = this.source;
    const context = contextOf(rate);
    this.context = context;
    this.nodes = this.levels.map((level) => {
      const node = context.createGain();
      node.gain.value = level;
      node.connect(context.destination);
      return node;
    });
    void context.resume();
    void this.fill(++this.run, context, from, loop);
  }

  stop(): void {
    ++this.run;
    for (const node of this.sounding) node.disconnect();
    this.sounding.clear();
    this.pieces = [];
    void this.context?.close();
    this.context = null;
  }

  /** The frame that is heard; null before the first one. */
  position(): number | null {
    const { context, pieces } = this;
    if (!context) return null;
    const now = context.currentTime;
    while (pieces.length > 1 && pieces[1].at <= now) pieces.shift();
    const piece = pieces[0];
    if (!piece || now < piece.at) return null;
    return piece.first + Math.min(piece.count, Math.round((now - piece.at) * this.source.rate));
  }

  private async fill(run: number, context: AudioContext, from: number, loop: Loop | null): Promise<void> {
    const { rate, frames, longest } = this.source;
    const here = () => run === this.run;
    let next = from;
    // In frames of the source, so that pieces follow each other without a gap.
    let until = 0;
    try {
      while (here()) {
        const end = loop && next < loop.end ? loop.end : frames;
        const now = context.currentTime * rate;
        if (next >= end || until - now > AHEAD * rate) {
          if (next >= end && now > until) break;
          await new Promise((done) => setTimeout(done, POLL_MS));
          continue;
        }
        const count = Math.min(longest, Math.round(PIECE * rate), end - next);
        const parts = await this.source.read(next, count);
        if (!here()) return;
        // What comes too late begins now: a pause is heard, nothing is left out.
        const at = Math.max(until, Math.ceil((context.currentTime + LEAD) * rate));
        this.schedule(context, parts, count, at / rate);
        this.pieces.push({ at: at / rate, first: next, count });
        until = at + count;
        next += count;
        if (loop && next === loop.end) next = loop.begin;
      }
      if (here()) this.finish();
    } catch (problem) {
      if (here()) this.finish(problem);
    }
  }

  private schedule(context: AudioContext, parts: Float32Array[], count: number, at: number): void {
    const { rate, channels } = this.source;
    parts.forEach((samples, track) => {
      const buffer = context.createBuffer(channels, count, rate);
      for (let c = 0; c < channels; ++c) buffer.copyToChannel(samples.subarray(c * count, (c + 1) * count) as Float32Array<ArrayBuffer>, c);
      const node = context.createBufferSource();
      node.buffer = buffer;
      node.connect(this.nodes[track]);
      node.onended = () => this.sounding.delete(node);
      node.start(at);
      this.sounding.add(node);
    });
  }

  private finish(problem?: unknown): void {
    this.stop();
    this.ended(problem);
  }
}

/** At the rate of the files, so that no sample is changed; browsers do not have every rate. */
function contextOf(rate: number): AudioContext {
  try {
    return new AudioContext({ sampleRate: rate });
  } catch {
    return new AudioContext();
  }
}
