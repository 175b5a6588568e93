// Asks for what a brief run says nothing of: the whole capture of one snapshot, once.

export function captureLoader(runUrl) {
  const known = new Map();
  const asked = new Map(); // answers that are on their way

  async function ask(snapshot, key) {
    const response = await fetch(`${runUrl}/snapshots/${snapshot.seq}/capture`).catch(() => null);
    const answer = response?.ok ? await response.json().catch(() => null) : null;
    if (answer) known.set(key, { ...answer, is_brief: false });
    asked.delete(key);
    return answer !== null;
  }

  return {
    /** The snapshot with all of its capture, if that is known by now. */
    of: (snapshot) => (snapshot?.is_brief ? { ...snapshot, ...known.get(keyOf(snapshot)) } : snapshot),
    /** Whether it is known then; what the site did not tell is asked for again by the next call. */
    async load(snapshot) {
      const key = keyOf(snapshot);
      if (known.has(key)) return true;
      if (!asked.has(key)) asked.set(key, ask(snapshot, key));
      return asked.get(key);
    },
  };
}

export const keyOf = ({ seq, revision }) => `${seq}-${revision}`;
