// SPDX-License-Identifier: Apache-2.0
import { useRef, useState } from "preact/hooks";

import type { PanelDescription } from "../protocol/messages";
import { useViewer } from "./context";
import { Check, NumberField, Select } from "./controls";

type SettingValue = number | boolean | string;

interface AdjustSetting {
  name: string;
  help: string;
  unit: string;
  value: SettingValue;
  /** Of a number. */
  min?: number;
  max?: number;
  whole?: boolean;
  /** One of these words. */
  choices?: string[];
}

/** Settings that make the result anew. A slider is followed while it moves: one request is under way, and of those that
 *  wait only the newest of each setting counts. */
export function AdjustPanel({ panel }: { panel: PanelDescription }) {
  const { session } = useViewer();
  const { settings = [] } = (panel.options ?? {}) as { settings?: AdjustSetting[] };
  const waiting = useRef(new Map<string, SettingValue>());
  const busy = useRef(false);
  /** What the hand says, until the server has it. */
  const [held, setHeld] = useState<Record<string, SettingValue>>({});
  const change = (name: string, value: SettingValue) => {
    setHeld((before) => ({ ...before, [name]: value }));
    waiting.current.set(name, value);
    if (busy.current) return;
    busy.current = true;
    void (async () => {
      for (let next = waiting.current.entries().next(); !next.done; next = waiting.current.entries().next()) {
        const [setting, wanted] = next.value;
        waiting.current.delete(setting);
        await session.attempt("adjust", { setting, value: wanted });
        if (!waiting.current.has(setting)) setHeld(({ [setting]: _, ...others }) => others);
      }
      busy.current = false;
    })();
  };
  return (
    <div class="adjust">
      {settings.map((setting) => (
        <div key={setting.name} title={setting.help}>
          <SettingControl setting={setting} value={held[setting.name] ?? setting.value} onChange={(value) => change(setting.name, value)} />
        </div>
      ))}
    </div>
  );
}

function SettingControl({ setting, value, onChange }: { setting: AdjustSetting; value: SettingValue; onChange(value: SettingValue): void }) {
  const label = setting.name.replaceAll("_", " ");
  if (setting.choices) return <Select label={label} value={String(value)} options={setting.choices.map((name) => ({ name, text: name }))} onChange={onChange} />;
  if (typeof value === "boolean") return <Check label={label} checked={value} onChange={onChange} />;
  const { min = 0, max = 1, whole } = setting;
  const number = Number(value);
  return (
    <>
      <NumberField label={label} value={Number(number.toPrecision(6))} digits="all" least={min} most={max} unit={setting.unit} onChange={onChange} />
      <input type="range" aria-label={`${label}, slider`} min={min} max={max} step={whole ? 1 : (max - min) / 720} value={number} onInput={(event) => onChange(Number(event.currentTarget.value))} />
    </>
  );
}
