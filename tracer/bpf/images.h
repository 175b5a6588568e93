/* Several processes, and the children that they fork, each with a number for what it runs: an image.
 *
 * A fork and an exec begin a new image: addresses mean the same within one image only, and the blocks that a child inherits
 * are not the parent's. The child of a vfork has its parent's image until it execs, since it works on the parent's memory.
 * User space writes the first images and reads the others by their numbers.
 *
 * Defines: MAX_PROCESSES, MAX_IMAGES, FOLLOWS_CHILDREN, and offsets from the kernel's type information: TASK_TGID, TASK_MM,
 * TASK_STARTED, TASK_SIGNAL, SIGNAL_LIVE.
 */
#ifndef TARGET_TGID
#define GIVEN_NUMBERS 0
#define NOT_FOLLOWED 1

/* tracer/collectors/images.py reads and writes it. */
struct image {
  u64 started_ns; /* the process, since boot; 0: not written yet */
  u32 tgid;
  u32 parent; /* the image from which it was forked, or which called exec */
  u32 is_exec;
  char command[16];
};

/* What each process runs. Full: a child is not followed, and counted as that. */
BPF_TABLE("hash", u32, u32, image_by_tgid, MAX_PROCESSES);
BPF_TABLE("array", u32, struct image, images, MAX_IMAGES);
BPF_TABLE("array", u32, u64, image_counts, 2);

static __always_inline u32 current_tgid(void) { return bpf_get_current_pid_tgid() >> 32; }

static __always_inline bool is_recorded(void) {
  u32 tgid = current_tgid();
  return image_by_tgid.lookup(&tgid) && is_on();
}

static __always_inline u32 current_image(void) {
  u32 tgid = current_tgid();
  u32 *image = image_by_tgid.lookup(&tgid);
  return image ? *image : 0;
}

/* User space has addresses below 1 << 47 unless a program asks mmap for higher ones, which no allocator does. */
static __always_inline u64 in_image(u32 image, u64 address) { return (u64)image << 48 | address; }

/* A key for an address of the current process, unlike that of the same address in any other. */
static __always_inline u64 own_address(u64 address) { return in_image(current_image(), address); }

static __always_inline u64 kernel_word(const char *place) {
  u64 word = 0;
  bpf_probe_read_kernel(&word, sizeof(word), place);
  return word;
}

static __always_inline u32 kernel_half(const char *place) {
  u32 half = 0;
  bpf_probe_read_kernel(&half, sizeof(half), place);
  return half;
}

static __always_inline void note_not_followed(u32 tgid) {
  u32 which = NOT_FOLLOWED;
  u64 *missed = image_counts.lookup(&which);
  if (missed)
    __sync_fetch_and_add(missed, 1);
  image_by_tgid.delete(&tgid);
}

static __always_inline void begin_image(const char *task, u32 tgid, u32 parent, u32 is_exec) {
  u32 which = GIVEN_NUMBERS;
  u64 *given = image_counts.lookup(&which);
  u32 number = given ? __sync_fetch_and_add(given, 1) : MAX_IMAGES;
  struct image *image = images.lookup(&number);
  if (!image || image_by_tgid.update(&tgid, &number)) {
    note_not_followed(tgid);
    return;
  }
  image->tgid = tgid;
  image->parent = parent;
  image->is_exec = is_exec;
  bpf_get_current_comm(&image->command, sizeof(image->command));
  image->started_ns = kernel_word(task + TASK_STARTED);
}

#if FOLLOWS_CHILDREN
RAW_TRACEPOINT_PROBE(sched_process_fork) {
  const char *parent = (const char *)ctx->args[0], *child = (const char *)ctx->args[1];
  u32 tgid = current_tgid(), child_tgid = kernel_half(child + TASK_TGID);
  u32 *image = image_by_tgid.lookup(&tgid);
  if (!image || child_tgid == tgid)
    return 0; /* not ours, or a new thread */
  u32 number = *image;
  if (kernel_word(parent + TASK_MM) != kernel_word(child + TASK_MM))
    begin_image(child, child_tgid, number, 0);
  else if (image_by_tgid.update(&child_tgid, &number))
    note_not_followed(child_tgid);
  return 0;
}
#endif

RAW_TRACEPOINT_PROBE(sched_process_exec) {
  u32 tgid = current_tgid();
  u32 *image = image_by_tgid.lookup(&tgid);
  if (image)
    begin_image((const char *)ctx->args[0], tgid, *image, 1);
  return 0;
}

/* Of each thread; the process has ended when none is left. */
RAW_TRACEPOINT_PROBE(sched_process_exit) {
  u32 tgid = current_tgid();
  const char *signal = (const char *)kernel_word((const char *)ctx->args[0] + TASK_SIGNAL);
  if (image_by_tgid.lookup(&tgid) && !kernel_half(signal + SIGNAL_LIVE))
    image_by_tgid.delete(&tgid);
  return 0;
}
#endif
