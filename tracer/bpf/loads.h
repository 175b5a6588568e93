/* Tells when the target loaded a library: it may have functions that a collector follows.
 *
 * The probe is on the function that the dynamic linker calls for debuggers, when a library was mapped and before that one's
 * first code runs.
 */

/* Moments, by CLOCK_MONOTONIC. */
BPF_RINGBUF_OUTPUT(loads, 1);

int on_load(struct pt_regs *context) {
  u64 now_ns = bpf_ktime_get_ns();
  if (is_recorded())
    loads.ringbuf_output(&now_ns, sizeof(now_ns), 0);
  return 0;
}
