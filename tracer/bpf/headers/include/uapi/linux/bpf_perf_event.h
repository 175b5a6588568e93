/* The context of a program on a perf event. */
#pragma once

#include <uapi/linux/ptrace.h>

struct bpf_perf_event_data {
  struct pt_regs regs;
  __u64 sample_period;
  __u64 addr;
};
