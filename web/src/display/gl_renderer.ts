// SPDX-License-Identifier: Apache-2.0
import { fragmentShader, VERTEX_SHADER, type Drawn } from "./shaders";
import { covered, type Cell, type Layer, type Renderer } from "./renderer";

interface Uploaded {
  texture: WebGLTexture;
  values: unknown;
  rows: number;
  cols: number;
}

const UNIFORMS = ["size", "origin", "scale", "height", "low", "span", "gamma"] as const;

interface Program {
  program: WebGLProgram;
  uniforms: Record<(typeof UNIFORMS)[number], WebGLUniformLocation | null>;
}

let software: boolean | undefined;

/** Whether WebGL2 is made by the processor. Chromium grants failIfMajorPerformanceCaveat to SwiftShader all the same, so
 *  its name is asked for. */
function drawnBySoftware(): boolean {
  if (software !== undefined) return software;
  // A canvas keeps the first kind of context that it gave: another one is asked.
  const gl = document.createElement("canvas").getContext("webgl2");
  const name = gl?.getExtension("WEBGL_debug_renderer_info")?.UNMASKED_RENDERER_WEBGL;
  software = gl !== null && /swiftshader|llvmpipe|softpipe|basic render/i.test(String(gl.getParameter(name ?? gl.RENDERER)));
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return software;
}

/** Values as one float texture each; range, stretch and colours in the fragment shader. */
export class GlRenderer implements Renderer {
  readonly name = "WebGL2";
  private programs = new Map<string, Program>();
  private uploaded = new Map<string, Uploaded>();

  /** Null where the browser has no WebGL2, or one without a graphics processor: then Canvas2D is quicker, by a factor of
   *  three where it was measured (bench/drag.ts). `always` takes that one as well. */
  static create(canvas: HTMLCanvasElement, always: boolean): GlRenderer | null {
    if (!always && drawnBySoftware()) return null;
    const gl = canvas.getContext("webgl2", {
      alpha: false,
      antialias: false,
      depth: false,
      // Kept so that the picture can be copied for an export at any time.
      preserveDrawingBuffer: true,
      failIfMajorPerformanceCaveat: !always,
    });
    return gl ? new GlRenderer(gl) : null;
  }

  private constructor(private readonly gl: WebGL2RenderingContext) {
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.enable(gl.SCISSOR_TEST);
  }

  /** Made when it is first used. */
  private programFor(drawn: Drawn): Program {
    const key = JSON.stringify(drawn);
    const known = this.programs.get(key);
    if (known) return known;
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, source] of [
      [gl.VERTEX_SHADER, VERTEX_SHADER],
      [gl.FRAGMENT_SHADER, fragmentShader(drawn)],
    ] as const) {
      const shader = gl.createShader(kind);
      if (!shader) throw new Error("WebGL2 makes no shader");
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(`shader: ${gl.getProgramInfoLog(program) ?? ""}`);
    gl.useProgram(program);
    const uniforms = Object.fromEntries(UNIFORMS.map((name) => [name, gl.getUniformLocation(program, name)])) as Program["uniforms"];
    for (let i = 0; i < drawn.layers; ++i) {
      gl.uniform1i(gl.getUniformLocation(program, `values${i}`), i);
      gl.uniform1i(gl.getUniformLocation(program, `colours${i}`), 3 + i);
    }
    const made = { program, uniforms };
    this.programs.set(key, made);
    return made;
  }

  draw(cells: Cell[], background: readonly [number, number, number]): void {
    const { gl } = this;
    const { width, height } = gl.canvas;
    gl.scissor(0, 0, width, height);
    gl.clearColor(background[0] / 255, background[1] / 255, background[2] / 255, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const used = new Set<string>();
    cells.forEach((cell, index) => this.drawCell(cell, index, height, used));
    for (const [key, { texture }] of this.uploaded) {
      if (used.has(key)) continue;
      gl.deleteTexture(texture);
      this.uploaded.delete(key);
    }
  }

  private drawCell(cell: Cell, index: number, height: number, used: Set<string>): void {
    const { gl } = this;
    const { at, layers } = cell;
    if (layers.length === 0) return;
    const { left, top, right, bottom } = covered(at, gl.canvas);
    if (right <= left || bottom <= top) return;
    gl.viewport(left, height - bottom, right - left, bottom - top);
    gl.scissor(left, height - bottom, right - left, bottom - top);
    layers.forEach((layer, i) => {
      used.add(this.bindValues(`${index}/${i}`, i, layer));
      used.add(this.bindColours(`${index}/${i}/colours`, 3 + i, layer));
    });
    const mappings = [0, 1, 2].map((i) => (layers[i] ?? layers[0]).mapping);
    const { program, uniforms } = this.programFor({ layers: layers.length, smooth: cell.smooth, stretch: mappings[0].stretch });
    gl.useProgram(program);
    gl.uniform2i(uniforms.size, at.cols, at.rows);
    gl.uniform2f(uniforms.origin, at.x, at.y);
    gl.uniform2f(uniforms.scale, at.scale, at.rowScale);
    gl.uniform1f(uniforms.height, height);
    gl.uniform3fv(uniforms.low, mappings.map(({ low }) => low));
    gl.uniform3fv(uniforms.span, mappings.map(({ low, high }) => high - low));
    gl.uniform1f(uniforms.gamma, mappings[0].gamma);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  private bindValues(key: string, unit: number, layer: Layer): string {
    const { gl } = this;
    const known = this.uploaded.get(key);
    gl.activeTexture(gl.TEXTURE0 + unit);
    if (known && known.rows === layer.rows && known.cols === layer.cols) {
      gl.bindTexture(gl.TEXTURE_2D, known.texture);
      if (known.values !== layer.values)
        gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, layer.cols, layer.rows, gl.RED, gl.FLOAT, layer.values);
      known.values = layer.values;
      return key;
    }
    if (known) gl.deleteTexture(known.texture);
    const texture = this.newTexture();
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.R32F, layer.cols, layer.rows, 0, gl.RED, gl.FLOAT, layer.values);
    this.uploaded.set(key, { texture, values: layer.values, rows: layer.rows, cols: layer.cols });
    return key;
  }

  private bindColours(key: string, unit: number, layer: Layer): string {
    const { gl } = this;
    const known = this.uploaded.get(key);
    gl.activeTexture(gl.TEXTURE0 + unit);
    if (known) gl.bindTexture(gl.TEXTURE_2D, known.texture);
    if (known?.values === layer.colours) return key;
    const texture = known?.texture ?? this.newTexture();
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, layer.colours);
    this.uploaded.set(key, { texture, values: layer.colours, rows: 1, cols: 256 });
    return key;
  }

  private newTexture(): WebGLTexture {
    const { gl } = this;
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    for (const [name, value] of [
      [gl.TEXTURE_MIN_FILTER, gl.NEAREST],
      [gl.TEXTURE_MAG_FILTER, gl.NEAREST],
      [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
      [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
    ])
      gl.texParameteri(gl.TEXTURE_2D, name, value);
    return texture;
  }
}
