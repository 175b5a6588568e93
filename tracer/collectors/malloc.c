/* Counts memory that the allocator's functions give out and get back: for each stack the bytes and objects allocated,
 * and how many of them were freed again.
 *
 * The stack is taken where the outermost allocator call returns. There the kernel has restored the return address, so
 * the caller is right even when the allocator keeps no frame pointer; calls that the allocator makes to itself
 * (reallocarray to realloc) belong to the outermost one.
 *
 * Operator new gets no return probe: that puts the kernel's trampoline in place of the return address, and an exception
 * can't be unwound through it, so a program that catches bad_alloc would be ended. Instead its entry notes who called,
 * and the malloc that it makes is told apart by where that one returns to. An allocator whose operator new calls no malloc
 * has probes on that function's ret instructions.
 *
 * strdup, getline and their like use the frame pointer for a length when they call malloc. Their entry notes the caller
 * and the frame pointer, and what they allocate gets the stack from there. asprintf makes several blocks and gives back
 * the last: it is a call of its own, of the size that was asked for inside of it.
 *
 * The dynamic linker's call of the debugger's hook tells that a library came, which may have allocators.
 *
 * It cannot see memory that a program takes from the system without these functions, pools carved out of one
 * block, and blocks that were allocated before the recording.
 *
 * Defines: IN_WRAPPER(address), HAS_OPERATOR_NEW, FREED_BLOCK(context), LAST_POSITION, IS_WANTED(bytes), MAX_BLOCKS,
 * MAX_STACKS, MAX_CALLS, and those of target.h and stacks.h.
 */

/* What the probe's cookie says of a function, low byte first: its number, then the position of each argument that
 * matters, counted from 1, 0 for none. tracer/collectors/allocators.py writes it. */
#define FUNCTION(cookie) ((u32)(cookie)&0xff)
#define SIZE_ARGUMENT(cookie) (((u32)(cookie) >> 8) & 0xf)
#define FACTOR_ARGUMENT(cookie) (((u32)(cookie) >> 12) & 0xf)
#define BLOCK_ARGUMENT(cookie) (((u32)(cookie) >> 16) & 0xf)
#define RESULT_ARGUMENT(cookie) (((u32)(cookie) >> 20) & 0xf)
#define SYMBOL(cookie) (((u32)(cookie) >> 24) & 0xff)
#define IS_LEFT_BY_RET(cookie) ((u32)((cookie) >> 32))

#define OVERFLOW (~0ULL)

struct block {
  u64 bytes;
  u64 stack;
  u64 born_ns; /* CLOCK_MONOTONIC */
};

struct call {
  u64 sp; /* of the entry, where the return address lies */
  u64 bytes;
  u64 argument; /* the block that a realloc gets, or where posix_memalign writes its result */
  u32 function;
  u32 has_block; /* the old block of a realloc was ours */
  struct block block;
  u64 caller; /* of the wrapper that made this call, else 0 */
  u64 frame_pointer; /* at the entry of that one, if has_frame_pointer */
  u64 inner_sp; /* of the last call inside of asprintf */
  u64 return_address; /* where no trampoline takes its place, else 0 */
  u32 writes_result;
  u32 symbol;
  u32 has_frame_pointer;
  u32 is_sized_inside; /* by what asprintf asks for */
};

/* A function that takes its block from another one: operator new, strdup, getline. */
struct wrapper {
  u64 sp;
  u64 return_address;
  u64 frame_pointer;
  u64 bytes;
  u32 function;
  u32 symbol;
  u32 has_bytes; /* else those count that it asks for */
};

struct totals {
  u64 allocated_bytes;
  u64 allocated_objects;
  u64 freed_bytes;
  u64 freed_objects;
};

/* The outermost call of each thread. Full: the allocation is not seen, and counted as call_map_full. */
BPF_TABLE("hash", u64, struct call, calls, MAX_CALLS);
/* The last wrapper that each thread entered. What is read was written just before by the same thread, so an LRU
 * map loses nothing here. */
BPF_TABLE("lru_hash", u64, struct wrapper, wrappers, MAX_CALLS);
/* Live blocks by address. Full: the block counts as freed at once, and as allocation_map_full. Never an LRU map: that
 * would drop live blocks in silence. */
BPF_TABLE("hash", u64, struct block, blocks, MAX_BLOCKS);
/* One entry a stack, and one for key 0. It is as large as the stack map and one more, so it is never full first. */
BPF_TABLE("hash", u64, struct totals, totals, MAX_STACKS + 1);

/* When the set of loaded libraries changed, by CLOCK_MONOTONIC. */
BPF_RINGBUF_OUTPUT(loads, 1);

/* Makes LLVM forget where a value came from. It would turn a choice of registers into a computed address in the
 * context, which the verifier refuses, and a test for overflow into a 128-bit product, which BPF doesn't have. */
#define OPAQUE(value) __asm__ volatile("" : "+r"(value))

static __always_inline u64 later_argument(struct pt_regs *context, u32 position) {
#if LAST_POSITION > 3
  u64 fourth = context->cx, fifth = context->r8, sixth = context->r9;
  OPAQUE(fourth);
  OPAQUE(fifth);
  OPAQUE(sixth);
  return position == 4 ? fourth : position == 5 ? fifth : position == 6 ? sixth : 0;
#else
  return 0;
#endif
}

static __always_inline u64 argument(struct pt_regs *context, u32 position) {
  u64 first = context->di, second = context->si, third = context->dx;
  OPAQUE(first);
  OPAQUE(second);
  OPAQUE(third);
  return position == 1   ? first
         : position == 2 ? second
         : position == 3 ? third
                         : later_argument(context, position);
}

static __always_inline u64 requested_bytes(struct pt_regs *context, u64 cookie) {
  u64 bytes = argument(context, SIZE_ARGUMENT(cookie));
  if (!FACTOR_ARGUMENT(cookie))
    return bytes;
  u64 objects = argument(context, FACTOR_ARGUMENT(cookie));
  u64 product = bytes * objects;
  OPAQUE(product);
  if (bytes && product / bytes != objects)
    return OVERFLOW; /* the allocator refuses it; the product must not look like a request for 0 bytes */
  return product;
}

static __always_inline void add_freed(u64 stack, u64 bytes) {
  struct totals *sums = totals.lookup(&stack);
  if (!sums)
    return;
  __sync_fetch_and_add(&sums->freed_bytes, bytes);
  __sync_fetch_and_add(&sums->freed_objects, 1);
}

static __always_inline void add_allocated(u64 stack, u64 bytes) {
  struct totals zero = {};
  struct totals *sums = totals.lookup_or_try_init(&stack, &zero);
  if (!sums)
    return;
  __sync_fetch_and_add(&sums->allocated_bytes, bytes);
  __sync_fetch_and_add(&sums->allocated_objects, 1);
}

static __always_inline u64 word_at(u64 address) {
  u64 word = 0;
  bpf_probe_read_user(&word, sizeof(word), (void *)address);
  return word;
}

static __always_inline u64 return_address(struct pt_regs *context) { return word_at(context->sp); }

/* While a call with a return probe is under way, the kernel keeps its own trampoline, the start of a page, where the
 * return address was. */
static __always_inline bool is_trampoline(u64 address) { return address && !(address & 4095); }

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

int on_enter_wrapper(struct pt_regs *context) {
  if (!is_recorded())
    return 0;
  u64 caller = return_address(context);
  if (IN_WRAPPER(caller))
    return 0; /* one form calls another; the outer one is what the program wrote */
  u64 thread = bpf_get_current_pid_tgid(), cookie = bpf_get_attach_cookie(context);
  struct wrapper *last = wrappers.lookup(&thread);
  /* One form jumps to another: new[] to new. A call site always calls the same form, so this is no later call. */
  if (last && last->sp == context->sp && last->return_address == caller && last->symbol != SYMBOL(cookie))
    return 0;
  struct wrapper entered = {.sp = context->sp, .return_address = caller, .frame_pointer = context->bp};
  entered.bytes = argument(context, SIZE_ARGUMENT(cookie));
  entered.has_bytes = SIZE_ARGUMENT(cookie) != 0;
  entered.function = FUNCTION(cookie);
  entered.symbol = SYMBOL(cookie);
  wrappers.update(&thread, &entered);
  return 0;
}

/* A call that a wrapper makes, or that operator new ends with by a jump, counts as that one's: its name, its caller. */
static __always_inline void credit_wrapper(struct pt_regs *context, u64 thread, struct call *call) {
  u64 caller = return_address(context);
  bool is_inside = IN_WRAPPER(caller);
  if (!is_inside && !HAS_OPERATOR_NEW)
    return;
  struct wrapper *outer = wrappers.lookup(&thread);
  if (!outer)
    return;
  bool is_jump = outer->sp == context->sp && outer->return_address == caller && outer->symbol != call->symbol;
  if (!is_inside && !(is_jump && outer->has_bytes))
    return;
  call->function = outer->function;
  call->caller = outer->return_address;
  if (outer->has_bytes) {
    call->bytes = outer->bytes;
    return;
  }
  call->frame_pointer = outer->frame_pointer;
  call->has_frame_pointer = 1;
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
  if (call->has_block && blocks.update(&call->argument, &call->block)) {
    count(COUNT_ALLOCATION_MAP_FULL);
    add_freed(call->block.stack, call->block.bytes);
  }
}

int on_enter(struct pt_regs *context) {
  if (!is_recorded())
    return 0;
  u64 thread = bpf_get_current_pid_tgid(), cookie = bpf_get_attach_cookie(context);
  struct call *outer = calls.lookup(&thread);
  if (outer) {
    if (is_inside(context, outer, cookie)) {
      note_inner_size(context, outer, cookie);
      return 0;
    }
    count(COUNT_ABANDONED);
    restore_block(outer);
  }
  struct call call = {};
  call.sp = context->sp;
  call.function = FUNCTION(cookie);
  call.symbol = SYMBOL(cookie);
  if (IS_LEFT_BY_RET(cookie))
    call.return_address = return_address(context);
  call.bytes = requested_bytes(context, cookie);
  call.argument = argument(context, BLOCK_ARGUMENT(cookie));
  if (call.argument) {
    struct block *block = blocks.lookup(&call.argument);
    if (block) {
      call.has_block = 1;
      call.block = *block;
      /* Now, not at the return: by then another thread may have been given this address. */
      blocks.delete(&call.argument);
    }
  } else if (RESULT_ARGUMENT(cookie)) {
    call.argument = argument(context, RESULT_ARGUMENT(cookie));
    call.writes_result = 1;
    call.is_sized_inside = !SIZE_ARGUMENT(cookie);
  }
  credit_wrapper(context, thread, &call);
  if (calls.update(&thread, &call)) {
    count(COUNT_CALL_MAP_FULL);
    restore_block(&call);
  }
  return 0;
}

static __always_inline u64 resulting_block(struct pt_regs *context, struct call *call) {
  if (!call->writes_result)
    return context->ax;
  int result = (int)context->ax;
  bool is_made = call->is_sized_inside ? result >= 0 : !result; /* a length, or an error's number */
  return is_made ? word_at(call->argument) : 0;
}

static __always_inline void on_refused(struct call *call) {
  count(COUNT_REFUSED);
  if (call->bytes)
    restore_block(call); /* a realloc that fails leaves the old block as it was */
  else if (call->has_block)
    add_freed(call->block.stack, call->block.bytes); /* realloc(block, 0) is a free */
}

/* The outermost call of this thread, taken out of the map if it is the one that leaves with this stack pointer, and in
 * this way: malloc and operator new can end in the same function, which both jump to. */
static __always_inline bool take_call(u64 sp, bool by_ret, struct call *call) {
  u64 thread = bpf_get_current_pid_tgid();
  struct call *entered = calls.lookup(&thread);
  if (!entered || entered->sp != sp || (by_ret && !entered->return_address))
    return false; /* entered before the recording, or an inner call */
  *call = *entered;
  calls.delete(&thread);
  return true;
}

/* Along frame pointers from where a wrapper was called: inside of it the register has something else. */
static __always_inline u64 wrapper_stack_key(struct call *call) {
  u32 first = 0;
  struct stack *stack = stack_buffer.lookup(&first);
  if (!stack)
    return 0;
  u64 frame[2] = {}, at = call->frame_pointer;
  u32 frames = 1;
  u64 key = mixed(begin_stack(stack, call->function, 0), call->caller);
  stack->frames[0] = call->caller;
  for (u32 i = 1; i < MAX_FRAMES; i++) {
    if (bpf_probe_read_user(frame, sizeof(frame), (void *)at) || !frame[1])
      break;
    stack->frames[i] = frame[1];
    key = mixed(key, frame[1]);
    frames = i + 1;
    if (frame[0] <= at)
      break;
    at = frame[0];
  }
  stack->frame_count = frames;
  return stored_stack(stack, key);
}

static __always_inline u64 key_of_call(struct pt_regs *context, struct call *call) {
  return call->has_frame_pointer ? wrapper_stack_key(call) : stack_key(context, call->function, call->caller);
}

/* A block that we believed to live at an address which the allocator has just given out: it was freed by a function that
 * we don't know. */
static __always_inline void forget(u64 address) {
  struct block *forgotten = blocks.lookup(&address);
  if (!forgotten)
    return;
  add_freed(forgotten->stack, forgotten->bytes);
  blocks.delete(&address);
}

static __always_inline void finish(struct pt_regs *context, struct call *finished) {
  struct call call = *finished;
  u64 address = resulting_block(context, &call);
  if (!address) {
    on_refused(&call);
    return;
  }
  if (call.has_block)
    add_freed(call.block.stack, call.block.bytes);
  /* Not earlier: until its return, the outermost call keeps those inside it, of another size perhaps, from counting. */
  if (!IS_WANTED(call.bytes)) {
    forget(address);
    return;
  }
  count(COUNT_EVENTS);
  struct block block = {.bytes = call.bytes, .stack = key_of_call(context, &call), .born_ns = bpf_ktime_get_ns()};
  add_allocated(block.stack, block.bytes);
  struct block *forgotten = blocks.lookup(&address);
  if (forgotten)
    add_freed(forgotten->stack, forgotten->bytes); /* freed by a function that we don't know */
  if (blocks.update(&address, &block)) {
    count(COUNT_ALLOCATION_MAP_FULL);
    add_freed(block.stack, block.bytes);
  }
}

int on_return(struct pt_regs *context) {
  struct call call;
  if (is_recorded() && take_call(context->sp - 8, false, &call))
    finish(context, &call);
  return 0;
}

/* At a ret of an operator new: no frame leads to its caller. */
int on_ret(struct pt_regs *context) {
  struct call call;
  if (!is_recorded() || !take_call(context->sp, true, &call))
    return 0;
  if (!call.caller)
    call.caller = call.return_address;
  finish(context, &call);
  return 0;
}

int on_free(struct pt_regs *context) {
  u64 address = FREED_BLOCK(context);
  if (!address || !is_recorded())
    return 0;
  struct block *live = blocks.lookup(&address);
  if (!live)
    return 0; /* from before the recording, or given back twice by the C library's own thread cache */
  struct block block = *live;
  if (blocks.delete(&address))
    return 0;
  count(COUNT_EVENTS);
  add_freed(block.stack, block.bytes);
  return 0;
}

int on_load(struct pt_regs *context) {
  u64 now_ns = bpf_ktime_get_ns();
  if (is_recorded())
    loads.ringbuf_output(&now_ns, sizeof(now_ns), 0);
  return 0;
}
