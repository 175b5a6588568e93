/* System calls with the registers and the top of the stack that the caller had, for unwinding outside the kernel.
 *
 * The C library's wrappers keep no frame pointer, so a walk along frame pointers misses who called them; sbrk even
 * uses the register for something else. These calls are rare enough to send the stack itself.
 *
 * Defines: RING_PAGES, MAX_CALLS, and those of target.h and copied_stack.h.
 */
struct entered {
  u64 call;
  u64 at_ns;
  u64 arguments[6];
  u64 previous;
};

/* tracer/collectors/syscall_events.py reads these two. */
struct plain_event {
  u16 call;
  u16 stack_bytes;
  u32 image;
  u64 entered_ns;
  u64 returned_ns;
  u64 result;
  u64 previous; /* what the collector noted at the entry */
  u64 arguments[6];
};

struct stack_event {
  struct plain_event plain;
  u64 registers[REGISTERS]; /* in the order of the DWARF numbers of x86_64 */
  u8 stack[STACK_BYTES];
};

/* Calls under way, by thread. Full: counted as call_map_full. */
BPF_TABLE("hash", u64, struct entered, calls, MAX_CALLS);
/* Full: counted as ring_buffer_full. */
BPF_RINGBUF_OUTPUT(events, RING_PAGES);

static __always_inline void enter(struct entered *entered) {
  u64 thread = bpf_get_current_pid_tgid();
  entered->at_ns = bpf_ktime_get_ns();
  if (calls.update(&thread, entered))
    count(COUNT_CALL_MAP_FULL);
}

static __always_inline void fill(struct plain_event *event, struct entered *entered, u64 result) {
  event->call = entered->call;
  event->stack_bytes = 0;
  event->image = current_image();
  event->entered_ns = entered->at_ns;
  event->returned_ns = bpf_ktime_get_ns();
  event->result = result;
  event->previous = entered->previous;
  __builtin_memcpy(event->arguments, entered->arguments, sizeof(event->arguments));
}

/* The call that this thread entered, taken out of the map; false if that was before the recording. */
static __always_inline bool take_entered(struct entered *entered) {
  u64 thread = bpf_get_current_pid_tgid();
  struct entered *noted = calls.lookup(&thread);
  if (!noted)
    return false;
  *entered = *noted;
  calls.delete(&thread);
  return true;
}

static __always_inline void send_plain(struct entered *entered, u64 result) {
  struct plain_event *event = events.ringbuf_reserve(sizeof(struct plain_event));
  if (!event) {
    count(COUNT_RING_BUFFER_FULL);
    return;
  }
  fill(event, entered, result);
  count(COUNT_EVENTS);
  events.ringbuf_submit(event, 0);
}

static __always_inline void send_with_stack(struct entered *entered, u64 result) {
  struct stack_event *event = events.ringbuf_reserve(sizeof(struct stack_event));
  if (!event) {
    count(COUNT_RING_BUFFER_FULL);
    return;
  }
  fill(&event->plain, entered, result);
  struct pt_regs *user = user_registers();
  copy_registers(event->registers, user);
  event->plain.stack_bytes = copy_stack(event->stack, user->sp);
  if (!event->plain.stack_bytes)
    count(COUNT_FAILED_STACK);
  count(COUNT_EVENTS);
  events.ringbuf_submit(event, 0);
}
