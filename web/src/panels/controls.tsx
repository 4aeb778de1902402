// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

import { Icon, type IconName } from "./icons";

interface ButtonProps {
  label: string;
  /** More than the label says, for the tool tip. */
  tip?: string;
  icon?: IconName;
  text?: string;
  pressed?: boolean;
  filled?: boolean;
  disabled?: boolean;
  keys?: string;
  quiet?: boolean;
  onClick(): void;
}

/** The words that are seen come first in the name, so that those who speak to the page are understood. */
export function accessibleName(label: string, text: string | undefined): string {
  return !text || label.toLowerCase().includes(text.toLowerCase()) ? label : `${text}: ${label}`;
}

/** A button with a name for everybody: as a tool tip, and for those who do not see the icon. */
export function Button({ label, tip, icon, text, pressed, filled, disabled, keys, quiet, onClick }: ButtonProps) {
  return (
    <button
      type="button"
      class={quiet ? "quiet" : undefined}
      title={`${label}${keys ? ` (${keys})` : ""}${tip ? `: ${tip}` : ""}`}
      aria-label={accessibleName(label, text)}
      aria-pressed={pressed}
      aria-keyshortcuts={keys}
      disabled={disabled}
      onClick={onClick}
    >
      {icon && <Icon name={icon} filled={filled ?? false} />}
      {text}
    </button>
  );
}

/** A button for what cannot be undone: it asks before it acts, and forgets that it was pressed when it is left. */
export function CarefulButton({ label, text, question, onClick }: { label: string; text: string; question: string; onClick(): void }) {
  const [asked, setAsked] = useState(false);
  return (
    <button
      type="button"
      class={asked ? "careful" : undefined}
      title={label}
      aria-label={accessibleName(label, asked ? question : text)}
      onBlur={() => setAsked(false)}
      onKeyDown={(event) => event.key === "Escape" && setAsked(false)}
      onClick={() => {
        if (asked) onClick();
        setAsked(!asked);
      }}
    >
      {asked ? question : text}
    </button>
  );
}

/** Several buttons of which one holds. */
export function Group({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div class="group" role="group" aria-label={label}>
      {children}
    </div>
  );
}

interface NumberProps {
  label: string;
  value: number | undefined;
  /** After the point; "all" of a number that was rounded before. */
  digits?: number | "all";
  least?: number;
  most?: number;
  step?: number;
  unit?: string;
  bare?: boolean;
  onChange(value: number): void;
}

/** Words that are being typed, and null when none are. `now` has them at once: what is drawn may be a moment older. */
export function useTyped(): { shown: string | null; now(): string | null; type(text: string | null): void } {
  const newest = useRef<string | null>(null);
  const [shown, setShown] = useState<string | null>(null);
  const type = (text: string | null) => {
    newest.current = text;
    setShown(text);
  };
  return { shown, now: () => newest.current, type };
}

/** A number to type. What is typed counts when it is entered or left, so that half a number changes nothing. */
export function NumberField({ label, value, digits = 2, least, most, step, unit, bare, onChange }: NumberProps) {
  const typed = useTyped();
  const text = value === undefined ? "" : digits === "all" ? String(value) : String(Number(value.toFixed(digits)));
  const commit = () => {
    const words = typed.now() ?? "";
    const number = words.trim() === "" ? NaN : Number(words);
    typed.type(null);
    if (Number.isFinite(number)) onChange(Math.min(most ?? Infinity, Math.max(least ?? -Infinity, number)));
  };
  return (
    <label class={bare ? "field bare" : "field"}>
      <span>{label}</span>
      <input
        type="number"
        value={typed.shown ?? text}
        min={least}
        max={most}
        step={step ?? "any"}
        onInput={(event) => {
          typed.type(event.currentTarget.value);
          // The arrows of the field take effect at once; typed digits do not.
          if (!(event as unknown as InputEvent).inputType && event.currentTarget.value !== "") onChange(Number(event.currentTarget.value));
        }}
        onBlur={commit}
        onKeyDown={(event) => {
          if (event.key === "Enter") commit();
          if (event.key === "Escape") typed.type(null);
        }}
      />
      {unit && <span class="unit">{unit}</span>}
    </label>
  );
}

interface SelectProps<Name extends string> {
  label: string;
  value: Name;
  options: readonly { name: Name; text: string }[];
  hiddenLabel?: boolean;
  onChange(value: Name): void;
}

export function Select<Name extends string>({ label, value, options, hiddenLabel, onChange }: SelectProps<Name>) {
  return (
    <label class="field">
      <span class={hiddenLabel ? "unseen" : undefined}>{label}</span>
      <select value={value} aria-label={label} title={hiddenLabel ? label : undefined} onChange={(event) => onChange(event.currentTarget.value as Name)}>
        {options.map(({ name, text }) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Check({ label, checked, onChange }: { label: string; checked: boolean; onChange(checked: boolean): void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

export function Section({ title, children, open = true }: { title: string; children: ComponentChildren; open?: boolean }) {
  return (
    <details class="section" open={open}>
      <summary>{title}</summary>
      <div class="body">{children}</div>
    </details>
  );
}
