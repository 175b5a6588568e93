/* A user stack along its frame pointers, read a piece at a time.
 *
 * The kernel's own walk reads two words a frame, 100 ns where reading user memory is dear; a piece that holds ten frames
 * costs as much as three of them.
 *
 * It sees the return addresses as they are in memory, also the trampoline that a return probe puts in place of one. The
 * kernel's walk knows what was there (from 6.11 on), so it is asked when an address looks like a trampoline.
 *
 * Another thread can come in between on a kernel that preempts itself and use this processor's buffers. Then the stack
 * counts as failed, and its values go to key 0.
 *
 * Defines: those of stacks.h.
 */
#define PIECE_BYTES 1024
#define LOWEST_ADDRESS 65536 /* of a stack. The outermost frame pointer is 0: to read there is a fault of 1 µs. */
#define FRAME_BYTES 16 /* the frame pointer of the caller, and the return address */

struct piece {
  u64 thread; /* whose it is */
  u64 begin;  /* address of the first byte */
  u64 last;   /* where the last whole frame lies in it */
  u8 bytes[PIECE_BYTES];
};

BPF_PERCPU_ARRAY(pieces, struct piece, 1);

/* While a call with a return probe is under way, the kernel keeps its own trampoline, the start of a page, where the
 * return address was. */
static __always_inline bool is_trampoline(u64 address) { return address && !(address & 4095); }

/* A piece from `address` on; near the end of what is mapped just the frame there. */
static __always_inline bool read_piece(struct piece *piece, u64 address) {
  piece->begin = address;
  piece->last = PIECE_BYTES - FRAME_BYTES;
  if (!bpf_probe_read_user(piece->bytes, PIECE_BYTES, (void *)address))
    return true;
  piece->last = 0;
  return !bpf_probe_read_user(piece->bytes, FRAME_BYTES, (void *)address);
}

/* Where a walk begins. */
struct walk {
  u32 function;
  u64 top;           /* as in struct stack */
  u64 first;         /* address in the innermost function */
  u64 sp;            /* in that function */
  u64 frame_pointer;
};

/* Key of a stack, left in this processor's buffer; 0 if it has to be walked by the kernel. */
static __always_inline u64 walked_key(struct walk *walk, struct stack *stack, struct piece *piece) {
  u64 at = walk->frame_pointer;
  u64 key = mixed(begin_stack(stack, walk->function, walk->top), walk->first);
  bool has_trampoline = false;
  u32 frames = 1;
  stack->frames[0] = walk->first;
  for (u32 i = 1; i < MAX_FRAMES; i++) {
    if (at < LOWEST_ADDRESS || (at - piece->begin > piece->last && !read_piece(piece, at)))
      break;
    u64 offset = at - piece->begin;
    if (offset > PIECE_BYTES - FRAME_BYTES)
      break;
    u64 *frame = (u64 *)(piece->bytes + offset);
    if (!frame[1])
      break;
    stack->frames[i] = frame[1];
    key = mixed(key, frame[1]);
    has_trampoline |= is_trampoline(frame[1]);
    frames = i + 1;
    at = frame[0];
  }
  stack->frame_count = frames;
  return has_trampoline ? 0 : key ? key : 1;
}

/* This processor's piece, for a walk that begins at an address: it is read from there. */
static __always_inline struct piece *piece_at(u64 address) {
  u32 first = 0;
  struct piece *piece = pieces.lookup(&first);
  if (!piece)
    return 0;
  piece->thread = bpf_get_current_pid_tgid();
  return read_piece(piece, address) ? piece : 0;
}

static __always_inline u64 failed_stack(u32 error) {
  count(COUNT_FAILED_STACK);
  failures.atomic_increment(error);
  return 0;
}

/* Key of a stack, which is in `stack` then; 0 if it failed. */
static __always_inline u64 user_stack_key(void *context, struct walk *walk, struct stack *stack) {
  struct piece *piece = piece_at(walk->sp);
  if (!piece)
    return failed_stack(14 /* EFAULT */);
  u64 key = walked_key(walk, stack, piece);
  if (!key)
    return kernel_walk_key(context, stack, walk->function, walk->top);
  return piece->thread == bpf_get_current_pid_tgid() ? key : failed_stack(16 /* EBUSY */);
}
