/* Which function a program called when one allocator function calls another.
 *
 * Operator new gets no return probe: that puts the kernel's trampoline in place of the return address, and an exception
 * can't be unwound through it, so a program that catches bad_alloc would be ended. Instead its entry notes who called,
 * and the malloc that it makes is told apart by where that one returns to.
 *
 * strdup, getline and their like use the frame pointer for a length when they call malloc. Their entry notes the caller
 * and the frame pointer, and what they allocate gets the stack from there.
 *
 * Defines: IN_WRAPPER(address), HAS_OPERATOR_NEW, SAMPLED, MAX_CALLS, and those of allocator_arguments.h, target.h and
 * frame_walk.h, and if SAMPLED of sampling.h.
 */

/* A function that takes its block from another one: operator new, strdup, getline. */
struct wrapper {
  u64 sp;
  u64 return_address;
  u64 frame_pointer;
  u64 bytes;
  u32 function;
  u32 symbol;
  u32 has_bytes; /* else those count that it asks for */
  u64 code; /* where its probe is, near its start */
  u64 code_bytes;
  u64 inner_code; /* of the form that it called or jumped to last */
  u64 inner_code_bytes;
};

/* The last wrapper that each thread entered. What is read was written just before by the same thread, so an LRU
 * map loses nothing here. */
BPF_TABLE("lru_hash", u64, struct wrapper, wrappers, MAX_CALLS);

/* Where the processes are several, IN_WRAPPER can't be told before: each has the function at another address. */
static __always_inline bool is_in_last_wrapper(u64 address) {
  u64 thread = bpf_get_current_pid_tgid();
  struct wrapper *last = wrappers.lookup(&thread);
  if (!last)
    return false;
  return address - last->code < last->code_bytes || address - last->inner_code < last->inner_code_bytes;
}

/* One form calls or jumps to another: the outer one is what the program wrote. */
static __always_inline void enter_inner_wrapper(struct pt_regs *context, struct wrapper *outer) {
  if (!outer)
    return;
  outer->inner_code = context->ip;
  outer->inner_code_bytes = CODE_BYTES(bpf_get_attach_cookie(context));
}

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
  struct wrapper *last = wrappers.lookup(&thread);
  bool is_called = IN_WRAPPER(caller);
  /* A call site always calls the same form, so this is no later call. */
  bool is_jump = last && last->sp == context->sp && last->return_address == caller && last->symbol != SYMBOL(cookie);
  if (is_called || is_jump) {
    enter_inner_wrapper(context, last);
    return 0;
  }
  struct wrapper entered = {.sp = context->sp, .return_address = caller, .frame_pointer = context->bp};
  entered.bytes = argument(context, SIZE_ARGUMENT(cookie));
  entered.has_bytes = SIZE_ARGUMENT(cookie) != 0;
  entered.function = FUNCTION(cookie);
  entered.symbol = SYMBOL(cookie);
  entered.code = context->ip;
  entered.code_bytes = CODE_BYTES(cookie);
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
