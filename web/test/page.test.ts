// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { distinct, SimulatedPage } from "./simulated_page";

const shown = new SimulatedPage();
const { colours, view } = { colours: shown.colours.bind(shown), view: shown.view.bind(shown) };
const changed = (panel: "image" | "pattern", before: number[]) => expect.poll(() => colours(panel)).not.toEqual(before);

describe.each([
  ["WebGL2", "?draw=webgl"],
  ["Canvas2D", "?draw=canvas"],
])("drawn with %s", (name, query) => {
  it("shows an image and a pattern that are not blank", async () => {
    await shown.open({}, { query });
    expect(await shown.page.evaluate(() => (window as unknown as { __sonde: { renderer(): string } }).__sonde.renderer())).toBe(name);
    await expect.poll(async () => distinct(await colours("image"))).toBeGreaterThan(20);
    await expect.poll(async () => distinct(await colours("pattern"))).toBeGreaterThan(10);
  });
});

it("draws the same with WebGL2 and Canvas2D", async () => {
  const seen: number[][] = [];
  for (const query of ["?draw=webgl", "?draw=canvas"]) {
    await shown.open({}, { query });
    await expect.poll(async () => distinct(await colours("pattern"))).toBeGreaterThan(10);
    seen.push(await shown.atRest("pattern"));
  }
  // Arithmetic of 32 and of 64 bits may round a value to neighbouring colours, and the centre of a screen pixel that lies
  // on the border of two data pixels to either of them: there are at most 95 such borders on this line.
  const far = seen[0].filter((value, i) => i % 4 === 0 && Math.abs(value - seen[1][i]) > 6);
  expect(far.length).toBeLessThanOrEqual(95);
});

describe("pointer", () => {
  it("moves the detector and the image follows", async () => {
    await shown.open();
    await expect.poll(async () => distinct(await colours("image"))).toBeGreaterThan(20);
    const before = await colours("image");
    const box = await shown.box("pattern");
    await shown.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await shown.page.mouse.down();
    await shown.page.mouse.move(box.x + box.width / 2 + 60, box.y + box.height / 2, { steps: 8 });
    await shown.page.mouse.up();
    await changed("image", before);
    expect((await view("detectors")) as object[]).toMatchObject([{ channel: 0, shape: { kind: "circle", r: 14 } }]);
  });

  it("moves the probe and the pattern follows", async () => {
    await shown.open();
    await expect.poll(async () => distinct(await colours("pattern"))).toBeGreaterThan(10);
    const before = await colours("pattern");
    const box = await shown.box("image");
    await shown.page.mouse.click(box.x + box.width / 2, box.y + box.height / 2 - 150);
    await changed("pattern", before);
    expect(((await view("cursor")) as { row: number }).row).toBeLessThan(32);
  });

  it("zooms with the wheel and shows all again with a double click", async () => {
    await shown.open();
    const lines = shown.lines("image");
    await lines.hover();
    await shown.page.mouse.wheel(0, -600);
    await expect.poll(async () => ((await view("zoom")) as { image: { zoom: number } }).image.zoom).toBeGreaterThan(2);
    await lines.dblclick();
    await expect.poll(() => view("zoom")).toMatchObject({ image: { zoom: 1 } });
  });

  it("never floods the server: far fewer commands than movements, and the last one counts", async () => {
    await shown.open();
    const { what } = shown;
    await expect.poll(async () => distinct(await colours("image"))).toBeGreaterThan(20);
    what.seen.length = 0;
    await shown.page.evaluate(() => {
      const lines = document.querySelector("[data-panel=pattern] .lines") as HTMLElement;
      const { left, top, width, height } = lines.getBoundingClientRect();
      const fire = (type: string, x: number) =>
        lines.dispatchEvent(new PointerEvent(type, { pointerId: 1, button: 0, clientX: left + x, clientY: top + height / 2, bubbles: true }));
      lines.setPointerCapture = () => {};
      fire("pointerdown", width / 2);
      for (let i = 0; i < 1000; ++i) fire("pointermove", width / 2 + (i % 80));
      fire("pointermove", width / 2 + 40);
      fire("pointerup", width / 2 + 40);
    });
    await shown.rest();
    const commands = what.seen.filter((name) => name === "set_detector").length;
    // One at once and one when it was answered.
    expect(commands).toBeGreaterThanOrEqual(1);
    expect(commands).toBeLessThanOrEqual(3);
  });
});

it("a key asks for no animation frame, before which the browser would hold back the image", async () => {
  await shown.open();
  await expect.poll(async () => distinct(await colours("image"))).toBeGreaterThan(20);
  const asked = await shown.page.evaluate(async () => {
    const { requestAnimationFrame: request } = window;
    const afterFrames = () => new Promise((resolve) => request(() => request(resolve)));
    await afterFrames();
    let [during, later] = [0, 0];
    let over = false;
    window.requestAnimationFrame = (act) => {
      if (over) ++later;
      else ++during;
      return request(act);
    };
    window.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowUp" }));
    await Promise.resolve();
    over = true;
    // It is drawn from a task of its own, which may be late.
    while (later === 0) await afterFrames();
    return [during, later];
  });
  expect(asked[0]).toBe(0);
  // The cross has moved.
  expect(asked[1]).toBeGreaterThan(0);
});

it("draws an image once for a frame, and not again while nothing of it changes", async () => {
  await shown.open({}, { query: "?draw=canvas" });
  await expect.poll(async () => distinct(await colours("image"))).toBeGreaterThan(20);
  const drawn = await shown.page.evaluate(async () => {
    type Frame = { values: Float32Array };
    type Store = { frame(kind: number, dataset: number): { value: Frame }; view: { detectors: { value: { channel: number; shape: unknown; expr: null }[] } } };
    type Sonde = { store: Store; session: { frame(frame: Frame): void } };
    const { store, session } = (window as unknown as { __sonde: Sonde }).__sonde;
    const base = document.querySelector("[data-panel=image] canvas");
    let count = 0;
    const { putImageData } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.putImageData = function (this: CanvasRenderingContext2D, image: ImageData, x: number, y: number) {
      count += Number(this.canvas === base);
      putImageData.call(this, image, x, y, 0, 0, image.width, image.height);
    };
    // Two frames later all that was asked for has been drawn.
    const afterFrames = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const counts: number[] = [];
    const after = async (act: () => void) => {
      count = 0;
      act();
      await afterFrames();
      counts.push(count);
    };
    const frame = store.frame(2, 0).value;
    const brighter = (by: number) => ({ ...frame, id: 0, values: frame.values.map((value, i) => value + by * (i % 7)) });
    await after(() => [1, 2, 3].forEach((by) => session.frame(brighter(by))));
    const { detectors } = store.view;
    await after(() => (detectors.value = [{ channel: 0, expr: null, shape: { kind: "circle", row: 20, col: 20, r: 9 } }]));
    return counts;
  });
  expect(drawn).toEqual([1, 0]);
});

describe("what is entered faster than it is drawn", () => {
  it("counts, each number by itself", async () => {
    await shown.open();
    await shown.page.locator("section[aria-label='Real space']").getByRole("button", { name: "Line profile" }).click();
    const { x, y } = await shown.box("image");
    await shown.page.mouse.move(x + 200, y + 100);
    await shown.page.mouse.down();
    await shown.page.mouse.move(x + 300, y + 200);
    await shown.page.mouse.up();
    await shown.page.getByLabel("to row").waitFor();
    await shown.page.evaluate(() => {
      const panel = document.querySelector("section[aria-label='Line profile']");
      // From row and col, to row and col, width: all in one go.
      panel?.querySelectorAll("input").forEach((field, i) => {
        field.value = String(10 + i);
        field.dispatchEvent(new InputEvent("input", { inputType: "insertText", bubbles: true }));
        field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
      });
    });
    expect(await view("profile")).toMatchObject({ p0: [10, 11], p1: [12, 13], width: 14 });
  });

  it("is the format of a file", async () => {
    await shown.open();
    await shown.page.keyboard.press("e");
    await shown.page.getByRole("dialog").waitFor();
    await shown.page.evaluate(() => {
      const format = document.querySelector("select[aria-label=As]") as HTMLSelectElement;
      format.value = "csv";
      format.dispatchEvent(new Event("change", { bubbles: true }));
      (document.querySelector("dialog button.primary") as HTMLElement).click();
    });
    await expect.poll(() => shown.what.received[shown.what.seen.lastIndexOf("export")]).toMatchObject({ what: "image", format: "csv" });
  });
});

describe("keyboard alone", () => {
  it("does what the help says", async () => {
    await shown.open({ items: 3 });
    const [row, col] = [32, 32];
    await shown.page.keyboard.press("ArrowDown");
    await shown.page.keyboard.press("Shift+ArrowLeft");
    expect(await view("cursor")).toEqual({ row: row + 1, col: col - 10 });
    await shown.page.keyboard.press("n");
    expect(await view("detectors")).toMatchObject([{ expr: "adf" }]);
    await shown.page.keyboard.press("d");
    await shown.page.keyboard.press("Shift+S");
    expect(await view("detectors")).toMatchObject([{ shape: { kind: "annulus", row: 58, col: 49, rIn: 14, rOut: 28 } }]);
    await shown.page.keyboard.press("+");
    await shown.page.keyboard.press("[");
    expect(await view("detectors")).toMatchObject([{ shape: { rIn: 13, rOut: 29 } }]);
    await shown.page.keyboard.press(".");
    expect(await view("item")).toBe(1);
    await shown.page.keyboard.press(",");
    expect(await view("item")).toBe(0);
    await shown.page.keyboard.press("l");
    expect(await view("display")).toMatchObject({ image: { stretch: "log" } });
    await shown.page.keyboard.press("f");
    expect(await view("spectrumOn")).toBe(true);
    await shown.page.keyboard.press("g");
    expect(await view("arrangement")).toBe("grid");
    for (const [key, name] of [["b", "bf"], ["v", "abf"], ["h", "haadf"]]) {
      await shown.page.keyboard.press(key);
      expect(await view("detectors")).toMatchObject([{ expr: name }]);
    }
    await shown.page.keyboard.press("?");
    expect(await shown.page.getByRole("dialog").innerText()).toContain("move the probe");
    await shown.page.keyboard.press("Escape");
    await expect.poll(() => shown.page.locator("dialog").count()).toBe(0);
    await shown.page.keyboard.press("e");
    await expect.poll(() => shown.page.getByRole("dialog").count()).toBe(1);
  });

  it("has A for both of its meanings", async () => {
    await shown.open();
    await shown.page.evaluate(() => {
      const { view } = (window as unknown as { __sonde: { store: { view: { display: { value: Record<string, object> } } } } }).__sonde.store;
      view.display.value = { ...view.display.value, image: { ...view.display.value.image, contrast: "fixed" } };
    });
    await shown.page.keyboard.press("a");
    expect(await view("display")).toMatchObject({ image: { contrast: "auto" } });
    await shown.page.locator("[data-panel=pattern] .lines").focus();
    await shown.page.keyboard.press("a");
    expect(await view("detectors")).toMatchObject([{ shape: { col: 47 } }]);
  });

  it("reaches every control by Tab, each with a name and large enough to hit", async () => {
    await shown.open({ items: 3, datasets: 2 });
    await shown.page.keyboard.press("f");
    await expect.poll(() => shown.page.locator("[data-panel=spectrum]").count()).toBe(1);
    await shown.rest();
    const poor = await shown.page.evaluate(() => {
      const name = (element: Element) => {
        const label = element.getAttribute("aria-label") ?? element.closest("label")?.textContent ?? element.textContent ?? "";
        return label.trim();
      };
      return [...document.querySelectorAll("button, input, select, summary, canvas.lines, [role=slider]")]
        .filter((element) => (element as HTMLElement).checkVisibility() && !element.classList.contains("unseen"))
        .flatMap((element) => {
          // A box to tick is hit through its label.
          const { width, height } = (element.closest("label.check") ?? element).getBoundingClientRect();
          const wrong = [];
          if (name(element) === "") wrong.push("no name");
          if (width < 24 || height < 24) wrong.push(`${Math.round(width)} x ${Math.round(height)}`);
          if ((element as HTMLElement).tabIndex < 0) wrong.push("not by Tab");
          return wrong.map((what) => `${element.tagName} "${name(element)}": ${what}`);
        });
    });
    expect(poor).toEqual([]);
    const duplicates = await shown.page.evaluate(() => document.querySelectorAll("main").length + document.querySelectorAll("h1").length);
    expect(duplicates).toBe(2);
  });
});

describe("narrow and low windows", () => {
  it.each([
    [390, 844],
    [1024, 640],
  ])("show everything without scrolling sideways (%d x %d)", async (width, height) => {
    await shown.open({ items: 3 }, { viewport: { width, height } });
    expect(await shown.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    const box = await shown.box("image");
    expect(box.width).toBeGreaterThan(300);
    expect(box.height).toBeGreaterThan(300);
    await expect.poll(async () => distinct(await colours("image"))).toBeGreaterThan(20);
  });
});

it("says what is wrong with a detector in words, and keeps the last image", async () => {
  await shown.open();
  await expect.poll(async () => distinct(await colours("image"))).toBeGreaterThan(20);
  const before = await shown.atRest("image");
  const field = shown.page.getByRole("textbox", { name: "Expression" });
  await field.fill("nonsense");
  await field.press("Enter");
  await expect.poll(() => shown.page.locator("aside [role=alert]").innerText()).toContain('unknown name "nonsense"');
  expect(await shown.atRest("image")).toEqual(before);
});

it("says which item cannot be shown in its place, and shows the others", async () => {
  await shown.open({ items: 3, broken: [1] });
  await expect.poll(async () => distinct(await colours("image"))).toBeGreaterThan(20);
  await shown.lines("image").focus();
  await shown.page.keyboard.press(".");
  const alert = shown.page.locator("[data-panel=image] [role=alert]");
  await expect.poll(() => alert.innerText()).toContain("tilt_1_data_000001.h5: no such file");
  for (const panel of ["image", "pattern"] as const) await expect.poll(async () => distinct(await colours(panel))).toBe(1);
  await expect.poll(() => shown.page.locator(".series .readout").innerText()).toContain("tilt 2 deg (failed)");
  for (const title of ["Real space", "Diffraction"]) await expect.poll(() => shown.readout(title)).toBe("");
  await shown.page.keyboard.press(".");
  await expect.poll(async () => distinct(await colours("image"))).toBeGreaterThan(20);
  await expect.poll(() => alert.count()).toBe(0);
  // Its file has come back.
  await shown.page.keyboard.press(",");
  shown.what.broken = [];
  await shown.page.getByRole("button", { name: "Try to load it again" }).first().click();
  shown.what.server?.loaded();
  await expect.poll(async () => distinct(await colours("image"))).toBeGreaterThan(20);
  expect(await view("item")).toBe(1);
});

it("shows the region's pattern of the item at hand, also where it is asked for after the item", async () => {
  await shown.open({ items: 3 });
  await expect.poll(async () => distinct(await colours("image"))).toBeGreaterThan(20);
  const region = shown.page.getByRole("button", { name: "The pattern of the region" });
  const step = async (key: string) => {
    await shown.lines("image").focus();
    await shown.page.keyboard.press(key);
  };
  const probe = await shown.atRest("pattern");
  await region.click();
  // The pattern comes after the click.
  await changed("pattern", probe);
  const first = await shown.atRest("pattern");
  await step(".");
  await changed("pattern", first);
  const second = await shown.atRest("pattern");
  await step(",");
  await expect.poll(() => shown.atRest("pattern")).toEqual(first);
  await shown.page.getByRole("button", { name: "The pattern at the probe" }).click();
  await step(".");
  await expect.poll(() => shown.what.received[shown.what.seen.lastIndexOf("set_item")]).toMatchObject({ reduced: false });
  await region.click();
  await expect.poll(() => shown.atRest("pattern")).toEqual(second);
});

it("plays a series to its end", async () => {
  await shown.open({ items: 4 });
  const { what } = shown;
  await expect.poll(async () => distinct(await colours("image"))).toBeGreaterThan(20);
  what.seen.length = 0;
  await shown.page.getByRole("button", { name: "Loop" }).click();
  await shown.page.keyboard.press("Escape");
  await shown.page.locator("[data-panel=image] .lines").focus();
  await shown.page.keyboard.press("Space");
  await expect.poll(() => view("item")).toBe(3);
  await expect.poll(() => shown.page.getByRole("button", { name: "Play" }).count()).toBe(1);
  await expect.poll(() => what.seen.filter((name) => name === "set_item").length).toBe(3);
});

it("pauses playing when an item is chosen by hand", async () => {
  await shown.open({ items: 40 });
  await shown.lines("image").focus();
  await shown.page.keyboard.press("Space");
  await expect.poll(() => view("item")).toBeGreaterThan(1);
  await shown.page.getByRole("button", { name: "Previous item" }).click();
  await expect.poll(() => shown.page.getByRole("button", { name: "Play" }).count()).toBe(1);
  // The program is told as well, so that it stops preparing images.
  await expect.poll(() => shown.what.received[shown.what.seen.lastIndexOf("play")]).toMatchObject({ playing: false });
});
