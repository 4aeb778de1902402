// SPDX-License-Identifier: Apache-2.0
/** The page of stems with the real program behind it: what is heard is what the files hold. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";

import { axeViolations } from "./axe";
import { Pages } from "./pages";
import { temporaryFolder, ViewServer } from "./sonde";

const RATE = 8000;
const SECONDS = 6;
const FRAMES = RATE * SECONDS;
// Where the first sample is on the tape: the player begins 50 ms after it is asked to.
const LEAD = 0.05 * RATE;
const TAPE_SECONDS = 4;

const folder = temporaryFolder();
const at = (name: string) => join(folder.path, name);
let server: ViewServer | null = null;
let page: Page;

/** A WAV file of float32, one array for each channel. */
function writeWav(path: string, channels: Float32Array[], rate = RATE): void {
  const frames = channels[0].length;
  const data = Buffer.alloc(44 + 4 * frames * channels.length);
  data.write("RIFF", 0);
  data.writeUInt32LE(data.length - 8, 4);
  data.write("WAVEfmt ", 8);
  data.writeUInt32LE(16, 16);
  data.writeUInt16LE(3, 20);
  data.writeUInt16LE(channels.length, 22);
  data.writeUInt32LE(rate, 24);
  data.writeUInt32LE(4 * rate * channels.length, 28);
  data.writeUInt16LE(4 * channels.length, 32);
  data.writeUInt16LE(32, 34);
  data.write("data", 36);
  data.writeUInt32LE(data.length - 44, 40);
  channels.forEach((samples, c) => samples.forEach((sample, i) => data.writeFloatLE(sample, 44 + 4 * (i * channels.length + c))));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, data);
}

let state = 1;
const noise = () => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 31 - 1) * 0.5;
const samples = (of: (seconds: number) => number) => Float32Array.from({ length: FRAMES }, (_, i) => of(i / RATE));
/** Hits of equal strength every half second. */
const hits = (first: number) => samples((t) => (t < first ? 0 : noise() * Math.exp(-((t - first) % 0.5) / 0.01)));

const KICK = hits(0.25);
const SNARE = hits(0.5);
const BASS = [samples((t) => 0.2 * Math.sin(2 * Math.PI * 110 * t)), samples((t) => 0.2 * Math.sin(2 * Math.PI * 220 * t))];
const MIXTURE = [0, 1].map((c) => KICK.map((_, i) => KICK[i] + SNARE[i] + BASS[c][i]));

beforeAll(() => {
  for (const song of ["song", "out/first"]) {
    writeWav(at(`${song}/kick.wav`), [KICK]);
    writeWav(at(`${song}/snare.wav`), [SNARE]);
    writeWav(at(`${song}/bass.wav`), BASS);
  }
  writeWav(at("song/mixture.wav"), MIXTURE);
  writeWav(at("trusted/kick.wav"), [KICK]);
  writeWav(at("trusted/snare.wav"), [SNARE]);
  const agreement_db_over_time = [12, 10, null, 11, 14, 9];
  writeFileSync(at("trusted/separation.json"), JSON.stringify({ quality: { seconds: 1, passes: 4, stems: [{ name: "kick", agreement_db: 11.5, agreement_db_over_time }] } }));
  writeWav(at("out/second/vocals.wav"), BASS);
  // More than a quarter of an hour.
  writeWav(at("long/kick.wav"), [new Float32Array(1000 * 901)], 1000);
  writeWav(at("bad/kick.wav"), [KICK]);
  writeWav(at("bad/snare.wav"), [SNARE.subarray(1)]);
});
afterEach(async () => {
  await server?.stop();
  server = null;
});
afterAll(() => folder.remove());
const pages = new Pages("exceptions");

/** Audio contexts that are tapes: they go on when what comes next is there, and keep what was played in `__tape`. */
function tapes(seconds: number): void {
  const shared = window as unknown as { __tape?: Float32Array[] | null; AudioContext: unknown };
  // A page that had it for an earlier test has it for this one as well.
  if (location.hash !== "#taped" || shared.__tape !== undefined) return;
  shared.__tape = null;
  shared.AudioContext = function ({ sampleRate }: { sampleRate: number }) {
    const tape = new OfflineAudioContext(2, seconds * sampleRate, sampleRate);
    let [begun, there] = [false, 0];
    const begin = () => {
      for (let stop = 0.25; stop < seconds; stop += 0.25)
        void tape.suspend(stop).then(async () => {
          while (there < Math.min(seconds, stop + 0.5)) await new Promise((done) => setTimeout(done, 5));
          void OfflineAudioContext.prototype.resume.call(tape);
        });
      void tape.startRendering().then((buffer) => (shared.__tape = [0, 1].map((c) => buffer.getChannelData(c))));
    };
    const source = tape.createBufferSource.bind(tape);
    tape.createBufferSource = () => {
      const node = source();
      const start = node.start.bind(node);
      node.start = (when = 0) => {
        start(when);
        there = Math.max(there, when + (node.buffer?.duration ?? 0));
        if (!begun) setTimeout(begin);
        begun = true;
      };
      return node;
    };
    return Object.assign(tape, { resume: () => Promise.resolve(), close: () => Promise.resolve() });
  };
}

async function open(name: string, { taped = true, scheme = "dark" as "dark" | "light" } = {}): Promise<void> {
  server = await ViewServer.start([at(name)]);
  page = await pages.page({ acceptDownloads: true, colorScheme: scheme });
  await page.addInitScript(tapes, TAPE_SECONDS);
  await page.goto(taped ? `${server.url}#taped` : server.url);
  await page.locator("main.mixer .track").first().waitFor();
}

const button = (name: string) => page.getByRole("button", { name, exact: true });

/** Plays, and reads back what was heard. */
async function heard(): Promise<number[][]> {
  await page.evaluate(() => ((window as unknown as { __tape: null }).__tape = null));
  await button("Play").click();
  await page.waitForFunction(() => (window as unknown as { __tape: unknown }).__tape !== null);
  const tape = await page.evaluate(() => (window as unknown as { __tape: Float32Array[] }).__tape.map((one) => Array.from(one)));
  await button("Pause").click();
  return tape;
}

/** The largest distance between what was heard and what is expected of each frame. */
function distance(tape: number[][], expected: (channel: number, frame: number) => number): number {
  let largest = 0;
  tape.forEach((channel, c) => channel.slice(LEAD).forEach((value, i) => (largest = Math.max(largest, Math.abs(value - expected(c, i))))));
  return largest;
}

// Sums of three numbers in single precision, and levels as single precision.
const ROUNDING = 1e-6;

it("plays the sum of the stems, sample by sample", async () => {
  await open("song");
  expect(distance(await heard(), (c, i) => KICK[i] + SNARE[i] + BASS[c][i])).toBeLessThan(ROUNDING);
});

it("plays each stem at its level, without those that are muted", async () => {
  await open("song");
  const level = page.getByRole("slider", { name: "Level of kick" });
  await level.fill("-6");
  await button("Mute snare").click();
  await expect.poll(() => level.getAttribute("aria-valuetext")).toBe("-6 dB");
  expect(distance(await heard(), (c, i) => 10 ** (-6 / 20) * KICK[i] + BASS[c][i])).toBeLessThan(ROUNDING);
});

it("plays only what is solo", async () => {
  await open("song");
  await page.keyboard.press("3");
  await expect.poll(() => button("Solo snare").getAttribute("aria-pressed")).toBe("true");
  expect(distance(await heard(), (_, i) => SNARE[i])).toBeLessThan(ROUNDING);
});

it("a level that changes while it plays is heard from then on", async () => {
  await open("song", { taped: false });
  await page.evaluate(() => {
    const shared = window as unknown as { __levels: AudioParam[] };
    shared.__levels = [];
    const createGain = AudioContext.prototype.createGain;
    AudioContext.prototype.createGain = function () {
      const node = createGain.call(this);
      shared.__levels.push(node.gain);
      return node;
    };
  });
  // In a loop, so that it plays for as long as this takes.
  await button("Play the loop").click();
  await button("Play").click();
  await button("Solo kick").click();
  const levels = () => page.evaluate(() => (window as unknown as { __levels: AudioParam[] }).__levels.map(({ value }) => Number(value.toFixed(3))));
  // Of bass, kick, snare and mixture.
  await expect.poll(levels).toEqual([0, 1, 0, 0]);
  await button("Mixture").click();
  await expect.poll(levels).toEqual([0, 0, 0, 1]);
});

it("plays the mixture in place of the stems", async () => {
  await open("song");
  await button("Mixture").click();
  expect(distance(await heard(), (c, i) => MIXTURE[c][i])).toBeLessThan(ROUNDING);
});

it("repeats a loop without a gap, from its first sample to its last", async () => {
  await open("song");
  await page.getByRole("spinbutton", { name: "from" }).fill("1.25");
  await page.getByRole("spinbutton", { name: "from" }).press("Enter");
  await page.getByRole("spinbutton", { name: "to" }).fill("2");
  await page.getByRole("spinbutton", { name: "to" }).press("Enter");
  await button("Play the loop").click();
  const frame = (i: number) => 1.25 * RATE + (i % (0.75 * RATE));
  expect(distance(await heard(), (c, i) => KICK[frame(i)] + SNARE[frame(i)] + BASS[c][frame(i)])).toBeLessThan(ROUNDING);
});

it("a drag over a picture is a loop, a click a place", async () => {
  await open("song");
  const lane = page.locator(".lane").first();
  const box = await lane.boundingBox();
  if (!box) throw new Error("there is no picture");
  await page.mouse.click(box.x + box.width / 2, box.y + 20);
  await expect.poll(() => page.getByRole("slider", { name: "Position" }).getAttribute("aria-valuetext")).toBe("0:03.0");
  await page.mouse.move(box.x + box.width / 3, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + (2 * box.width) / 3, box.y + 20, { steps: 5 });
  await page.mouse.up();
  await expect.poll(() => button("Play the loop").getAttribute("aria-pressed")).toBe("true");
  const ends = await Promise.all(["from", "to"].map((name) => page.getByRole("spinbutton", { name }).inputValue()));
  // To a pixel of some 1000.
  expect(Math.abs(Number(ends[0]) - 2)).toBeLessThan(0.02);
  expect(Math.abs(Number(ends[1]) - 4)).toBeLessThan(0.02);
});

it("goes on while it plays, and pauses", async () => {
  await open("song", { taped: false });
  // Long enough for a look at it while it plays.
  await page.keyboard.press("l");
  const place = () => page.evaluate(() => (window as unknown as { __sonde: { mixer: { song: { place: { value: number } } } } }).__sonde.mixer.song.place.value);
  await page.keyboard.press("Space");
  await expect.poll(place).toBeGreaterThan(0);
  const heard = await place();
  await expect.poll(place).not.toBe(heard);
  await page.keyboard.press("Space");
  await button("Play").waitFor();
  const paused = await place();
  await expect.poll(async () => Number(await page.getByRole("slider", { name: "Position" }).inputValue())).toBeCloseTo(paused / RATE, 1);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  expect(await place()).toBe(paused);
});

const strokes = async (stem: string) => (await page.getByRole("group", { name: stem, exact: true }).locator(".markers path").getAttribute("d"))?.match(/M/g)?.length ?? 0;

it("marks the events of drums, and finds others for another threshold", async () => {
  await open("song");
  // From 0.5 to 5.5 s.
  await expect.poll(() => strokes("snare")).toBe(11);
  const snare = page.getByRole("group", { name: "snare", exact: true });
  await snare.locator("summary").click();
  await snare.getByRole("slider", { name: "Least gap, snare" }).fill("500");
  await snare.getByRole("slider", { name: "Threshold, snare" }).fill("0.5");
  await expect.poll(() => strokes("snare")).toBeLessThan(11);
  expect(await page.getByRole("group", { name: "bass", exact: true }).locator(".markers").count()).toBe(0);
});

it("looks for the events of long songs only when asked", async () => {
  await open("long");
  const kick = page.getByRole("group", { name: "kick", exact: true });
  await kick.locator("summary").click();
  await kick.getByRole("button", { name: "Find events of kick" }).waitFor();
  await expect.poll(() => kick.getByRole("status").innerText()).toBe("Events");
});

it("saves the events as a MIDI file", async () => {
  await open("song");
  const waiting = page.waitForEvent("download");
  await page.getByRole("button", { name: /MIDI/ }).click();
  const download = await waiting;
  expect(download.suggestedFilename()).toBe("song.mid");
  expect(readFileSync(await download.path()).subarray(0, 4).toString()).toBe("MThd");
});

it("draws waveforms and spectrograms, also of a part", async () => {
  await open("song");
  const wave = () => page.getByRole("img", { name: "Waveform of kick" }).locator(".peak").getAttribute("d");
  await expect.poll(async () => (await wave())?.length ?? 0).toBeGreaterThan(1000);
  const all = await wave();
  const colours = () =>
    page.locator("canvas[aria-label='Spectrogram of bass']").evaluate((canvas) => {
      const { width, height } = canvas as HTMLCanvasElement;
      const data = (canvas as HTMLCanvasElement).getContext("2d")?.getImageData(0, 0, width, height).data;
      return new Set(new Uint32Array(data?.buffer ?? new ArrayBuffer(0))).size;
    });
  await expect.poll(colours).toBeGreaterThan(10);
  await page.keyboard.press("+");
  await expect.poll(wave).not.toBe(all);
});

it("draws how far passes agree on a stem where the summary has it", async () => {
  await open("trusted");
  const kick = page.getByRole("group", { name: "kick", exact: true });
  expect(await kick.getByText("passes agree to").innerText()).toBe("4 passes agree to 11.5 dB");
  const bars = async () => (await kick.getByRole("img", { name: /^Agreement of passes on kick/ }).locator("path").getAttribute("d"))?.match(/M/g)?.length;
  await expect.poll(bars).toBe(5);
  await page.keyboard.press("+");
  await expect.poll(bars).toBe(2);
  expect(await page.getByRole("img", { name: /Agreement of passes on snare/ }).count()).toBe(0);
});

it("shows one of several songs", async () => {
  await open("out");
  const names = () => page.locator(".track h2").allTextContents();
  await expect.poll(names).toEqual(["bass", "kick", "snare"]);
  await page.getByRole("combobox", { name: "Song" }).selectOption({ label: "second" });
  await expect.poll(names).toEqual(["vocals"]);
  expect(await page.getByRole("button", { name: /MIDI/ }).count()).toBe(0);
});

it.each(["dark", "light"] as const)("axe finds nothing wrong in the %s scheme", async (scheme) => {
  await open("song", { scheme });
  await expect.poll(() => strokes("snare")).toBe(11);
  await page.getByRole("group", { name: "snare", exact: true }).locator("summary").click();
  await button("Mute kick").click();
  expect(await axeViolations(page)).toEqual([]);
});

it("a folder whose stems are not of one length is refused", async () => {
  await expect(ViewServer.start([at("bad")])).rejects.toThrow(/kick\.wav: 48000 samples, but .*snare\.wav: 47999; expected stems of one length/);
});
