// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Small parts that several views use.
import type {ComponentChildren} from "preact";
import {useLayoutEffect, useRef} from "preact/hooks";
import {duration, ends, exact, percent} from "../lib/format";
import type {Stack, Stats} from "../lib/types";
import {type State, stateNumber} from "../lib/words";
import {heightOf, palette} from "../timeline/palette";
import {Icon, type IconName} from "./Icon";

interface ButtonProps {
  icon?: IconName;
  /** The tooltip, and the name of a button without text. */
  label?: string;
  text?: ComponentChildren;
  pressed?: boolean;
  disabled?: boolean;
  onClick: (e: MouseEvent) => void;
  kind?: string;
}

interface LinkProps {
  title?: string;
  onClick: () => void;
  children: ComponentChildren;
  class?: string;
}

/** A button; with `pressed` it is a toggle. */
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

/** A button that looks like a link. */
export function Link({title, onClick, children, class: style = "link"}: LinkProps) {
  return (
    <button type="button" class={style} title={title} onClick={onClick}>
      {children}
    </button>
  );
}

/** The color and pattern of a state, as in the lanes. */
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

/** A duration in three digits; the tooltip has all of them. */
export function Time({ns}: {ns: number}) {
  return <span title={exact(ns)}>{ns === 0 ? <span class="zero">0</span> : duration(ns)}</span>;
}

/** A share as a number over a bar. */
export function Share({share}: {share: number}) {
  return (
    <span class="share">
      <span class="bar" style={{width: `${Math.max(0, Math.min(1, share)) * 100}%`}} />
      <span>{percent(share)}</span>
    </span>
  );
}

/** A histogram of durations by powers of two; the height of a bar is the logarithm of its count. */
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

/** Begins the line of a stack that names the lock of the frame before it. */
const lockLine = "- lock ";

/** A call stack; the frames of the wait itself are faint. */
export function Frames({stack, empty}: {stack: Stack | null; empty: string}) {
  if (!stack || stack.frames.length === 0) return <p class="hint">{empty}</p>;
  return (
    <ol class="frames">
      {stack.frames.map((frame, i) =>
        frame.startsWith(lockLine) ? (
          <li key={i} class="lock">
            {frame}
          </li>
        ) : (
          <li key={i} class={i < stack.caller ? "inner" : i === stack.caller ? "caller" : ""}>
            <Frame text={frame} />
          </li>
        ),
      )}
    </ol>
  );
}

/** A frame such as com.acme.orders.OrderBook.match(OrderBook.java:42) with class and method emphasized. */
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

/** A term and its description in a list of facts; nothing without a description. */
export function Fact({name, children, class: style = ""}: {name: string; children: ComponentChildren; class?: string}) {
  return children ? (
    <>
      <dt>{name}</dt>
      <dd class={style || undefined}>{children}</dd>
    </>
  ) : null;
}

interface ChoiceProps {
  /** The group of a radio button; without it this is a checkbox. */
  group?: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  children: ComponentChildren;
}

export function Choice({group, checked, onChange, children}: ChoiceProps) {
  return (
    <label class="choice">
      <input
        type={group ? "radio" : "checkbox"}
        name={group}
        checked={checked}
        onChange={(e) => onChange(e.currentTarget.checked)}
      />
      {children}
    </label>
  );
}

let pen: CanvasRenderingContext2D | null = null;

/** The width of the end of a name, which is never cut, in the widest font of names. */
function widthOf(text: string): number {
  if (!pen) {
    pen = document.createElement("canvas").getContext("2d")!;
    pen.font = `600 12px ${getComputedStyle(document.body).fontFamily}`;
  }
  return Math.ceil(pen.measureText(text).width) + 1;
}

/** A name that is cut in its middle if there is no room. */
export function Name({name}: {name: string}) {
  const [begin, end] = ends(name);
  if (!end) return <span class="text">{name}</span>;
  return (
    <span class="text long" title={name}>
      <span style={{maxWidth: `calc(100% - ${widthOf(end)}px)`}}>{begin}</span>
      <span>{end}</span>
    </span>
  );
}
