/* Walks along frame pointers, and by learned steps where code keeps none, that user space judges.
 *
 * Where the frame pointer is a general register, a walk along it leads nowhere, and may look like a stack all the same. So
 * a walk is only believed once an unwinding of a copy of the same stack agreed with it. If it doesn't agree, user space
 * tells where this code keeps the return address and the caller's frame pointer, and the next walk steps there.
 * tracer/collectors/judged_walks.py is the other side. Copies are sent within a budget.
 *
 * Defines: COPIES_A_SECOND, MAX_STACKS, and those of frame_walk.h.
 */
#define SECOND_NS 1000000000ULL

/* Where a walk begins. */
struct place {
  u64 address;
  u64 sp;
  u64 bp;
};

/* What user space found of a walk; it writes the first two fields. */
struct verdict {
  u32 is_right;
  u32 is_wrong;
  u64 copies;
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

/* By the key of the walk. */
BPF_TABLE("hash", u64, struct verdict, verdicts, MAX_STACKS + 1);
/* How to leave a function that keeps no frame pointer, by an address in it (own_address). Full: walks stay wrong there. */
BPF_TABLE("hash", u64, struct step, steps, MAX_STACKS);
/* Instructions from which no walk is right, as own_address. */
BPF_TABLE("hash", u64, u32, unwalkable, MAX_STACKS);
BPF_TABLE("array", u32, struct second, seconds, 1);

/* 1 or 0, of numbers below 1 << 63, without a branch: the verifier would follow each one anew for every word of a stack. */
static __always_inline u64 are_equal(u64 some, u64 others) {
  u64 difference = some ^ others;
  OPAQUE(difference);
  return (difference - 1) >> 63;
}

/* Whether the bytes before an address are a call instruction of x86_64: e8 with an offset, or ff /2 in its lengths. */
static __always_inline u64 follows_call(u64 address) {
  u64 code = word_at(address - 8); /* the last byte is the highest */
  return are_equal(code >> 24 & 0xff, 0xe8) | are_equal(code >> 48 & 0x38ff, 0x10ff) | are_equal(code >> 40 & 0x38ff, 0x10ff) |
         are_equal(code >> 32 & 0xffff, 0x54ff) | are_equal(code >> 16 & 0x38ff, 0x10ff) |
         are_equal(code >> 8 & 0xffff, 0x94ff);
}

/* memset, memcpy and the wrappers of system calls keep no frame: then the word at the stack pointer is the return address
 * that a walk along frame pointers misses. Whether it is that, the unwinding tells. */
static __always_inline u64 top_of_stack(u64 sp) {
  u64 top = word_at(sp);
  return follows_call(top) ? top : 0;
}

/* A frame pointer and the return address behind it. */
static __always_inline bool read_frame(struct piece *piece, u64 address, u64 *frame) {
  u64 offset = address - piece->begin;
  if (offset > piece->last) {
    offset = 0;
    if (!read_piece(piece, address))
      return false;
  }
  if (offset > PIECE_BYTES - FRAME_BYTES)
    return false; /* never: the verifier must see it */
  frame[0] = *(u64 *)(piece->bytes + offset);
  frame[1] = *(u64 *)(piece->bytes + offset + sizeof(u64));
  return frame[1] != 0;
}

/* The frames of a stack that has a key begun; gives its key. `piece` is read. */
static __always_inline u64 walk(struct stack *stack, struct piece *piece, u64 key, struct place place) {
  u32 frames = 1, image = current_image();
  stack->frames[0] = place.address;
  key = mixed(key, place.address);
  for (u32 i = 1; i < MAX_FRAMES; i++) {
    u64 code = in_image(image, place.address);
    struct step *step = steps.lookup(&code);
    u64 at = step ? place.sp + step->return_address : place.bp + 8;
    u64 frame[2] = {};
    if (at < place.sp || !read_frame(piece, at - 8, frame))
      break;
    if (!step)
      place.bp = frame[0];
    else if (step->frame_pointer >= 0)
      place.bp = word_at(place.sp + step->frame_pointer);
    place.address = frame[1];
    stack->frames[i] = place.address;
    key = mixed(key, place.address);
    frames = i + 1;
    place.sp = at + 8;
  }
  stack->frame_count = frames;
  return key;
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
