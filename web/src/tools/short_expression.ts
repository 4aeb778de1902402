// SPDX-License-Identifier: Apache-2.0
/** An expression for people to read: numbers with at most three digits after the point, long masks cut. What is computed
 *  and stored keeps all digits. */
export function shortExpression(text: string, longest = 400): string {
  const short = text.replace(/(?<![\w.])-?\d+\.\d+(?:e[+-]?\d+)?/gi, (number) => String(Number(Number(number).toFixed(3))));
  return short.length > longest ? `${short.slice(0, longest - 1)}\u2026` : short;
}
