/* Counts memory that the allocator's functions give out and get back: for each stack the bytes and objects allocated,
 * and how many of them were freed again.
 *
 * The stack is taken where the outermost allocator call returns. There the kernel has restored the return address, so
 * the caller is right even when the allocator keeps no frame pointer; calls that the allocator makes to itself
 * (reallocarray to realloc) belong to the outermost one.
 *
 * An allocator whose operator new calls no malloc has probes on that function's ret instructions. asprintf makes several
 * blocks and gives back the last: it is a call of its own, of the size that was asked for inside of it.
 *
 * It cannot see memory that a program takes from the system without these functions, pools carved out of one
 * block, and blocks that were allocated before the recording.
 *
 * Defines: FREED_BLOCK(context), IS_WANTED(bytes), KNOWS_ALL_BLOCKS, UNWINDS, SAMPLED, MAX_BLOCKS, MAX_KEYS,
 * MAX_CALLS, and those of allocator_calls.h and, if UNWINDS, unwound_stacks.h; if SAMPLED,
 * LINKS_SESSIONS and CALLOC_CALLS_NO_OTHER.
 */

/* One block, or what a chosen one stands for. */
struct block {
  u64 bytes;
  u64 stack;
  u64 born_ns; /* CLOCK_MONOTONIC */
  u64 objects;
};

#if SAMPLED
#define SKIP_RETURN 1 /* of a session link; others go on to the return, and find no call there */
/* Functions that call no other one: a call of theirs that is not chosen needs no place. */
#define CALLS_NO_OTHER(cookie) (FUNCTION(cookie) == 0 || (CALLOC_CALLS_NO_OTHER && FUNCTION(cookie) == 1))
#else
#define may_be_live(address) true
#define note_live(address, change)
#define uncount(call)
#endif

/* Each member is set at each entry: what a thread's last call left is still there. */
struct call {
  u64 sp; /* of the entry, where the return address lies; 0 while the thread is in no call */
  u64 bytes;
  u64 argument; /* the block that a realloc gets, or where posix_memalign writes its result */
  u64 inner_sp; /* of the last call inside of asprintf */
  u64 return_address; /* where no trampoline takes its place, else 0 */
  u32 function;
  u32 symbol;
  u32 writes_result;
  u32 is_sized_inside; /* by what asprintf asks for */
  u32 has_block; /* the old block of a realloc was ours */
  u32 is_counted; /* if SAMPLED: by the sampler */
  u32 is_chosen;
  struct block block;
};

struct totals {
  u64 allocated_bytes;
  u64 allocated_objects;
  u64 freed_bytes;
  u64 freed_objects;
};

/* The outermost call of each thread, in a place that it keeps for the next one: taking a place anew costs as much as
 * half of all the rest. Threads come and go, so places are given back once half of them are in use.
 * Full: the allocation is not seen, and counted as call_map_full. */
BPF_TABLE("hash", u64, struct call, calls, MAX_CALLS);
BPF_ARRAY(places_in_use, u64, 1);
/* Live blocks by own_address. Full: the block counts as freed at once, and as allocation_map_full. Never an LRU map: that
 * would drop live blocks in silence. */
BPF_TABLE("hash", u64, struct block, blocks, MAX_BLOCKS);
/* One entry a stack, and one for key 0. It is as large as there can be keys, so it is never full first. */
BPF_TABLE("hash", u64, struct totals, totals, MAX_KEYS + 1);

static __always_inline void add_freed(struct block *block) {
  struct totals *sums = totals.lookup(&block->stack);
  if (!sums)
    return;
  __sync_fetch_and_add(&sums->freed_bytes, block->bytes);
  __sync_fetch_and_add(&sums->freed_objects, block->objects);
}

#if UNWINDS
static __always_inline struct totals *totals_of(struct pt_regs *context, struct walk *walk, u64 *key) {
  struct totals zero = {};
  *key = unwound_key(context, walk, piece_at(walk->sp));
  return totals.lookup_or_try_init(key, &zero);
}
#else
/* Whether a stack is new is told by its totals: one lookup less. */
static __always_inline struct totals *totals_of(struct pt_regs *context, struct walk *walk, u64 *key) {
  u32 first = 0;
  struct stack *stack = stack_buffer.lookup(&first);
  if (!stack)
    return 0;
  *key = user_stack_key(context, walk, stack);
  struct totals *sums = totals.lookup(key);
  if (sums)
    return sums;
  struct totals zero = {};
  *key = *key ? stored_stack(stack, *key) : 0;
  return totals.lookup_or_try_init(key, &zero);
}
#endif

/* The key of the stack whose values were added to. */
static __always_inline u64 add_allocated(struct pt_regs *context, struct walk *walk, struct block *block) {
  u64 key = 0;
  struct totals *sums = totals_of(context, walk, &key);
  if (!sums)
    return 0;
  __sync_fetch_and_add(&sums->allocated_bytes, block->bytes);
  __sync_fetch_and_add(&sums->allocated_objects, block->objects);
  return key;
}

/* Without a return probe the return address itself is there. If not, the call was left by an exception or a longjmp. */
static __always_inline bool is_under_way(struct call *call) {
  u64 found = word_at(call->sp);
  return call->return_address ? found == call->return_address : is_trampoline(found);
}

/* Whether a thread that enters a function is still inside the call that it entered before. An equal sp is a tail call
 * (reallocarray jumps to realloc, new[] to new), or the same call again after the first one threw. */
static __always_inline bool is_inside(struct pt_regs *context, struct call *outer, u64 cookie) {
  if (context->sp > outer->sp || !is_under_way(outer))
    return false;
  return context->sp < outer->sp || outer->symbol != SYMBOL(cookie);
}

/* What a call inside of asprintf asks for, unless that one is inside of another: a realloc that calls malloc. */
static __always_inline void note_inner_size(struct pt_regs *context, struct call *outer, u64 cookie) {
  if (!outer->is_sized_inside || !SIZE_ARGUMENT(cookie))
    return;
  if (context->sp < outer->inner_sp && is_trampoline(word_at(outer->inner_sp)))
    return;
  outer->inner_sp = context->sp;
  outer->bytes = requested_bytes(context, cookie);
}

static __always_inline void restore_block(struct call *call) {
  if (!call->has_block)
    return;
  u64 key = own_address(call->argument);
  if (blocks.update(&key, &call->block)) {
    count(COUNT_ALLOCATION_MAP_FULL);
    add_freed(&call->block);
  } else {
    note_live(call->argument, 1);
  }
}

/* This thread's place, with the call that it is in, if any. */
static __always_inline struct call *place_of(u64 thread) {
  struct call *place = calls.lookup(&thread);
  if (place)
    return place;
  struct call none = {};
  if (calls.update(&thread, &none)) {
    count(COUNT_CALL_MAP_FULL);
    return 0;
  }
  u32 first = 0;
  u64 *in_use = places_in_use.lookup(&first);
  if (in_use)
    __sync_fetch_and_add(in_use, 1);
  return calls.lookup(&thread);
}

static __always_inline void leave(struct call *place) {
  u32 first = 0;
  u64 *in_use = places_in_use.lookup(&first);
  place->sp = 0;
  if (!in_use || *in_use <= MAX_CALLS / 2)
    return;
  u64 thread = bpf_get_current_pid_tgid();
  if (!calls.delete(&thread))
    __sync_fetch_and_add(in_use, -1);
}

/* A block from before the recording, or one that the C library's own thread cache gives back a second time. */
static __always_inline void count_unknown_free(void) {
  if (KNOWS_ALL_BLOCKS)
    count(COUNT_UNKNOWN_FREES);
}

/* A realloc's old block is taken out now, not at the return: by then another thread may have been given its address. */
static __always_inline void take_block(struct call *call) {
  u64 key = own_address(call->argument);
  struct block *block = may_be_live(call->argument) ? blocks.lookup(&key) : 0;
  if (!block) {
    count_unknown_free();
    return;
  }
  call->has_block = 1;
  call->block = *block;
  if (!blocks.delete(&key))
    note_live(call->argument, -1);
}

static __always_inline int enter(struct pt_regs *context) {
  if (!is_recorded())
    return 0;
  u64 cookie = bpf_get_attach_cookie(context);
  struct call *call = place_of(bpf_get_current_pid_tgid());
  if (!call)
    return 0;
  if (call->sp) {
    if (is_inside(context, call, cookie)) {
      note_inner_size(context, call, cookie);
      return 0;
    }
    count(COUNT_ABANDONED);
    restore_block(call);
  }
  u64 bytes = requested_bytes(context, cookie);
#if SAMPLED
  call->is_counted = SIZE_ARGUMENT(cookie) && IS_WANTED(bytes);
  call->is_chosen = call->is_counted && is_chosen(bytes);
  if (!call->is_chosen && CALLS_NO_OTHER(cookie))
    return SKIP_RETURN;
#endif
  call->sp = context->sp;
  call->bytes = bytes;
  call->inner_sp = 0;
  call->return_address = IS_LEFT_BY_RET(cookie) ? return_address(context) : 0;
  call->function = FUNCTION(cookie);
  call->symbol = SYMBOL(cookie);
  call->has_block = 0;
  call->argument = argument(context, BLOCK_ARGUMENT(cookie));
  call->writes_result = !call->argument && RESULT_ARGUMENT(cookie);
  call->is_sized_inside = call->writes_result && !SIZE_ARGUMENT(cookie);
  if (call->argument)
    take_block(call);
  else if (call->writes_result)
    call->argument = argument(context, RESULT_ARGUMENT(cookie));
  return 0;
}

int on_enter(struct pt_regs *context) { return enter(context); }

static __always_inline u64 resulting_block(struct pt_regs *context, struct call *call) {
  if (!call->writes_result)
    return context->ax;
  int result = (int)context->ax;
  bool is_made = call->is_sized_inside ? result >= 0 : !result; /* a length, or an error's number */
  return is_made ? word_at(call->argument) : 0;
}

#if SAMPLED
static __always_inline void uncount(struct call *call) {
  if (call->is_counted)
    uncount_bytes(call->bytes);
}
#endif

static __always_inline void on_refused(struct call *call, u64 bytes) {
  count(COUNT_REFUSED);
  uncount(call);
  if (bytes)
    restore_block(call); /* a realloc that fails leaves the old block as it was */
  else if (call->has_block)
    add_freed(&call->block); /* realloc(block, 0) is a free */
}

/* A block that we believed to live at an address which the allocator has just given out: it was freed by a function that
 * we don't know. */
static __always_inline void forget(u64 address) {
  u64 key = own_address(address);
  struct block *forgotten = may_be_live(address) ? blocks.lookup(&key) : 0;
  if (!forgotten)
    return;
  add_freed(forgotten);
  if (!blocks.delete(&key))
    note_live(address, -1);
}

static __always_inline void keep(u64 address, struct block *block) {
  u64 key = own_address(address);
  bool is_kept = !blocks.insert(&key, block);
  if (!is_kept) {
    forget(address);
    is_kept = !blocks.update(&key, block);
  }
  if (is_kept) {
    note_live(address, 1);
    return;
  }
  count(COUNT_ALLOCATION_MAP_FULL);
  add_freed(block);
}

#if SAMPLED
/* What asprintf asks for is known only now. */
static __always_inline bool is_followed(struct call *call) {
  return call->is_sized_inside ? is_chosen(call->bytes) : call->is_chosen;
}

static __always_inline void weigh(struct block *block) {
  u64 bytes = block->bytes ? block->bytes : 1, estimate = estimated_bytes(bytes);
  block->objects = estimated_objects(bytes, estimate);
  block->bytes = block->bytes ? estimate : 0;
}
#else
#define is_followed(call) true
#define weigh(block)
#endif

/* `caller` is where the call returns to. */
static __always_inline void finish(struct pt_regs *context, struct call *call, u64 caller, struct walk *walk) {
  u64 bytes = call->bytes;
  struct wrapper *wrapper = wrapper_of(caller, call->sp, call->symbol);
  walk->function = call->function;
  if (wrapper) {
    begin_at_wrapper(walk, wrapper);
    if (wrapper->has_bytes)
      bytes = wrapper->bytes;
  }
  u64 address = resulting_block(context, call);
  if (!address) {
    on_refused(call, bytes);
    return;
  }
  if (call->has_block)
    add_freed(&call->block);
  /* Not earlier: until its return, the outermost call keeps those inside it, of another size perhaps, from counting. */
  if (!IS_WANTED(bytes) || !is_followed(call)) {
    forget(address);
    return;
  }
  count(COUNT_EVENTS);
  struct block block = {.bytes = bytes, .born_ns = bpf_ktime_get_ns(), .objects = 1};
  weigh(&block);
  block.stack = add_allocated(context, walk, &block);
  keep(address, &block);
}

/* The outermost call of this thread, if it is the one that leaves here; not one that was entered before the recording, nor
 * one inside of it. At a ret the return address is still on the stack. Malloc and operator new can end in the same function,
 * which both jump to: then only one of them is left by its ret. */
static __always_inline struct call *call_left(struct pt_regs *context) {
  u64 thread = bpf_get_current_pid_tgid(), sp = context->sp;
  struct call *call = calls.lookup(&thread);
  if (!call || call->sp != (call->return_address ? sp : sp - sizeof(u64)))
    return 0;
  return call;
}

/* From the caller of the function that is left. No frame leads to it from a ret. */
static __always_inline struct walk walk_from(struct pt_regs *context, struct call *call) {
  u64 first = context->ip, frame_pointer = context->bp;
  OPAQUE(first);
  OPAQUE(frame_pointer);
  struct walk walk = {.first = first, .frame_pointer = frame_pointer, .top = call->return_address};
  walk.sp = call->sp + sizeof(u64);
  return walk;
}

static __always_inline int leave_function(struct pt_regs *context) {
  struct call *call = is_recorded() ? call_left(context) : 0;
  if (!call)
    return 0;
  struct walk walk = walk_from(context, call);
  finish(context, call, call->return_address ? call->return_address : walk.first, &walk);
  leave(call);
  return 0;
}

/* By a return probe, or at the ret instructions of an operator new. */
int on_return(struct pt_regs *context) { return leave_function(context); }

#if SAMPLED && LINKS_SESSIONS
/* Both, as one program of a session link: where the entry says so, the kernel lets the return alone. */
int on_call(struct pt_regs *context) {
  return context->ip == bpf_get_func_ip(context) ? enter(context) : leave_function(context);
}
#endif

int on_free(struct pt_regs *context) {
  u64 address = FREED_BLOCK(context);
  if (!address || !is_recorded())
    return 0;
  u64 key = own_address(address);
  struct block *live = may_be_live(address) ? blocks.lookup(&key) : 0;
  if (!live) {
    count_unknown_free();
    return 0;
  }
  struct block block = *live;
  if (blocks.delete(&key))
    return 0;
  note_live(address, -1);
  count(COUNT_EVENTS);
  add_freed(&block);
  return 0;
}
