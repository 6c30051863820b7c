// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// Icons as lines on a grid of 16 by 16.

const paths = {
  filter: "M2 3h12l-4.7 5.5v4.5l-2.6-1.5v-3z",
  group: "M2 3.5h5M2 8h8M5 12.5h8",
  order: "M4 2.5v11M1.5 11L4 13.5 6.5 11M9 4h6M9 8h4.5M9 12h3",
  path: "M2 12h4l4-8h4M11.5 1.5L14 4l-2.5 2.5",
  sun: "M8 5.2a2.8 2.8 0 100 5.6 2.8 2.8 0 000-5.6zM8 1v1.8M8 13.2V15M1 8h1.8M13.2 8H15M3 3l1.3 1.3M11.7 11.7L13 13M13 3l-1.3 1.3M4.3 11.7L3 13",
  moon: "M13.5 9.5A5.8 5.8 0 016.5 2.5a5.8 5.8 0 107 7z",
  auto: "M8 2a6 6 0 100 12A6 6 0 008 2zM8 2v12M8 5h4.5M8 8h6M8 11h4.5",
  link: "M6.5 9.5l3-3M7 4.5l1.5-1.5a2.8 2.8 0 014 4L11 8.5M9 11.5L7.5 13a2.8 2.8 0 01-4-4L5 7.5",
  picture: "M2 3h12v10H2zM2 11l3.5-3.5 3 3L11 8l3 3M10.5 5.5h.1",
  download: "M8 2v8M4.5 7L8 10.5 11.5 7M2.5 13.5h11",
  help: "M8 2a6 6 0 100 12A6 6 0 008 2zM6.2 6.4c.2-2.4 3.8-2.2 3.6 0-.1 1.2-1.8 1.4-1.8 2.7M8 11.3v.1",
  search: "M7 2.5a4.5 4.5 0 100 9 4.5 4.5 0 000-9zM10.3 10.3L14 14",
  play: "M5 3l8 5-8 5z",
  pause: "M5.5 3v10M10.5 3v10",
  close: "M4 4l8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  fit: "M2 6V2h4M14 6V2h-4M2 10v4h4M14 10v4h-4",
  warn: "M8 2L1.5 13.5h13zM8 6.5v3.5M8 12v.1",
  right: "M6 3.5L10.5 8 6 12.5",
  columns: "M2.5 3h11v10h-11zM6.2 3v10M9.8 3v10",
  down: "M3.5 6L8 10.5 12.5 6",
  left: "M10 3.5L5.5 8l4.5 4.5",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  lock: "M3.5 7h9v6.5h-9zM5.5 7V5a2.5 2.5 0 015 0v2",
  cycle: "M3 8a5 5 0 018.5-3.5M13 8a5 5 0 01-8.5 3.5M11.5 1.5v3h-3M4.5 14.5v-3h3",
  pool: "M3 4.5c0-2.700 10-2.700 10 0s-10 2.700-10 0v7c0 2.700 10 2.700 10 0v-7",
  queue: "M2 3v10M5.5 3v10M9 8h5M11.5 5.5L14 8l-2.5 2.5",
  bell: "M4 11V7a4 4 0 018 0v4l1.5 1.5h-11zM2 2l12 12",
  out: "M9 2.5h4.5V7M13.5 2.5L7.5 8.5M11.5 9.5v4h-9v-9h4",
} as const;

export type IconName = keyof typeof paths;

export function Icon({name}: {name: IconName}) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
