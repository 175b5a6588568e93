/* Counts page faults by stack: minor ones, served without reading a file, and major ones, which waited for a read.
 *
 * It counts faults, not bytes: one fault maps many pages of a file or a huge page, and reading fresh memory maps the one
 * zero page.
 *
 * Defines: MAX_STACKS, and those of target.h and stacks.h.
 */
#include <uapi/linux/bpf_perf_event.h>

struct totals {
  u64 minor;
  u64 major;
};

/* One entry a stack, and one for key 0: never full before the stack map is. */
BPF_TABLE("hash", u64, struct totals, totals, MAX_STACKS + 1);

/* Whether the bytes before an address are a call instruction of x86_64: e8 with an offset, or ff /2 in its lengths. */
static __always_inline bool follows_call(u64 address) {
  u8 code[7] = {};
  if (bpf_probe_read_user(code, sizeof(code), (void *)(address - 7)))
    return false;
  return code[2] == 0xe8 || (code[1] == 0xff && (code[2] & 0x38) == 0x10) || (code[5] == 0xff && (code[6] & 0x38) == 0x10) ||
         (code[4] == 0xff && (code[5] & 0x38) == 0x10) || (code[3] == 0xff && code[4] == 0x54) ||
         (code[0] == 0xff && code[1] == 0x94);
}

/* memset, memcpy and the wrappers of system calls keep no frame: then the word at the stack pointer is the return address
 * that a walk along frame pointers misses. Whether it is that, the unwind tables tell later. */
static __always_inline u64 top_of_stack(void) {
  struct pt_regs *user = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
  u64 top = 0;
  if (bpf_probe_read_user(&top, sizeof(top), (void *)user->sp))
    return 0;
  return follows_call(top) ? top : 0;
}

static __always_inline struct totals *totals_of_stack(struct bpf_perf_event_data *context) {
  struct totals zero = {};
  count(COUNT_EVENTS);
  u64 key = stack_key(context, 0, top_of_stack());
  return totals.lookup_or_try_init(&key, &zero);
}

int on_minor_fault(struct bpf_perf_event_data *context) {
  if (!is_recorded())
    return 0;
  struct totals *sums = totals_of_stack(context);
  if (sums)
    __sync_fetch_and_add(&sums->minor, 1);
  return 0;
}

int on_major_fault(struct bpf_perf_event_data *context) {
  if (!is_recorded())
    return 0;
  struct totals *sums = totals_of_stack(context);
  if (sums)
    __sync_fetch_and_add(&sums->major, 1);
  return 0;
}
