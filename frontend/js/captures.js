// Asks for what a brief run says nothing of: the whole capture of one snapshot, once.

export function captureLoader(runUrl) {
  const known = new Map();
  const asked = new Set();
  return {
    /** The snapshot with all of its capture, if that is known by now. */
    of: (snapshot) => (snapshot?.is_brief ? { ...snapshot, ...known.get(keyOf(snapshot)) } : snapshot),
    /** True when it was told just now. */
    async load(snapshot) {
      const key = keyOf(snapshot);
      if (asked.has(key)) return false;
      asked.add(key);
      const response = await fetch(`${runUrl}/snapshots/${snapshot.seq}/capture`).catch(() => null);
      if (response?.ok) known.set(key, { ...(await response.json()), is_brief: false });
      else asked.delete(key);
      return known.has(key);
    },
  };
}

const keyOf = ({ seq, revision }) => `${seq}-${revision}`;
