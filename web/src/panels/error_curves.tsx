// SPDX-License-Identifier: Apache-2.0
import { logMarks } from "../display/marks";
import type { RunState } from "../protocol/messages";

type Curves = NonNullable<RunState["curves"]>;

const WIDTH = 720;
const HEIGHT = 280;
const ROOM = { left: 52, right: 12, top: 10, bottom: 34 };

/** R_I, R_A and R_free over the iterations on a logarithmic axis, with the floor that counting noise sets. */
export function ErrorCurves({ curves, floor, iterations }: { curves: Curves; floor: number; iterations: number }) {
  const named = [
    { name: "R_I", values: curves.R_I, look: "one" },
    { name: "R_A", values: curves.R_A, look: "two" },
    { name: "R_free", values: curves.R_free, look: "three" },
  ].filter(({ values }) => values.some((value) => value !== null && value > 0));
  const all = named.flatMap(({ values }) => values.filter((value): value is number => value !== null && value > 0));
  if (floor > 0) all.push(floor);
  if (all.length === 0) return null;
  const low = Math.min(...all) / 1.1;
  const high = Math.max(...all) * 1.1;
  const x = (iteration: number) => ROOM.left + ((WIDTH - ROOM.left - ROOM.right) * (iteration - 1)) / Math.max(1, iterations - 1);
  const y = (value: number) => HEIGHT - ROOM.bottom - ((HEIGHT - ROOM.top - ROOM.bottom) * Math.log(value / low)) / Math.log(high / low);
  const path = (values: (number | null)[]) => {
    let text = "";
    let pen = false;
    values.forEach((value, i) => {
      const there = value !== null && value > 0;
      if (there) text += `${pen ? "L" : "M"}${x(curves.iteration[i]).toFixed(1)} ${y(value).toFixed(1)}`;
      pen = there;
    });
    return text;
  };
  return (
    <figure class="curves">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label="Errors over the iterations">
        {logMarks(low, high).map((mark) => (
          <g key={mark}>
            <line class="grid" x1={ROOM.left} x2={WIDTH - ROOM.right} y1={y(mark)} y2={y(mark)} />
            <text class="mark" x={ROOM.left - 6} y={y(mark) + 4} text-anchor="end">
              {mark}
            </text>
          </g>
        ))}
        {floor > 0 && <line class="floor" x1={ROOM.left} x2={WIDTH - ROOM.right} y1={y(floor)} y2={y(floor)} />}
        {named.map(({ name, values, look }) => (
          <path key={name} class={`curve ${look}`} d={path(values)} />
        ))}
        <text class="mark" x={ROOM.left} y={HEIGHT - 12}>
          1
        </text>
        <text class="mark" x={WIDTH - ROOM.right} y={HEIGHT - 12} text-anchor="end">
          {iterations}
        </text>
        <text class="mark" x={WIDTH / 2} y={HEIGHT - 12} text-anchor="middle">
          iteration
        </text>
      </svg>
      <figcaption>
        {named.map(({ name, look }) => (
          <span key={name} class={`name ${look}`}>
            {name}
          </span>
        ))}
        {floor > 0 && <span class="name floor">{`floor ${Number(floor.toPrecision(3))}`}</span>}
      </figcaption>
    </figure>
  );
}
