// SPDX-License-Identifier: Apache-2.0
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** The program under test; ctest says where it is. */
export function program(): string {
  const path = process.env.SONDE_PROGRAM;
  if (!path) throw new Error("SONDE_PROGRAM names no program: run `ctest -R web_browser`, or set it");
  return path;
}

/** Runs the program to its end. Nothing is held up meanwhile: vitest gives up a test file that does not answer for a
 *  minute, and the browser's messages are to be heard. */
export async function run(...words: string[]): Promise<string> {
  return (await promisify(execFile)(program(), words)).stdout;
}

export interface Folder {
  path: string;
  remove(): void;
}

export function temporaryFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), "sonde-view-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** A small scan of nanoparticles; different seeds differ. */
export async function simulate(master: string, seed: number): Promise<string> {
  await run("stem", "simulate", master, "--scan-shape", "48,40", "--detector-shape", "64,64", "--disk-radius", "8", "--dose", "2", "--seed", String(seed), "--no-truth", "--frames-per-file", "1000");
  return master;
}

/** `sonde view` as a person starts it. */
export class ViewServer {
  private constructor(
    private readonly child: ChildProcess,
    readonly url: string,
  ) {}

  static start(files: string[], options: string[] = []): Promise<ViewServer> {
    const child = spawn(program(), ["view", ...files, "--no-open", ...options], { stdio: ["ignore", "pipe", "pipe"] });
    return new Promise((resolve, reject) => {
      let said = "";
      const hear = (text: Buffer) => {
        said += text.toString();
        // To the end of the line: what is said may come in pieces.
        const found = /(http:\/\/\S+token=[\w-]+)\s/.exec(said);
        if (found) resolve(new ViewServer(child, found[1]));
      };
      child.stdout.on("data", hear);
      child.stderr.on("data", hear);
      // Once its last words are there; "exit" may come before them.
      child.on("close", (status) => reject(new Error(`sonde view ended with ${String(status)}: ${said}`)));
      child.on("error", reject);
    });
  }

  get port(): string {
    return new URL(this.url).port;
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      if (this.child.exitCode !== null || this.child.signalCode !== null) return resolve();
      this.child.once("exit", () => resolve());
      this.child.kill("SIGINT");
    });
  }
}

export interface Npy {
  shape: number[];
  values: number[];
}

/** Reads an array of numbers of NumPy's format, version 1. */
export function readNpy(bytes: Uint8Array): Npy {
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const length = new DataView(buffer).getUint16(8, true);
  const header = new TextDecoder().decode(bytes.subarray(10, 10 + length));
  const [, type] = /'descr': '([^']+)'/.exec(header) ?? [];
  const [, shape] = /'shape': \(([^)]*)\)/.exec(header) ?? [];
  const data = buffer.slice(10 + length);
  const readers: Record<string, () => ArrayLike<number | bigint>> = {
    "|u1": () => new Uint8Array(data),
    "<u2": () => new Uint16Array(data),
    "<u4": () => new Uint32Array(data),
    "<u8": () => new BigUint64Array(data),
    "<f4": () => new Float32Array(data),
    "<f8": () => new Float64Array(data),
  };
  const read = readers[type ?? ""];
  if (!read || shape === undefined) throw new Error(`no reader for ${header}`);
  return { shape: shape.split(",").filter((part) => part.trim() !== "").map(Number), values: Array.from(read(), Number) };
}

/** The image of a detector as the command line writes it: by all frames, as the viewer judges. Its default finds the disk
 *  in a sample of them. */
export async function imageByCommand(master: string, detector: string, folder: string): Promise<Npy> {
  const output = join(folder, `image-${++images}.npy`);
  await run("stem", "image", master, "--detector", detector, "--hot-pixels", "zero", "-o", output, "--quiet");
  return readNpy(await readFile(output));
}
let images = 0;
