/* Calls of allocator functions: their arguments, and which function a program called when one calls another.
 *
 * Operator new gets no return probe: that puts the kernel's trampoline in place of the return address, and an exception
 * can't be unwound through it, so a program that catches bad_alloc would be ended. Instead its entry notes who called,
 * and the malloc that it makes is told apart by where that one returns to.
 *
 * strdup, getline and their like use the frame pointer for a length when they call malloc. Their entry notes the caller
 * and the frame pointer, and what they allocate gets the stack from there.
 *
 * Defines: IN_WRAPPER(address), HAS_OPERATOR_NEW, LAST_POSITION, SAMPLED, MAX_CALLS, and those of target.h
 * and frame_walk.h, and if SAMPLED of sampling.h.
 */

/* What the probe's cookie says of a function, low byte first: its number, then the position of each argument that
 * matters, counted from 1, 0 for none. tracer/collectors/allocators.py writes it. */
#define FUNCTION(cookie) ((u32)(cookie)&0xff)
#define SIZE_ARGUMENT(cookie) (((u32)(cookie) >> 8) & 0xf)
#define FACTOR_ARGUMENT(cookie) (((u32)(cookie) >> 12) & 0xf)
#define BLOCK_ARGUMENT(cookie) (((u32)(cookie) >> 16) & 0xf)
#define RESULT_ARGUMENT(cookie) (((u32)(cookie) >> 20) & 0xf)
#define SYMBOL(cookie) (((u32)(cookie) >> 24) & 0xff)
#define IS_LEFT_BY_RET(cookie) ((u32)((cookie) >> 32) & 1)

#define OVERFLOW (~0ULL)

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

/* The last wrapper that each thread entered. What is read was written just before by the same thread, so an LRU
 * map loses nothing here. */
BPF_TABLE("lru_hash", u64, struct wrapper, wrappers, MAX_CALLS);

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

static __always_inline u64 return_address(struct pt_regs *context) { return word_at(context->sp); }

int on_enter_wrapper(struct pt_regs *context) {
  if (!is_recorded())
    return 0;
  u64 thread = bpf_get_current_pid_tgid(), cookie = bpf_get_attach_cookie(context);
#if SAMPLED
  /* If its malloc comes to be chosen all the same, as the thread moved to another processor, its caller is as without this. */
  if (SIZE_ARGUMENT(cookie) && !is_due(argument(context, SIZE_ARGUMENT(cookie))))
    return 0;
#endif
  u64 caller = return_address(context);
  if (IN_WRAPPER(caller))
    return 0; /* one form calls another; the outer one is what the program wrote */
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

/* The wrapper that made a call, or that ended with it by a jump as operator new can: what it allocates counts as that
 * one's, by its name and its caller. `sp` is that of the call's entry. */
static __always_inline struct wrapper *wrapper_of(u64 caller, u64 sp, u32 symbol) {
  bool is_inside = IN_WRAPPER(caller);
  if (!is_inside && !HAS_OPERATOR_NEW)
    return 0;
  u64 thread = bpf_get_current_pid_tgid();
  struct wrapper *outer = wrappers.lookup(&thread);
#if SAMPLED
  if (outer && word_at(outer->sp) != outer->return_address)
    return 0; /* an earlier one */
#endif
  if (!outer || is_inside)
    return outer;
  bool is_jump = outer->sp == sp && outer->return_address == caller && outer->symbol != symbol;
  return is_jump && outer->has_bytes ? outer : 0;
}

/* The walk from where a wrapper was called. Inside of operator new, which keeps the frame pointer or has a frame, the walk
 * along frame pointers begins where it is; inside of strdup the register has something else. */
static __always_inline void begin_at_wrapper(struct walk *walk, struct wrapper *wrapper) {
  walk->function = wrapper->function;
  walk->top = wrapper->return_address;
  walk->sp = wrapper->sp + sizeof(u64);
  if (UNWINDS || !wrapper->has_bytes)
    walk->frame_pointer = wrapper->frame_pointer;
  if (!wrapper->has_bytes) {
    walk->first = wrapper->return_address;
    walk->top = 0;
  }
}
