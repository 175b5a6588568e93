/* Counts page faults by stack: minor ones, served without reading a file, and major ones, which waited for a read.
 *
 * It counts faults, not bytes: one fault maps many pages of a file or a huge page, and reading fresh memory maps the one
 * zero page.
 *
 * Most fresh memory is touched inside of malloc, where the frame pointer is a general register and a walk along it leads
 * nowhere: judged_walk.h has what is done about it. Until a walk is judged, and always where it was found wrong, registers
 * and stack are sent; user space counts those faults. What is over the budget is counted here without its callers: each fault is counted once, in one of the three.
 *
 * Defines: RING_PAGES, and those of target.h, stacks.h, copied_stack.h and judged_walk.h.
 */
#include <uapi/linux/bpf_perf_event.h>

#define COPIES_OF_UNJUDGED 256 /* of one walk: more would fill the ring buffer before the first one is judged */

struct totals {
  u64 minor;
  u64 major;
};

/* tracer/collectors/page_faults.py reads it. */
struct fault_event {
  u64 walk;
  u16 is_major;
  u16 stack_bytes;
  u32 image;
  u64 registers[REGISTERS]; /* in the order of the DWARF numbers of x86_64 */
  u8 stack[STACK_BYTES];
};

/* Faults by the key of their walk. Not full before the stack map is. */
BPF_TABLE("hash", u64, struct totals, totals, MAX_STACKS + 1);
/* Faults over the budget, by their instruction as own_address; those for which there is no room, under 0. */
BPF_TABLE("hash", u64, struct totals, callerless, MAX_STACKS);
BPF_TABLE("array", u32, struct totals, placeless, 1);
BPF_RINGBUF_OUTPUT(events, RING_PAGES);

static __always_inline u64 walk_key(struct pt_regs *user) {
  u32 first = 0;
  struct stack *stack = stack_buffer.lookup(&first);
  struct piece *piece = piece_at(user->sp);
  if (!stack || !piece)
    return 0;
  struct place place = {.address = user->ip, .sp = user->sp, .bp = user->bp};
  u64 code = own_address(user->ip);
  u64 top = steps.lookup(&code) ? 0 : top_of_stack(user->sp);
  return stored_stack(stack, walk(stack, piece, begin_stack(stack, 0, top), place));
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

static __always_inline bool send_copy(struct pt_regs *user, u64 walk, u32 is_major) {
  struct fault_event *event = events.ringbuf_reserve(sizeof(struct fault_event));
  if (!event)
    return false;
  event->walk = walk;
  event->is_major = is_major;
  event->image = current_image();
  copy_registers(event->registers, user);
  event->stack_bytes = copy_stack(event->stack, user->sp);
  events.ringbuf_submit(event, 0);
  return true;
}

static __always_inline void on_fault(u32 is_major) {
  struct pt_regs *user = user_registers();
  struct totals no_faults = {};
  struct verdict unjudged = {};
  struct verdict *verdict = NULL;
  u64 instruction = own_address(user->ip), walk = 0;
  count(COUNT_EVENTS);
  if (!unwalkable.lookup(&instruction))
    walk = walk_key(user);
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
    on_fault(0);
  return 0;
}

int on_major_fault(struct bpf_perf_event_data *context) {
  if (is_recorded())
    on_fault(1);
  return 0;
}
