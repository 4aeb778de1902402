// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";

import { freeChannel, momentOf, nameOf, quantityOf, shapeOf, unitOf } from "./detectors";
import { fromStateFile, renumbered, toStateFile } from "./state_file";
import { ScanStore } from "./scan_store";
import { Store } from "./store";
import { initialView, type View } from "./view";

function unusual(): View {
  const view = initialView();
  view.dataset = 3;
  view.item = 4;
  view.cursor = { row: 17, col: 5 };
  view.detectors = [
    { channel: 0, expr: "annulus(auto,auto,1rho,2rho)", shape: null },
    { channel: 2, expr: null, shape: { kind: "annulus", row: 47.5, col: 48.25, rIn: 3, rOut: 9.5 } },
    { channel: 5, expr: null, shape: { kind: "polygon", points: [[1, 2], [3, 4], [5, 0]] } },
    { channel: 6, expr: null, shape: { kind: "brush", runs: [[1, 2, 9], [2, 2, 8]] } },
    { channel: 7, expr: null, shape: { kind: "segment", row: 1, col: 2, rIn: 3, rOut: 4, k: 1, n: 4, phi0: -0.5 } },
  ];
  view.active = 5;
  view.centres = [{ dataset: 3, row: 47.5, col: 48, radius: 12.25 }];
  view.arrangement = "rgb";
  view.compared = [1, 3];
  view.comparison = "ratio";
  view.linked = false;
  view.order = [3, 1];
  view.hidden = [2];
  view.starred = [1];
  view.patternSource = "region";
  view.reduction = "max";
  view.region = { kind: "rect", row0: 1, col0: 2, row1: 30, col1: 40 };
  view.spectrumOn = true;
  view.spectrumWindow = "none";
  view.angleUnit = "1/A";
  view.profile = { panel: "image", p0: [0, 1.5], p1: [30, 20], width: 3 };
  view.display.pattern = { ...view.display.pattern, stretch: "power", gamma: 0.3, contrast: "fixed", low: -4, high: 70, symmetric: true };
  view.zoom.image = { zoom: 3, row: 0.25, col: 0.75 };
  view.fps = 24;
  view.loop = false;
  view.boomerang = true;
  view.brushRadius = 6;
  return view;
}

describe("state file", () => {
  it("differs from the initial view in every field, so that none is forgotten here", () => {
    const initial = initialView() as unknown as Record<string, unknown>;
    for (const [name, value] of Object.entries(unusual())) expect(value, name).not.toEqual(initial[name]);
  });
  it("restores every control", () => {
    const store = new ScanStore(new Store());
    store.apply(unusual());
    const text = JSON.stringify(toStateFile(store.snapshot()));
    const other = new ScanStore(new Store());
    other.apply(fromStateFile(JSON.parse(text)));
    expect(other.snapshot()).toEqual(unusual());
  });
  it("follows its data sets to their new numbers", () => {
    const { dataset, centres, compared, order, hidden, starred, ...rest } = renumbered(unusual(), [3, 2, 1, 0]);
    expect([dataset, centres[0].dataset, compared, order, hidden, starred]).toEqual([0, 0, [2, 0], [0, 2], [1], [2]]);
    expect(unusual()).toMatchObject(rest);
    expect(renumbered(initialView(), [1, 0])).toEqual(initialView());
  });
  it("takes the colours of panels from a file that knows no other kinds of images", () => {
    const { image, pattern, spectrum } = unusual().display;
    const view = fromStateFile({ version: 1, view: { display: { image, pattern, spectrum } } });
    expect(view.display).toEqual({ ...initialView().display, pattern });
  });
  it("keeps the initial value of what an older file lacks", () => {
    expect(fromStateFile({ version: 1, view: { item: 2 } })).toEqual({ ...initialView(), item: 2 });
  });
  it.each([
    ["a number", 5, "this is no state of the viewer: it has no view"],
    ["another version", { version: 2, view: {} }, "a state of version 2, expected 1"],
    ["a wrong field", { version: 1, view: { item: -1 } }, 'the state\'s "item" makes no sense: -1'],
    ["a detector without shape and words", { version: 1, view: { detectors: [{ channel: 0, expr: null, shape: null }] } }, 'the state\'s "detectors" makes no sense'],
  ])("refuses %s", (_, value, message) => {
    expect(() => fromStateFile(value)).toThrow(message);
  });
});

describe("detectors", () => {
  const centre = { row: 48, col: 47, radius: 10 };
  it("draw presets about the beam", () => {
    expect(shapeOf({ channel: 0, expr: "bf", shape: null }, centre)).toEqual({ kind: "circle", row: 48, col: 47, r: 10 });
    expect(shapeOf({ channel: 0, expr: "haadf", shape: null }, centre)).toEqual({ kind: "annulus", row: 48, col: 47, rIn: 20, rOut: 40 });
    expect(shapeOf({ channel: 0, expr: "bf", shape: null }, undefined)).toBeNull();
  });
  it("have names and the lowest free channel", () => {
    expect(nameOf({ channel: 0, expr: "adf", shape: null })).toBe("ADF");
    expect(nameOf({ channel: 0, expr: "circle(1,2,3)", shape: null })).toBe("circle(1,2,3)");
    expect(freeChannel([{ channel: 0, expr: "bf", shape: null }, { channel: 2, expr: "adf", shape: null }])).toBe(1);
    expect(freeChannel(Array.from({ length: 8 }, (_, channel) => ({ channel, expr: "bf", shape: null })))).toBeNull();
  });
  it("know moments in any case, and what they are measured in", () => {
    const of = (expr: string) => ({ channel: 0, expr, shape: null });
    expect([" COM-Row ", "com-angle", "bf"].map((expr) => momentOf(of(expr)))).toEqual(["com-row", "com-angle", null]);
    expect(["com-col", "com-magnitude", "com-angle", "haadf"].map((expr) => quantityOf(of(expr)))).toEqual(["deflection", "magnitude", "angle", "image"]);
    const calibrated = { id: 0, label: "", pixel_mrad: 1.5, dtype: "u8" };
    expect(["com-row", "com-angle", "bf"].map((expr) => unitOf(of(expr), calibrated))).toEqual(["mrad", "rad", "counts"]);
    expect(["com-row", "bf"].map((expr) => unitOf(of(expr), { id: 0, label: "", dtype: "f32" }))).toEqual(["px", ""]);
  });
});
