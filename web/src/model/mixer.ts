// SPDX-License-Identifier: Apache-2.0
import { batch, computed, signal, type Signal } from "@preact/signals";

import type { Viewer } from "../panels/context";
import type { Frame } from "../protocol/frame";
import type { Reply } from "../protocol/messages";
import { Player, type Loop } from "./player";

/** A setting of how events are found. */
export interface EventNumber {
  key: string;
  label: string;
  unit: string;
  min: number;
  max: number;
  step: number;
  value: number;
}

/** How far passes of a separation agree on a stem: it is so many dB above the deviation of single ones; null in silence. */
export interface Agreement {
  seconds: number;
  passes: number;
  all: number | null;
  db: (number | null)[];
}

export interface TrackOptions {
  name: string;
  format: string;
  /** Of stems of drums only. */
  numbers?: EventNumber[];
  /** Of stems that were separated with `--quality`. */
  agreement?: Agreement;
}

export interface SongOptions {
  name: string;
  rate: number;
  channels: number;
  frames: number;
  longest: number;
  /** Whether the last track is what the others were made of. */
  mixture: boolean;
  tracks: TrackOptions[];
}

/** What was hit in a stem. */
export interface Events {
  times: number[];
  hits: string[];
  velocities: number[];
}

/** Part of a song that is drawn, in frames. */
export interface Span {
  first: number;
  count: number;
}

export interface Overview {
  columns: number;
  /** Smallest, largest and root mean square of each column. */
  peaks: Float32Array;
  /** (bands, columns), the lowest band first. */
  levels: Uint8Array;
  bands: number;
  lowestHz: number;
  highestHz: number;
}

const FRAMES = { peaks: 110, levels: 111, samples: 112 } as const;
export const LEAST_DB = -60;
export const MOST_DB = 12;
const SHORTEST_LOOP_S = 0.05;
const FEWEST_FRAMES = 256;

/** A track with what a person has set. */
export class Track {
  readonly db = signal(0);
  readonly muted = signal(false);
  readonly solo = signal(false);
  readonly numbers: Signal<Record<string, number>>;
  readonly events = signal<Events | null>(null);
  readonly problem = signal<string | null>(null);
  readonly searching = signal(false);
  /** Settings were changed while events were being found. */
  again = false;

  constructor(readonly options: TrackOptions) {
    this.numbers = signal(Object.fromEntries((options.numbers ?? []).map(({ key, value }) => [key, value])));
  }
}

/** A song that is played: tracks, place, loop. The server has the samples; levels are applied by the browser. */
export class Song {
  readonly tracks: Track[];
  readonly span: Signal<Span>;
  readonly place = signal(0);
  readonly playing = signal(false);
  readonly loop: Signal<Loop>;
  readonly looping = signal(false);
  /** Whether the mixture is heard in place of the stems. */
  readonly original = signal(false);
  private readonly player: Player;

  constructor(
    private readonly mixer: Mixer,
    readonly number: number,
    readonly options: SongOptions,
  ) {
    const { frames, rate, channels, longest, tracks } = options;
    this.tracks = tracks.map((one) => new Track(one));
    this.span = signal({ first: 0, count: frames });
    this.loop = signal({ begin: 0, end: frames });
    const read = (first: number, count: number) => mixer.samples(number, first, count);
    this.player = new Player({ rate, channels, frames, longest, tracks: tracks.length, read }, (problem) => {
      this.playing.value = false;
      if (problem) mixer.say(problem);
      else this.place.value = this.looping.peek() ? this.loop.peek().begin : 0;
    });
  }

  readonly level = computed(() => {
    const alone = this.tracks.some(({ solo }) => solo.value);
    return this.tracks.map(({ db, muted, solo }, i) => {
      const heard = this.isMixture(i) ? this.original.value : !this.original.value && !muted.value && (!alone || solo.value);
      return heard && db.value > LEAST_DB ? 10 ** (db.value / 20) : 0;
    });
  });

  isMixture(track: number): boolean {
    return this.options.mixture && track === this.tracks.length - 1;
  }

  get seconds(): number {
    return this.options.frames / this.options.rate;
  }

  /** Changes levels, and lets them be heard. */
  set(change: () => void): void {
    batch(change);
    this.level.peek().forEach((level, track) => this.player.setLevel(track, level));
  }

  toggle(): void {
    if (this.playing.peek()) this.pause();
    else this.start(this.place.peek());
  }

  pause(): void {
    this.follow();
    this.player.stop();
    this.playing.value = false;
  }

  /** Shows the place that is heard. */
  follow(): void {
    const now = this.player.position();
    if (now === null) return;
    this.place.value = Math.min(now, this.options.frames);
    const { first, count } = this.span.peek();
    if (now < first || now >= first + count) this.look(Math.max(0, now - 0.05 * count), count);
  }

  seek(frame: number): void {
    this.place.value = clamp(Math.round(frame), 0, this.options.frames - 1);
    if (this.playing.peek()) this.start(this.place.peek());
  }

  setLoop(begin: number, end: number, on: boolean): void {
    const { frames, rate } = this.options;
    const least = Math.min(frames, Math.ceil(SHORTEST_LOOP_S * rate));
    const from = clamp(Math.round(begin), 0, frames - least);
    batch(() => {
      this.loop.value = { begin: from, end: clamp(Math.round(end), from + least, frames) };
      this.looping.value = on;
    });
    if (this.playing.peek()) {
      this.follow();
      this.start(this.place.peek());
    }
  }

  look(first: number, count: number): void {
    const { frames } = this.options;
    const wide = clamp(Math.round(count), Math.min(FEWEST_FRAMES, frames), frames);
    this.span.value = { first: clamp(Math.round(first), 0, frames - wide), count: wide };
  }

  /** By a factor around the place that is heard, or the middle where that is not in sight. */
  zoom(factor: number): void {
    const { first, count } = this.span.peek();
    const at = this.place.peek();
    const part = at >= first && at <= first + count ? (at - first) / count : 0.5;
    this.look(first + part * count * (1 - factor), count * factor);
  }

  private start(frame: number): void {
    const looping = this.looping.peek();
    const { begin, end } = this.loop.peek();
    const from = looping && (frame < begin || frame >= end) ? begin : frame >= this.options.frames ? 0 : frame;
    this.set(() => {
      this.place.value = from;
      this.playing.value = true;
    });
    this.player.play(from, looping ? { begin, end } : null);
  }

  /** Finds the events of a drum, once at a time: while it does, only the newest settings count. */
  async find(stem: number): Promise<void> {
    const track = this.tracks[stem];
    if (track.searching.peek()) {
      track.again = true;
      return;
    }
    track.searching.value = true;
    do {
      track.again = false;
      const reply = await this.mixer.ask("events", { song: this.number, stem, settings: track.numbers.peek() }).catch((problem: Error) => ({ problem: problem.message }));
      const { problem = null, ...events } = reply as unknown as Events & { problem?: string };
      batch(() => {
        track.problem.value = problem;
        if (problem === null) track.events.value = events;
      });
    } while (track.again);
    track.searching.value = false;
  }
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

/** What the page of stems has: songs, one of which is shown. */
export class Mixer {
  readonly songs: Song[];
  readonly shown = signal(0);
  private readonly kept = new Map<number, Frame[]>();
  /** One picture is asked for at a time, so that samples wait for one at most. */
  private drawing: Promise<unknown> = Promise.resolve();

  constructor(private readonly viewer: Viewer) {
    const { session, store } = viewer;
    const options = store.panels.peek().find(({ type }) => type === "mixer")?.options as { songs: SongOptions[] };
    this.songs = options.songs.map((one, i) => new Song(this, i, one));
    const keep = (frame: Frame) => void this.kept.set(frame.id, [...(this.kept.get(frame.id) ?? []), frame]);
    session.handle({
      frames: Object.fromEntries(Object.values(FRAMES).map((kind) => [kind, keep])),
      lost: () => {
        this.kept.clear();
        this.song.pause();
      },
    });
    Object.assign(window.__sonde ?? {}, { mixer: this });
  }

  get song(): Song {
    return this.songs[this.shown.value];
  }

  show(number: number): void {
    this.song.pause();
    this.shown.value = number;
  }

  ask(command: string, args: Record<string, unknown>): Promise<Reply> {
    return this.viewer.session.request(command, args);
  }

  /** With the frames that came before the reply. */
  private async askFrames(command: string, args: Record<string, unknown>): Promise<[Reply, Frame[]]> {
    const reply = await this.ask(command, args);
    const frames = this.kept.get(reply.id) ?? [];
    this.kept.delete(reply.id);
    return [reply, frames];
  }

  async samples(song: number, first: number, count: number): Promise<Float32Array[]> {
    const [, frames] = await this.askFrames("samples", { song, first, count });
    return frames.sort((a, b) => a.channel - b.channel).map(({ values }) => values as Float32Array);
  }

  /** Draws until all of a track is there, or `wanted` says that something else is to be drawn. */
  async overviews(song: number, track: number, { first, count }: Span, columns: number, wanted: () => boolean, draw: (overview: Overview, done: number) => void): Promise<void> {
    for (let done = 0; done < 1; ) {
      const turn = this.drawing.then(() => (wanted() ? this.askFrames("overview", { song, track, first, count, columns }) : null));
      this.drawing = turn.catch(() => {});
      const answer = await turn;
      if (!answer || !wanted()) return;
      const [reply, frames] = answer;
      const [peaks, levels] = [FRAMES.peaks, FRAMES.levels].map((kind) => frames.find((frame) => frame.kind === kind));
      if (!peaks || !levels) return;
      done = Number(reply.done);
      const range = { lowestHz: Number(reply.lowest_hz), highestHz: Number(reply.highest_hz) };
      draw({ columns, peaks: peaks.values as Float32Array, levels: levels.values as Uint8Array, bands: levels.rows, ...range }, done);
    }
  }

  midi(): Promise<{ name: string; type: string; bytes: Uint8Array<ArrayBuffer> }> {
    const settings = Object.fromEntries(this.song.tracks.map(({ options, numbers }, i) => [i, options.numbers ? numbers.peek() : null]));
    return this.viewer.session.requestFile({ what: "midi", song: this.song.number, settings });
  }

  say(problem: unknown): void {
    this.viewer.session.confusion(problem);
  }
}
