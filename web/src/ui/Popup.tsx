// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Dialogs and menus.
import type {ComponentChildren} from "preact";
import {useEffect, useRef, useState} from "preact/hooks";
import {useEvent} from "./hooks";
import {Icon, type IconName} from "./Icon";
import {Button} from "./parts";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
  /** A key that closes it, as it opens it. */
  turnKey?: string;
}

/** A modal dialog: the browser's own, which keeps the focus inside and closes on Escape. */
export function Dialog({title, onClose, children, wide, turnKey}: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const element = dialog.current!;
    element.showModal();
    element.querySelector<HTMLElement>(".body input")?.focus();
    return () => before?.focus();
  }, []);
  return (
    <dialog
      ref={dialog}
      class={wide ? "wide" : ""}
      aria-label={title}
      onClose={onClose}
      onClick={(e) => e.target === dialog.current && onClose()}
      onKeyDown={(e) => {
        if (e.key !== turnKey) return;
        e.preventDefault();
        onClose();
      }}
    >
      <header>
        <h2>{title}</h2>
        <Button icon="close" label="Close" onClick={onClose} />
      </header>
      <div class="body">{children}</div>
    </dialog>
  );
}

interface MenuProps {
  icon?: IconName;
  label: string;
  text?: ComponentChildren;
  children: (close: () => void) => ComponentChildren;
}

/** A button with a menu below it, or above it if it is low on the screen. */
export function Menu({icon, label, text, children}: MenuProps) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const isInside = (target: EventTarget | null) => !!box.current?.contains(target as Node | null);
  const close = useEvent(() => {
    // The focused element disappears with the menu.
    if (isInside(document.activeElement)) box.current?.querySelector("button")?.focus();
    setOpen(false);
  });
  const isLow = () => box.current!.getBoundingClientRect().top > window.innerHeight * 0.55;
  const leave = useEvent((target: EventTarget | null) => {
    if (!isInside(target)) setOpen(false);
  });
  useEffect(() => {
    if (!open) return;
    const abort = new AbortController();
    document.addEventListener("pointerdown", (e) => leave(e.target), {signal: abort.signal});
    const key = (e: KeyboardEvent) => {
      if (e.key !== "Escape") return;
      e.stopPropagation();
      close();
    };
    document.addEventListener("keydown", key, {capture: true, signal: abort.signal});
    return () => abort.abort();
  }, [open]);
  return (
    <div class="menu" ref={box} onFocusOut={(e) => e.relatedTarget && leave(e.relatedTarget)}>
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
      {open && <div class={`popup ${isLow() ? "up" : ""}`}>{children(close)}</div>}
    </div>
  );
}
