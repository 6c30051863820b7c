// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Small parts that several views use.
import type {ComponentChildren} from "preact";
import {useEffect, useLayoutEffect, useRef, useState} from "preact/hooks";
import {duration, exact, percent} from "../lib/format";
import type {Stack, Stats} from "../lib/types";
import {type State, stateNumber} from "../lib/words";
import {heightOf, palette} from "../timeline/palette";
import {Icon, type IconName} from "./Icon";

interface ButtonProps {
  icon?: IconName;
  label: string;
  text?: ComponentChildren;
  pressed?: boolean;
  disabled?: boolean;
  onClick: (e: MouseEvent) => void;
  kind?: string;
}

/** A button; with `pressed` it latches. */
export function Button({icon, label, text, pressed, disabled, onClick, kind = ""}: ButtonProps) {
  return (
    <button
      type="button"
      class={`button ${text === undefined ? "square" : ""} ${kind}`}
      aria-label={text === undefined ? label : undefined}
      title={label}
      aria-pressed={pressed}
      disabled={disabled}
      onClick={onClick}
    >
      {icon && <Icon name={icon} />}
      {text}
    </button>
  );
}

/** A state's colour and pattern as the lanes have them. */
export function Swatch({state}: {state: State}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const paint = () => {
      const ratio = Math.min(3, devicePixelRatio || 1);
      const ctx = canvas.current!.getContext("2d")!;
      canvas.current!.width = 16 * ratio;
      canvas.current!.height = 12 * ratio;
      ctx.scale(ratio, ratio);
      ctx.fillStyle = palette(ratio).fill[stateNumber(state)]!;
      const height = Math.max(2, 12 * heightOf[state]);
      ctx.fillRect(0, 12 - height, 16, height);
    };
    paint();
    window.addEventListener("weft-theme", paint);
    return () => window.removeEventListener("weft-theme", paint);
  }, [state]);
  return <canvas ref={canvas} class="swatch" aria-hidden="true" />;
}

/** A time in three digits; the pointer tells all of them. */
export function Time({ns}: {ns: number}) {
  return <span title={exact(ns)}>{ns === 0 ? <span class="zero">0</span> : duration(ns)}</span>;
}

/** A share as a bar behind its number. */
export function Share({share}: {share: number}) {
  return (
    <span class="share">
      <span class="bar" style={{width: `${Math.max(0, Math.min(1, share)) * 100}%`}} />
      <span>{percent(share)}</span>
    </span>
  );
}

/** The distribution of lengths: bars by powers of two, as high as the logarithm of how many there are. */
export function Distribution({stats, state}: {stats: Stats; state: State}) {
  if (stats.seen === 0) return <span class="zero">–</span>;
  const most = Math.max(...stats.buckets);
  const width = 5;
  const from = Math.min(stats.first, 10);
  const text = stats.buckets
    .map((n, i) => (n > 0 ? `${duration(2 ** (stats.first + i))}–${duration(2 ** (stats.first + i + 1))}: ${n}` : ""))
    .filter(Boolean)
    .join("\n");
  return (
    <svg
      class={`distribution ${state}`}
      viewBox="0 0 96 18"
      role="img"
      aria-label={`Median ${duration(stats.p50)}, 95 % ${duration(stats.p95)}`}
    >
      <title>{`median ${duration(stats.p50)}, 95 % ${duration(stats.p95)}, 99 % ${duration(stats.p99)}\n${text}`}</title>
      <path class="base" d="M0 17.500H120" />
      {stats.buckets.map((n, i) => {
        const height = n === 0 ? 0 : 2 + (14 * Math.log1p(n)) / Math.log1p(most);
        const x = (stats.first + i - from) * width * 0.8;
        return n > 0 && x < 94 ? (
          <rect key={i} x={x} y={17 - height} width={width * 0.8 - 0.8} height={height} />
        ) : null;
      })}
    </svg>
  );
}

/** A call stack; frames of the waiting itself are faint. */
export function Frames({stack, empty}: {stack: Stack | null; empty: string}) {
  if (!stack || stack.frames.length === 0) return <p class="hint">{empty}</p>;
  return (
    <ol class="frames">
      {stack.frames.map((frame, i) => (
        <li key={i} class={i < stack.caller ? "inner" : i === stack.caller ? "caller" : ""}>
          <Frame text={frame} />
        </li>
      ))}
    </ol>
  );
}

/** com.acme.orders.OrderBook.match(OrderBook.java:42) with what matters set off. */
function Frame({text}: {text: string}) {
  const parts = /^(.*\.)?([^.]+\.[^.(]+)(\(.*\))?$/.exec(text);
  if (!parts) return <>{text}</>;
  return (
    <>
      <span class="package">{parts[1]}</span>
      <span class="method">{parts[2]}</span>
      <span class="source">{parts[3]}</span>
    </>
  );
}

/** A modal dialog: the browser's own, which keeps the focus inside and closes on Escape. */
export function Dialog({
  title,
  onClose,
  children,
  wide,
}: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const element = dialog.current!;
    element.showModal();
    element.querySelector<HTMLElement>(".body input")?.focus();
    return () => before?.focus();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes it
    <dialog
      ref={dialog}
      class={wide ? "wide" : ""}
      aria-label={title}
      onClose={onClose}
      onClick={(e) => e.target === dialog.current && onClose()}
    >
      <header>
        <h2>{title}</h2>
        <Button icon="close" label="Close" onClick={onClose} />
      </header>
      <div class="body">{children}</div>
    </dialog>
  );
}

/** A button with a menu below it. */
export function Menu({
  icon,
  label,
  text,
  children,
}: {
  icon?: IconName;
  label: string;
  text?: ComponentChildren;
  children: (close: () => void) => ComponentChildren;
}) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const close = () => {
    // What had the focus goes away with the menu.
    if (box.current?.contains(document.activeElement)) box.current.querySelector("button")?.focus();
    setOpen(false);
  };
  useEffect(() => {
    if (!open) return;
    const away = (e: Event) => {
      if (!box.current?.contains(e.target as Node)) setOpen(false);
    };
    const key = (e: KeyboardEvent) => {
      if (e.key !== "Escape") return;
      e.stopPropagation();
      close();
    };
    document.addEventListener("pointerdown", away);
    document.addEventListener("keydown", key, true);
    return () => {
      document.removeEventListener("pointerdown", away);
      document.removeEventListener("keydown", key, true);
    };
  }, [open]);
  return (
    <div
      class="menu"
      ref={box}
      onFocusOut={(e) => {
        if (e.relatedTarget && !box.current?.contains(e.relatedTarget as Node)) setOpen(false);
      }}
    >
      <button
        type="button"
        class={`button ${text === undefined ? "square" : ""}`}
        title={label}
        aria-label={text === undefined ? label : undefined}
        aria-haspopup="true"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {icon && <Icon name={icon} />}
        {text}
        {text !== undefined && <Icon name="down" />}
      </button>
      {open && <div class="popup">{children(close)}</div>}
    </div>
  );
}

export function Empty({title, children}: {title: string; children?: ComponentChildren}) {
  return (
    <div class="empty-state">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Problem({text}: {text: string | null}) {
  return text === null ? null : (
    <p class="problem" role="alert">
      <Icon name="warn" />
      {text}
    </p>
  );
}
