/* What every collector starts with: whose events count, from when on, and how many there were;
 * and a read of the target's memory.
 *
 * One process is told by its tgid alone. Where there are several, or their children count as well, the map
 * image_by_tgid says which processes and what each of them runs: images.h.
 *
 * Defines: TARGET_TGID or those of images.h; COUNTER_COUNT, and a COUNT_… for each counter.
 */
#include <uapi/linux/ptrace.h>

/* 1 from the moment all probes are placed: what happened while they were being placed is not counted. */
BPF_ARRAY(recording, u32, 1);
BPF_PERCPU_ARRAY(counters, u64, COUNTER_COUNT);

static __always_inline void count(u32 counter) {
  u64 *value = counters.lookup(&counter);
  if (value)
    *value += 1;
}

static __always_inline bool is_on(void) {
  u32 first = 0;
  u32 *on = recording.lookup(&first);
  return on && *on;
}

#ifdef TARGET_TGID
/* A forked child has its own tgid, so what it does with the memory it inherited stays out. */
static __always_inline bool is_recorded(void) {
  return (u32)(bpf_get_current_pid_tgid() >> 32) == TARGET_TGID && is_on();
}

static __always_inline u32 current_image(void) { return 0; }
static __always_inline u64 in_image(u32 image, u64 address) { return address; }
static __always_inline u64 own_address(u64 address) { return address; }
#endif

/* Makes LLVM forget where a value came from. It would turn a choice of registers into a computed address in the
 * context, which the verifier refuses, and a test for overflow into a 128-bit product, which BPF doesn't have. */
#define OPAQUE(value) __asm__ volatile("" : "+r"(value))

static __always_inline u64 word_at(u64 address) {
  u64 word = 0;
  bpf_probe_read_user(&word, sizeof(word), (void *)address);
  return word;
}
