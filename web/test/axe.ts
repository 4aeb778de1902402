// SPDX-License-Identifier: Apache-2.0
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

interface Finding {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

/** What axe finds wrong with the page as it is, with the rules that it calls experimental as well. */
export async function axeViolations(page: Page): Promise<string[]> {
  // The page's policy forbids scripts that are put into it; evaluating is not one of those.
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    type Axe = { run(context: Document, options: object): Promise<{ violations: Finding[] }> };
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice", "experimental"];
    return (await (window as unknown as { axe: Axe }).axe.run(document, { runOnly: { type: "tag", values: tags } })).violations;
  });
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`));
}
