/* Keys of stacks that user space unwinds: right also in code without frame pointers, from the first event on.
 *
 * A stack whose walk was found right has the key of that walk. Any other has a key of what its copy holds: all words that
 * look like return addresses, with their places. Which words are return addresses decides how a stack is unwound, so
 * stacks with the same key are the same stack. The first of each key is sent, and the first with each walk;
 * tracer/collectors/unwound_stacks.py unwinds it, judges the walk by it, and teaches the next ones. A stack that is over
 * the budget has the key of its walk, unjudged: if none like it is sent later, only its innermost call is known.
 *
 * Defines: RING_PAGES, and those of stacks.h, copied_stack.h and judged_walk.h.
 */
#define PIECE_WORDS (PIECE_BYTES / sizeof(u64))
#define SMALLEST_ADDRESS 65536ULL /* sysctl vm.mmap_min_addr: nothing is mapped below */
#define USER_ADDRESSES (1ULL << 47)

/* tracer/collectors/unwound_stacks.py reads these two. */
struct copy {
  u64 thread; /* whose it is, as in struct piece */
  u64 key;
  u64 walk;
  u64 stack_bytes;
  u64 registers[REGISTERS]; /* in the order of the DWARF numbers of x86_64 */
  struct stack walked;
  u8 stack[STACK_BYTES]; /* stack_bytes of it are sent */
};

struct innermost {
  u64 address; /* that the allocator's function returns to */
  u32 function;
  u32 image;
};

/* Innermost calls of what has no right walk, by key. Full: counted as stack_map_full. */
BPF_TABLE("hash", u64, struct innermost, innermost_calls, MAX_STACKS);
/* A copy that doesn't fit is not sent: its stack is not unwound then, until it is met again. */
BPF_RINGBUF_OUTPUT(copies, RING_PAGES);
BPF_PERCPU_ARRAY(copy_buffer, struct copy, 1);

/* Not into the part of the stack that is copied, where frame pointers lead. */
static __always_inline bool may_be_code(u64 word, u64 sp) {
  return word - SMALLEST_ADDRESS < USER_ADDRESSES && word - sp >= STACK_BYTES;
}

/* Of all words that follow a call. Two branches a word, not more: the verifier keeps 8,192 in mind. */
static __always_inline u64 content_key(struct copy *copy, u64 sp) {
  u64 sum = copy->stack_bytes, *words = (u64 *)copy->stack;
  for (u32 piece = 0; piece < STACK_BYTES / PIECE_BYTES; piece++) {
    if (piece * PIECE_BYTES >= copy->stack_bytes)
      break;
    for (u32 i = piece * PIECE_WORDS; i < (piece + 1) * PIECE_WORDS; i++) {
      u64 word = words[i];
      if (may_be_code(word, sp))
        sum += follows_call(word) * mixed(i, word);
    }
  }
  return sum;
}

/* Whether user space finds the innermost call of this key, if nothing more. */
static __always_inline bool has_innermost(u64 key, struct innermost *call) {
  return innermost_calls.lookup(&key) || !innermost_calls.update(&key, call);
}

static __always_inline bool send_copy(struct copy *copy) {
  u64 bytes = copy->stack_bytes;
  if (bytes > STACK_BYTES)
    return false; /* never: the verifier must see it */
  return !copies.ringbuf_output(copy, sizeof(*copy) - STACK_BYTES + bytes, 0);
}

/* Once a walk until it is judged, and once a stack. Another thread that came in between has left its own copy: nothing
 * has the key then, so that the next one of it is sent. */
static __always_inline bool send_unjudged(struct copy *copy, u64 thread, bool is_known) {
  struct verdict sent = {.copies = 1};
  u64 walk = copy->walk;
  bool is_first = !verdicts.insert(&walk, &sent);
  if (is_known && !is_first)
    return false;
  if (copy->thread == thread && is_within_budget() && send_copy(copy) && copy->thread == thread)
    return true;
  if (is_first)
    verdicts.delete(&walk);
  return false;
}

static __always_inline u64 copied_key(struct copy *copy, u64 thread, struct pt_regs *context, struct place place) {
  struct innermost call = {.address = place.address, .function = copy->walked.function, .image = copy->walked.image};
  u64 innermost = mixed(mixed(mixed(0, call.image), call.function), place.address), walk = copy->walk;
  copy_registers(copy->registers, context);
  copy->registers[6] = place.bp;
  copy->registers[7] = place.sp;
  copy->registers[16] = place.address;
  copy->stack_bytes = copy_stack(copy->stack, place.sp);
  u64 key = mixed(innermost, content_key(copy, place.sp));
  copy->key = key;
  bool is_known = innermost_calls.lookup(&key) != NULL;
  if (send_unjudged(copy, thread, is_known) || (is_known && copy->thread == thread))
    walk = key;
  /* Of what is not sent, the walk may be judged later. */
  if (has_innermost(walk, &call))
    return walk;
  if (has_innermost(innermost, &call))
    return innermost;
  count(COUNT_STACK_MAP_FULL);
  return 0;
}

/* Key of the stack that a walk begins in; the context has its other registers. */
static __always_inline u64 unwound_key(struct pt_regs *context, struct walk *from, struct piece *piece) {
  u32 first = 0;
  u64 thread = bpf_get_current_pid_tgid();
  struct place place = {.address = from->top ? from->top : from->first, .sp = from->sp, .bp = from->frame_pointer};
  struct copy *copy = copy_buffer.lookup(&first);
  if (!copy || !piece)
    return failed_stack(14 /* EFAULT */);
  copy->thread = thread;
  u64 key = walk(&copy->walked, piece, begin_stack(&copy->walked, from->function, 0), place);
  if (copy->thread != thread)
    return failed_stack(16 /* EBUSY */);
  struct verdict *verdict = verdicts.lookup(&key);
  if (verdict && verdict->is_right)
    return key;
  copy->walk = key;
  return copied_key(copy, thread, context, place);
}
