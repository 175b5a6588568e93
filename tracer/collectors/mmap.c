/* Sends each mmap(), munmap() and mremap() that succeeded; what they add up to is worked out outside the kernel.
 *
 * It cannot see shmat(), the heap that brk() moves, what the kernel maps when a program starts, and the unmapping
 * that exit and exec do.
 *
 * Defines: those of syscall_events.h.
 */

#define IS_ERROR(result) ((unsigned long)(result) >= (unsigned long)-4095)

TRACEPOINT_PROBE(syscalls, sys_enter_mmap) {
  if (!is_recorded())
    return PASS_ON;
  struct entered entered = {.call = args->__syscall_nr};
  entered.arguments[0] = args->addr;
  entered.arguments[1] = args->len;
  entered.arguments[2] = args->prot;
  entered.arguments[3] = args->flags;
  enter(&entered);
  return PASS_ON;
}

TRACEPOINT_PROBE(syscalls, sys_exit_mmap) {
  struct entered entered;
  if (is_recorded() && take_entered(&entered) && !IS_ERROR(args->ret))
    send_with_stack(&entered, args->ret);
  return PASS_ON;
}

TRACEPOINT_PROBE(syscalls, sys_enter_mremap) {
  if (!is_recorded())
    return PASS_ON;
  struct entered entered = {.call = args->__syscall_nr};
  entered.arguments[0] = args->addr;
  entered.arguments[1] = args->old_len;
  entered.arguments[2] = args->new_len;
  entered.arguments[3] = args->flags;
  enter(&entered);
  return PASS_ON;
}

TRACEPOINT_PROBE(syscalls, sys_exit_mremap) {
  struct entered entered;
  if (is_recorded() && take_entered(&entered) && !IS_ERROR(args->ret))
    send_with_stack(&entered, args->ret);
  return PASS_ON;
}

TRACEPOINT_PROBE(syscalls, sys_enter_munmap) {
  if (!is_recorded())
    return PASS_ON;
  struct entered entered = {.call = args->__syscall_nr};
  entered.arguments[0] = args->addr;
  entered.arguments[1] = args->len;
  enter(&entered);
  return PASS_ON;
}

TRACEPOINT_PROBE(syscalls, sys_exit_munmap) {
  struct entered entered;
  if (is_recorded() && take_entered(&entered) && !IS_ERROR(args->ret))
    send_plain(&entered, args->ret);
  return PASS_ON;
}
