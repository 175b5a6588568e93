/* Counts calls of brk() and by how much each one moved the end of the heap.
 *
 * The end before the call is in neither tracepoint, so it is read from the process's memory descriptor, whose layout
 * comes from BTF. It cannot see heaps that are mapped: threads' arenas and large blocks are mmap()'s.
 *
 * Defines: TASK_MM, MM_BRK (offsets), and those of syscall_events.h.
 */

static __always_inline u64 current_break(void) {
  char *task = (char *)bpf_get_current_task();
  char *mm = NULL;
  u64 end = 0;
  bpf_probe_read_kernel(&mm, sizeof(mm), task + TASK_MM);
  bpf_probe_read_kernel(&end, sizeof(end), mm + MM_BRK);
  return end;
}

TRACEPOINT_PROBE(syscalls, sys_enter_brk) {
  if (!is_recorded())
    return PASS_ON;
  struct entered entered = {.call = args->__syscall_nr, .previous = current_break()};
  entered.arguments[0] = args->brk;
  enter(&entered);
  return PASS_ON;
}

TRACEPOINT_PROBE(syscalls, sys_exit_brk) {
  struct entered entered;
  if (is_recorded() && take_entered(&entered))
    send_with_stack(&entered, args->ret);
  return PASS_ON;
}
