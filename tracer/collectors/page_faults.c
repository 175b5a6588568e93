/* Counts page faults by stack: minor ones, served without reading a file, and major ones, which waited for a read.
 *
 * It counts faults, not bytes: one fault maps many pages of a file or a huge page, and reading fresh memory maps the one
 * zero page.
 *
 * Most fresh memory is touched inside of malloc, where the frame pointer is a general register and a walk along it leads
 * nowhere. So a walk is only believed once an unwinding of the copied stack agreed with it. If it doesn't agree, user
 * space tells where this code keeps the return address and the caller's frame pointer, and the next walk steps there.
 * Until a walk is judged, and always where it was found wrong, registers and stack are sent; user space counts those
 * faults. What is over the budget is counted here without its callers: each fault is counted once, in one of the three.
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
  u16 is_major;
  u16 stack_bytes;
  u32 image;
  u64 registers[REGISTERS]; /* in the order of the DWARF numbers of x86_64 */
  u8 stack[STACK_BYTES];
};

/* Offsets from the stack pointer; tracer/collectors/steps.py writes them. */
struct step {
  s32 return_address;
  s32 frame_pointer; /* of the caller, where it was saved; negative: it is still in its register */
};

struct second {
  u64 number;
  u64 copies;
};

/* Faults by the key of their walk. Not full before the stack map is. */
BPF_TABLE("hash", u64, struct totals, totals, MAX_STACKS + 1);
BPF_TABLE("hash", u64, struct verdict, verdicts, MAX_STACKS + 1);
/* How to leave a function that keeps no frame pointer, by an address in it (own_address). Full: walks stay wrong there. */
BPF_TABLE("hash", u64, struct step, steps, MAX_STACKS);
/* Instructions from which no walk is right, as own_address. */
BPF_TABLE("hash", u64, u32, unwalkable, MAX_STACKS);
/* Faults over the budget, by their instruction as own_address; those for which there is no room, under 0. */
BPF_TABLE("hash", u64, struct totals, callerless, MAX_STACKS);
BPF_TABLE("array", u32, struct totals, placeless, 1);
BPF_TABLE("array", u32, struct second, seconds, 1);
BPF_RINGBUF_OUTPUT(events, RING_PAGES);

static __always_inline u64 word_at(u64 address) {
  u64 word = 0;
  bpf_probe_read_user(&word, sizeof(word), (void *)address);
  return word;
}

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
  u64 top = word_at(user->sp);
  return follows_call(top) ? top : 0;
}

/* Along frame pointers, and by the known steps where code keeps none. */
static __always_inline u64 walk_key(struct pt_regs *user) {
  u32 first = 0, frames = 1;
  struct stack *stack = stack_buffer.lookup(&first);
  if (!stack)
    return 0;
  u64 address = user->ip, sp = user->sp, bp = user->bp;
  u32 image = current_image();
  u64 place_in_code = in_image(image, address);
  u64 top = steps.lookup(&place_in_code) ? 0 : top_of_stack(user);
  u64 key = mixed(begin_stack(stack, 0, top), address);
  stack->frames[0] = address;
  for (u32 i = 1; i < MAX_FRAMES; i++) {
    place_in_code = in_image(image, address);
    struct step *step = steps.lookup(&place_in_code);
    u64 place = step ? sp + step->return_address : bp + 8;
    u64 frame[2] = {}; /* the caller's frame pointer and the return address, side by side if there is a frame */
    if (place < sp || bpf_probe_read_user(frame, sizeof(frame), (void *)(place - 8)) || !frame[1])
      break;
    if (!step)
      bp = frame[0];
    else if (step->frame_pointer >= 0)
      bp = word_at(sp + step->frame_pointer);
    address = frame[1];
    stack->frames[i] = address;
    key = mixed(key, address);
    frames = i + 1;
    sp = place + 8;
  }
  stack->frame_count = frames;
  return stored_stack(stack, key);
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
