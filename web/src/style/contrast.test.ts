// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const css = readFileSync(new URL("./page.css", import.meta.url), "utf8");
const [dark, light] = css.split("@media (prefers-color-scheme: light)");

function colours(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]));
}

/** Relative luminance and contrast as WCAG 2.1 defines them. */
function luminance(colour: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const v = parseInt(colour.slice(at, at + 2), 16) / 255;
    return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

describe.each([
  ["dark", colours(dark)],
  ["light", { ...colours(dark), ...colours(light) }],
])("%s", (_, scheme) => {
  it.each([
    ["text", "ground"],
    ["text", "panel"],
    ["text", "raised"],
    ["muted", "panel"],
    ["muted", "raised"],
    ["muted", "ground"],
    ["muted", "image-ground"],
    ["accent", "panel"],
    ["on-chosen", "chosen"],
    ["serious", "panel"],
    ["serious", "serious-ground"],
    ["good", "good-ground"],
  ])("%s on %s is at least 4.5 : 1", (front, back) => {
    expect(contrast(scheme[front], scheme[back])).toBeGreaterThanOrEqual(4.5);
  });
});
