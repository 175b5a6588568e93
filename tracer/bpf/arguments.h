/* Arguments of the function that a probe is in, by position, counted from 1. */
#include <uapi/linux/ptrace.h>

/* Makes LLVM forget where a value came from: it would turn a choice of registers into a computed address in the
 * context, which the verifier refuses. */
#define OPAQUE(value) __asm__ volatile("" : "+r"(value))

static __always_inline u64 argument(struct pt_regs *context, u32 position) {
  u64 first = context->di, second = context->si, third = context->dx;
  OPAQUE(first);
  OPAQUE(second);
  OPAQUE(third);
  return position == 1 ? first : position == 2 ? second : position == 3 ? third : 0;
}
