// Copyright The Weft Authors
// SPDX-License-Identifier: Apache-2.0

// The views that the first screen does not need: the browser loads them once that is painted.
import {useEffect, useState} from "preact/hooks";

type Views = typeof import("./views/later");

let loaded: Views | null = null;

/** The other views; null until they are loaded. */
export function useLater(): {views: Views | null; failed: boolean} {
  const [views, setViews] = useState(loaded);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (loaded) return;
    import("./views/later").then(
      (module) => {
        loaded = module;
        setViews(module);
      },
      () => setFailed(true),
    );
  }, []);
  return {views, failed: failed && !views};
}
