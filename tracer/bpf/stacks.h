/* Stacks under a key of our own: 64 bits mixed over all frames.
 *
 * The kernel's stack ids are not used: with thousands of stacks they collide, and then a stack is lost or billed to
 * another one. When the map is full, the event is counted as lost and its values go to key 0, so totals stay true.
 *
 * Defines: MAX_STACKS, MAX_FRAMES.
 */
struct stack {
  u32 frame_count;
  u16 function; /* what the collector calls the leaf */
  u16 image;    /* in which the addresses mean something, part of the key; 0 where there is one process */
  u64 top;      /* a return address that the walk may have missed, else 0; part of the key */
  u64 frames[MAX_FRAMES];
};

BPF_TABLE("hash", u64, struct stack, stacks, MAX_STACKS);
BPF_TABLE("hash", u32, u64, failures, 64); /* error number of the kernel's walk: how often; there are few of them */
BPF_PERCPU_ARRAY(stack_buffer, struct stack, 1); /* a stack is too large for the 512 bytes a program has */

static __always_inline u64 mixed(u64 hash, u64 word) {
  hash ^= word;
  hash *= 0xff51afd7ed558ccdULL; /* the odd constant of MurmurHash3's finalizer */
  return hash ^ (hash >> 32);
}

/* The key to begin with; each frame is mixed into it. */
static __always_inline u64 begin_stack(struct stack *stack, u32 function, u64 top) {
  stack->function = function;
  stack->image = current_image();
  stack->top = top;
  return mixed(mixed(mixed(0x9e3779b97f4a7c15ULL, stack->image), function), top);
}

/* The key under which a stack is stored, now if it is new; 0 when there is no room for it. */
static __always_inline u64 stored_stack(struct stack *stack, u64 key) {
  if (!key)
    key = 1;
  if (stacks.lookup(&key))
    return key;
  int failed = stacks.insert(&key, stack);
  if (failed && failed != -17 /* another processor was first */) {
    count(COUNT_STACK_MAP_FULL);
    return 0;
  }
  return key;
}

/* Key of the current user stack as the kernel walks it, left in `stack`. */
static __always_inline u64 kernel_walk_key(void *context, struct stack *stack, u32 function, u64 top) {
  int bytes = bpf_get_stack(context, stack->frames, sizeof(stack->frames), BPF_F_USER_STACK);
  if (bytes <= 0) {
    count(COUNT_FAILED_STACK);
    u32 error = -bytes;
    failures.atomic_increment(error);
    bytes = 0;
  }
  stack->frame_count = bytes / sizeof(u64);
  u64 key = begin_stack(stack, function, top);
  for (u32 i = 0; i < MAX_FRAMES; i++) {
    if (i >= stack->frame_count)
      break;
    key = mixed(key, stack->frames[i]);
  }
  return key;
}

/* Key of the current user stack. */
static __always_inline u64 stack_key(void *context, u32 function, u64 top) {
  u32 first = 0;
  struct stack *stack = stack_buffer.lookup(&first);
  if (!stack)
    return 0;
  return stored_stack(stack, kernel_walk_key(context, stack, function, top));
}
