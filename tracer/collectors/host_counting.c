/* Counts by process, over all processes of the host: system calls for memory, page faults, and if asked allocator calls.
 *
 * It cannot see allocators that are linked into a program or loaded after the counting began, and leaves out
 * memflame itself.
 *
 * Defines: OWN_TGID, MAX_PROCESSES.
 */
#include <uapi/linux/ptrace.h>
#include <uapi/linux/bpf_perf_event.h>

#define OTHERS 0 /* no process has this number */

/* tracer/collectors/host_counting.py reads it. */
struct events {
  u64 mallocs;
  u64 frees;
  u64 brk_calls;
  u64 mmap_calls;
  u64 munmap_calls;
  u64 minor_faults;
  u64 major_faults;
};

struct command {
  char name[16];
};

/* Full: what further processes do counts for OTHERS, whose entry is there from the start. */
BPF_TABLE("percpu_hash", u32, struct events, processes, MAX_PROCESSES);
/* Names, for processes that are gone when somebody asks. */
BPF_TABLE("hash", u32, struct command, commands, MAX_PROCESSES);

static __always_inline struct events *events_of(u32 tgid) {
  struct events *known = processes.lookup(&tgid);
  if (known)
    return known;
  struct events none = {};
  u32 others = OTHERS;
  processes.insert(&tgid, &none);
  known = processes.lookup(&tgid);
  return known ? known : processes.lookup(&others);
}

/* Atomic even on its own processor: a thread can be taken off it between reading and writing. `answer` is what the
 * program returns for memflame itself. */
#define COUNT(field, answer)                                                                                           \
  do {                                                                                                                 \
    u32 tgid = bpf_get_current_pid_tgid() >> 32;                                                                       \
    if (tgid == OWN_TGID)                                                                                              \
      return answer;                                                                                                   \
    struct events *sums = events_of(tgid);                                                                             \
    if (sums)                                                                                                          \
      __sync_fetch_and_add(&sums->field, 1);                                                                           \
  } while (0)

/* A program calls brk when it starts, so this one comes after exec has given the process its name. */
static __always_inline void note_command(void) {
  u32 tgid = bpf_get_current_pid_tgid() >> 32;
  struct command command = {};
  bpf_get_current_comm(command.name, sizeof(command.name));
  commands.update(&tgid, &command);
}

int on_allocation(struct pt_regs *context) {
  COUNT(mallocs, 0);
  return 0;
}

int on_free(struct pt_regs *context) {
  COUNT(frees, 0);
  return 0;
}

int on_minor_fault(struct bpf_perf_event_data *context) {
  COUNT(minor_faults, 0);
  return 0;
}

int on_major_fault(struct bpf_perf_event_data *context) {
  COUNT(major_faults, 0);
  return 0;
}

TRACEPOINT_PROBE(syscalls, sys_enter_brk) {
  COUNT(brk_calls, PASS_ON);
  note_command();
  return PASS_ON;
}

TRACEPOINT_PROBE(syscalls, sys_enter_mmap) {
  COUNT(mmap_calls, PASS_ON);
  return PASS_ON;
}

TRACEPOINT_PROBE(syscalls, sys_enter_mremap) {
  COUNT(mmap_calls, PASS_ON);
  return PASS_ON;
}

TRACEPOINT_PROBE(syscalls, sys_enter_munmap) {
  COUNT(munmap_calls, PASS_ON);
  return PASS_ON;
}
