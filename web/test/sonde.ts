// SPDX-License-Identifier: Apache-2.0
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The program under test; ctest says where it is. */
export function program(): string {
  const path = process.env.SONDE_PROGRAM;
  if (!path) throw new Error("SONDE_PROGRAM names no program: run `ctest -R web_browser`, or set it");
  return path;
}

export function run(...words: string[]): string {
  return execFileSync(program(), words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
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
export function simulate(master: string, seed: number): string {
  run("stem", "simulate", master, "--scan-shape", "48,40", "--detector-shape", "64,64", "--disk-radius", "8", "--dose", "2", "--seed", String(seed), "--no-truth", "--frames-per-file", "1000");
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
        const found = /http:\/\/\S+token=[\w-]+/.exec(said);
        if (found) resolve(new ViewServer(child, found[0]));
      };
      child.stdout.on("data", hear);
      child.stderr.on("data", hear);
      child.on("exit", (status) => reject(new Error(`sonde view ended with ${String(status)}: ${said}`)));
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
export function imageByCommand(master: string, detector: string, folder: string): Npy {
  const output = join(folder, "image.npy");
  run("stem", "image", master, "--detector", detector, "--hot-pixels", "zero", "-o", output, "--quiet");
  return readNpy(readFileSync(output));
}
