// What a capture says of itself to a grade: how far a reader may trust the picture. tracer/profile/grade.py does the
// same; tests/view/grades.json holds both to one meaning, docs/reading.md tells it.

/** Up to these shares the grade is A, B, C; above the last it is D. */
const LIMITS = {
  without_stack: [0, 0.01, 0.1], // of the value
  lost: [0, 0.001, 0.01], // of events
  unresolved: [0.05, 0.2, 0.5], // of the graph's area
  broken: [0.01, 0.1, 1], // of the value: callers are missing, what is there is right
  truncated: [0.01, 0.1, 1],
};

/**
 * {grade, findings: [{grade, cause, share}]}: A complete, B minor gaps, C weak, D not to be relied on, "" where the file
 * does not say; findings worst first. A claim of the wrong form is no claim: an upload writes its own capture.
 */
export function gradeOf(capture, skippedLines = 0) {
  const findings = findingsOf(capture, skippedLines).sort((a, b) => b.grade.localeCompare(a.grade));
  const worst = findings[0]?.grade ?? "A";
  // A file that does not say what it lost may be weak, but is never called complete.
  return { grade: tellsLosses(capture) || worst >= "C" ? worst : "", findings };
}

function findingsOf(capture, skippedLines) {
  const findings = sharesOf(capture)
    .map(([cause, share]) => ({ grade: gradeOfShare(share, LIMITS[cause]), cause, share }))
    .filter(({ grade }) => grade !== "A");
  if (capture.collector === "malloc" && capture.events === 0)
    findings.push({ grade: "C", cause: "no_events", share: 0 });
  if (skippedLines > 0) findings.push({ grade: "C", cause: "skipped_lines", share: 0 });
  return findings;
}

const tellsLosses = ({ events, lost }) => isCount(events) || isRecord(lost);

function gradeOfShare(share, [complete, minor, weak]) {
  if (share <= complete) return "A";
  return share <= minor ? "B" : share <= weak ? "C" : "D";
}

/** [cause, share] of what is known, in the order of LIMITS. */
function sharesOf(capture) {
  const known = { lost: lostShare(capture), ...(isRecord(capture.shares) ? capture.shares : unweighted(capture)) };
  return Object.keys(LIMITS)
    .map((cause) => [cause, known[cause]])
    .filter(([, share]) => typeof share === "number" && share >= 0 && share <= 1);
}

/** Of captures from before the shares were told. */
function unweighted({ frames, unresolved_frames: unresolved }) {
  return isCount(frames) && isCount(unresolved) && frames > 0 ? { unresolved: Math.min(1, unresolved / frames) } : {};
}

function lostShare(capture) {
  const counts = Object.values(isRecord(capture.lost) ? capture.lost : {}).filter(isCount);
  const lost = counts.reduce((sum, count) => sum + count, 0);
  return lost > 0 ? lost / ((isCount(capture.events) ? capture.events : 0) + lost) : 0;
}

export const isRecord = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
export const isCount = (value) => Number.isSafeInteger(value) && value >= 0;
