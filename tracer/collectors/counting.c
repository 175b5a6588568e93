/* Counts allocator calls by function, and calls of brk, mmap, mremap and munmap, of one process.
 *
 * It keeps as little as it can: a probe costs the trap whatever it does, so it should do little more. It cannot see what
 * happens to a block, nor where a call came from beyond the address that it returns to.
 *
 * Defines: TARGET_TGID, FUNCTION_COUNT, MAX_CALLERS, COUNTER_COUNT and a COUNT_… for each counter.
 */

/* What the probe's cookie says of a function: its number here, then the positions of size and factor.
 * tracer/collectors/counting.py writes it. */
#define NUMBER(cookie) ((u32)(cookie) >> 8)
#define SIZE_ARGUMENT(cookie) ((u32)(cookie)&0xf)
#define FACTOR_ARGUMENT(cookie) (((u32)(cookie) >> 4) & 0xf)

/* A request for more than there are addresses is a failing one: it says nothing of how fast the program allocates. */
#define ADDRESSES (1ULL << 47)

struct calls {
  u64 calls;
  u64 bytes;
};

BPF_PERCPU_ARRAY(functions, struct calls, FUNCTION_COUNT);
BPF_PERCPU_ARRAY(counters, u64, COUNTER_COUNT);
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

static __always_inline u64 requested_bytes(struct pt_regs *context, u64 cookie) {
  u64 bytes = argument(context, SIZE_ARGUMENT(cookie));
  return FACTOR_ARGUMENT(cookie) ? bytes * argument(context, FACTOR_ARGUMENT(cookie)) : bytes;
}

static __always_inline void note_caller(struct pt_regs *context) {
  u64 caller = 0;
  u32 one = 1;
  bpf_probe_read_user(&caller, sizeof(caller), (void *)context->sp);
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

static __always_inline int count(u32 counter) {
  if ((u32)(bpf_get_current_pid_tgid() >> 32) != TARGET_TGID)
    return 0;
  u64 *value = counters.lookup(&counter);
  if (value)
    __sync_fetch_and_add(value, 1);
  return 0;
}

TRACEPOINT_PROBE(syscalls, sys_enter_brk) { return count(COUNT_BRK); }

TRACEPOINT_PROBE(syscalls, sys_enter_mmap) { return count(COUNT_MMAP); }

TRACEPOINT_PROBE(syscalls, sys_enter_mremap) { return count(COUNT_MMAP); }

TRACEPOINT_PROBE(syscalls, sys_enter_munmap) { return count(COUNT_MUNMAP); }
