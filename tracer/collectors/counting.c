/* Counts allocator calls by function, and calls of brk, mmap, mremap and munmap, of one process.
 *
 * It keeps as little as it can: a probe costs the trap whatever it does, so it should do little more. It cannot see what
 * happens to a block, nor where a call came from beyond the address that it returns to.
 *
 * Defines: FUNCTION_COUNT, MAX_CALLERS, and those of target.h and allocator_arguments.h.
 */

/* Of the function, in its cookie above where the arguments are. tracer/collectors/counting_probes.py writes it. */
#define NUMBER(cookie) ((u32)((cookie) >> 32))

/* A request for more than there are addresses is a failing one: it says nothing of how fast the program allocates. */
#define ADDRESSES (1ULL << 47)

struct calls {
  u64 calls;
  u64 bytes;
};

BPF_PERCPU_ARRAY(functions, struct calls, FUNCTION_COUNT);
/* Where allocations return to. Full: new ones are not noted, so it then says "so many at least". */
BPF_TABLE("hash", u64, u32, callers, MAX_CALLERS);

/* Atomic even on its own processor: a thread can be taken off it between reading and writing. */
static __always_inline void add(u32 number, u64 bytes) {
  struct calls *sums = functions.lookup(&number);
  if (!sums)
    return;
  __sync_fetch_and_add(&sums->calls, 1);
  if (bytes && bytes < ADDRESSES)
    __sync_fetch_and_add(&sums->bytes, bytes);
}

static __always_inline void note_caller(struct pt_regs *context) {
  u64 caller = return_address(context);
  u32 one = 1;
  if (!callers.lookup(&caller))
    callers.insert(&caller, &one);
}

/* The link lets through the target's calls only, so whose they are is not asked again. */
int on_allocation(struct pt_regs *context) {
  u64 cookie = bpf_get_attach_cookie(context);
  add(NUMBER(cookie), requested_bytes(context, cookie));
  note_caller(context);
  return 0;
}

int on_free(struct pt_regs *context) {
  add(NUMBER(bpf_get_attach_cookie(context)), 0);
  return 0;
}

static __always_inline int count_recorded(u32 counter) {
  if (is_recorded())
    count(counter);
  return PASS_ON;
}

TRACEPOINT_PROBE(syscalls, sys_enter_brk) { return count_recorded(COUNT_BRK); }

TRACEPOINT_PROBE(syscalls, sys_enter_mmap) { return count_recorded(COUNT_MMAP); }

TRACEPOINT_PROBE(syscalls, sys_enter_mremap) { return count_recorded(COUNT_MMAP); }

TRACEPOINT_PROBE(syscalls, sys_enter_munmap) { return count_recorded(COUNT_MUNMAP); }
