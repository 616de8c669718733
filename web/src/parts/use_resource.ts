import { useCallback, useEffect, useRef, useState } from "preact/hooks";

import { asProblem, type Problem } from "../api/problem";
import { isAbort } from "../api/request";

export interface Resource<T> {
  value: T | null;
  problem: Problem | null;
  loading: boolean;
  reload: () => void;
}

/**
 * Loads on mount and whenever `key` changes, and again every `everyMs` while that is not 0. The last
 * value stays while it is loaded anew; a request that nobody waits for any more is given up.
 */
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  everyMs = 0,
): Resource<T> {
  const [value, setValue] = useState<T | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [loading, setLoading] = useState(true);
  const [turn, setTurn] = useState(0);
  const loader = useRef(load);
  loader.current = load;
  const shownKey = useRef(key);

  useEffect(() => {
    const controller = new AbortController();
    if (shownKey.current !== key) {
      shownKey.current = key;
      setValue(null);
      setProblem(null);
    }
    setLoading(true);
    loader.current(controller.signal).then(
      (loaded) => {
        if (!controller.signal.aborted) {
          setValue(loaded);
          setProblem(null);
          setLoading(false);
        }
      },
      (error: unknown) => {
        if (!controller.signal.aborted && !isAbort(error)) {
          setProblem(asProblem(error));
          setLoading(false);
        }
      },
    );
    return () => controller.abort();
  }, [key, turn]);

  const reload = useCallback(() => setTurn((count) => count + 1), []);
  useEffect(() => {
    if (everyMs === 0) {
      return undefined;
    }
    const timer = setInterval(() => {
      if (!document.hidden) {
        reload();
      }
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, reload]);

  return { value, problem, loading, reload };
}
