/* Counts page faults by stack: minor ones, served without reading a file, and major ones, which waited for a read.
 *
 * It counts faults, not bytes: one fault maps many pages of a file or a huge page, and reading fresh memory maps the one
 * zero page.
 *
 * Most fresh memory is touched inside of malloc, where the frame pointer is a general register and a walk along it leads
 * nowhere. So a walk is only believed once an unwinding of the copied stack agreed with it. Until then, and always where
 * the walk was found wrong, registers and stack are sent; user space counts those faults. What is over the budget is
 * counted here without its callers: each fault is counted once, in one of the three places.
 *
 * Defines: MAX_STACKS, RING_PAGES, COPIES_A_SECOND, and those of target.h, stacks.h and copied_stack.h.
 */
#include <uapi/linux/bpf_perf_event.h>

#define SECOND_NS 1000000000ULL
#define COPIES_OF_UNJUDGED 256 /* of one walk: more would fill the ring buffer before the first one is judged */

struct totals {
  u64 minor;
  u64 major;
};

/* What user space found of a walk; it writes the first two fields. */
struct verdict {
  u32 is_right;
  u32 is_wrong;
  u64 copies;
};

/* tracer/collectors/page_faults.py reads it. */
struct fault_event {
  u64 walk;
  u32 is_major;
  u32 stack_bytes;
  u64 registers[REGISTERS]; /* in the order of the DWARF numbers of x86_64 */
  u8 stack[STACK_BYTES];
};

struct second {
  u64 number;
  u64 copies;
};

/* Faults by the key of their walk. Not full before the stack map is. */
BPF_TABLE("hash", u64, struct totals, totals, MAX_STACKS + 1);
BPF_TABLE("hash", u64, struct verdict, verdicts, MAX_STACKS + 1);
/* Instructions in code that keeps no frame: a walk from there is wrong at its first step. Full: walks go on there. */
BPF_TABLE("hash", u64, u32, frameless, MAX_STACKS);
/* Faults over the budget, by their instruction; those for which there is no room, under 0. */
BPF_TABLE("hash", u64, struct totals, callerless, MAX_STACKS);
BPF_TABLE("array", u32, struct totals, placeless, 1);
BPF_TABLE("array", u32, struct second, seconds, 1);
BPF_RINGBUF_OUTPUT(events, RING_PAGES);

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
 * that a walk along frame pointers misses. Whether it is that, the unwinding tells. */
static __always_inline u64 top_of_stack(struct pt_regs *user) {
  u64 top = 0;
  if (bpf_probe_read_user(&top, sizeof(top), (void *)user->sp))
    return 0;
  return follows_call(top) ? top : 0;
}

static __always_inline void add(struct totals *sums, u32 is_major) {
  if (sums)
    __sync_fetch_and_add(is_major ? &sums->major : &sums->minor, 1);
}

static __always_inline void count_callerless(u64 instruction, u32 is_major) {
  struct totals zero = {};
  u32 first = 0;
  struct totals *sums = callerless.lookup_or_try_init(&instruction, &zero);
  add(sums ? sums : placeless.lookup(&first), is_major);
}

/* Two processors may begin a second at once: then a few more are copied. */
static __always_inline bool is_within_budget(void) {
  u32 first = 0;
  struct second *second = seconds.lookup(&first);
  if (!second)
    return false;
  u64 number = bpf_ktime_get_ns() / SECOND_NS;
  if (second->number != number) {
    second->number = number;
    second->copies = 0;
  }
  return __sync_fetch_and_add(&second->copies, 1) < COPIES_A_SECOND;
}

static __always_inline bool send_copy(struct pt_regs *user, u64 walk, u32 is_major) {
  struct fault_event *event = events.ringbuf_reserve(sizeof(struct fault_event));
  if (!event)
    return false;
  event->walk = walk;
  event->is_major = is_major;
  copy_registers(event->registers, user);
  event->stack_bytes = copy_stack(event->stack, user->sp);
  events.ringbuf_submit(event, 0);
  return true;
}

static __always_inline void on_fault(struct bpf_perf_event_data *context, u32 is_major) {
  struct pt_regs *user = user_registers();
  struct totals no_faults = {};
  struct verdict unjudged = {};
  struct verdict *verdict = NULL;
  u64 instruction = user->ip, walk = 0;
  count(COUNT_EVENTS);
  if (!frameless.lookup(&instruction))
    walk = stack_key(context, 0, top_of_stack(user));
  if (walk)
    verdict = verdicts.lookup_or_try_init(&walk, &unjudged);
  if (verdict && (verdict->is_right || (!verdict->is_wrong && verdict->copies >= COPIES_OF_UNJUDGED))) {
    add(totals.lookup_or_try_init(&walk, &no_faults), is_major);
    return;
  }
  /* The first copy of a walk is free: without it the walk would never be judged. */
  bool is_first = verdict && !verdict->copies;
  if ((is_first || is_within_budget()) && send_copy(user, walk, is_major)) {
    if (verdict)
      __sync_fetch_and_add(&verdict->copies, 1);
    return;
  }
  if (verdict && !verdict->is_wrong)
    add(totals.lookup_or_try_init(&walk, &no_faults), is_major);
  else
    count_callerless(instruction, is_major);
}

int on_minor_fault(struct bpf_perf_event_data *context) {
  if (is_recorded())
    on_fault(context, 0);
  return 0;
}

int on_major_fault(struct bpf_perf_event_data *context) {
  if (is_recorded())
    on_fault(context, 1);
  return 0;
}
