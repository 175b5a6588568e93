/* Counts calls of the allocator's functions, and the bytes they ask for, by stack: at their entry only, so a call costs a
 * third of what following its block does.
 *
 * It cannot see whether a call succeeded, nor what is freed. A request for more than an address space holds can only
 * fail: it is counted as refused. What asprintf makes counts as the calls of malloc inside of it.
 *
 * At the entry frame pointers lead past the caller; it is where the stack pointer points to.
 *
 * Defines: IN_ALLOCATOR(address), UNWINDS, MAX_KEYS, and those of allocator_calls.h and, if UNWINDS, unwound_stacks.h.
 */
#define MOST_BYTES (1ULL << 47)

struct sums {
  u64 bytes;
  u64 calls;
};

/* A call that may end with a jump to another function of the allocator. */
struct entered {
  u64 sp;
  u64 caller;
  u32 symbol;
};

/* The last call of each thread but those of malloc, which jumps to no other. What is read was written just before by the
 * same thread, so an LRU map loses nothing here. */
BPF_TABLE("lru_hash", u64, struct entered, last_calls, MAX_CALLS);
/* One entry a stack, and one for key 0. It is as large as there can be keys, so it is never full first. */
BPF_TABLE("hash", u64, struct sums, totals, MAX_KEYS + 1);

#define IS_MALLOC(cookie) (FUNCTION(cookie) == 0) /* the first of LEAVES */

/* new[] jumps to new, reallocarray to realloc, realloc to malloc. A call site always calls the same function, so an equal
 * place with another function is no later call. */
static __always_inline bool is_jumped_to(struct pt_regs *context, u64 caller, u64 cookie) {
  u64 thread = bpf_get_current_pid_tgid();
  struct entered *last = last_calls.lookup(&thread);
  if (last && last->sp == context->sp && last->caller == caller && last->symbol != SYMBOL(cookie))
    return true;
  if (!IS_MALLOC(cookie)) {
    struct entered entered = {.sp = context->sp, .caller = caller, .symbol = SYMBOL(cookie)};
    last_calls.update(&thread, &entered);
  }
  return false;
}

#if UNWINDS
static __always_inline u64 key_at_entry(struct pt_regs *context, struct walk *walk, struct piece *piece) {
  return unwound_key(context, walk, piece);
}
#else
static __always_inline u64 key_at_entry(struct pt_regs *context, struct walk *walk, struct piece *piece) {
  u32 first = 0;
  struct stack *stack = stack_buffer.lookup(&first);
  if (!stack)
    return 0;
  u64 key = walked_key(walk, stack, piece);
  if (!key)
    key = kernel_walk_key(context, stack, walk->function, walk->first);
  else if (piece->thread != bpf_get_current_pid_tgid())
    key = failed_stack(16 /* EBUSY */);
  if (!key || totals.lookup(&key))
    return key;
  return stored_stack(stack, key);
}
#endif

static __always_inline void add_call(u64 key, u64 bytes) {
  struct sums none = {};
  struct sums *sums = totals.lookup_or_try_init(&key, &none);
  if (!sums)
    return;
  __sync_fetch_and_add(&sums->bytes, bytes);
  __sync_fetch_and_add(&sums->calls, 1);
}

static __always_inline struct walk walk_from_entry(struct pt_regs *context, u64 caller, u32 function) {
  u64 sp = context->sp + sizeof(u64), frame_pointer = context->bp;
  OPAQUE(sp);
  OPAQUE(frame_pointer);
  struct walk walk = {.function = function, .first = caller, .sp = sp, .frame_pointer = frame_pointer};
  struct wrapper *wrapper = wrapper_of(caller, context->sp, 0);
  if (!wrapper)
    return walk;
  walk.function = wrapper->function;
  walk.first = wrapper->return_address;
  walk.sp = wrapper->sp + sizeof(u64);
  walk.frame_pointer = wrapper->frame_pointer;
  return walk;
}

int on_enter(struct pt_regs *context) {
  if (!is_recorded())
    return 0;
  struct piece *piece = piece_at(context->sp);
  if (!piece)
    return 0;
  u64 caller = *(u64 *)piece->bytes, cookie = bpf_get_attach_cookie(context);
  if (IN_ALLOCATOR(caller) || is_jumped_to(context, caller, cookie))
    return 0;
  u64 bytes = requested_bytes(context, cookie);
  if (bytes >= MOST_BYTES) {
    count(COUNT_REFUSED);
    return 0;
  }
  count(COUNT_EVENTS);
  struct walk walk = walk_from_entry(context, caller, FUNCTION(cookie));
  add_call(key_at_entry(context, &walk, piece), bytes);
  return 0;
}
