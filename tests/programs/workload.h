/* What every traced program does around its known work: says that it is ready, works when it gets a line, says that it
 * is done, and waits for another line, so that a test reads its numbers from a process that stands still. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdio.h>
#include <unistd.h>

#ifdef __cplusplus
#define LINKAGE extern "C"
#else
#define LINKAGE
#endif

/* A function that keeps its own frame: not inlined, not cloned, and with TAIL at its end, not left by a jump. */
#define FUNCTION LINKAGE __attribute__((noinline, noclone))
#define TAIL __asm__ volatile("" ::: "memory")
/* The compiler must believe that somebody uses the pointer, or it drops malloc and free as a pair. */
#define USE(pointer) __asm__ volatile("" ::"r"(pointer) : "memory")

/* read and write, not stdio: that would allocate its buffers inside the counted work. */
static int await_line(void) {
  char byte = 0;
  while (read(0, &byte, 1) == 1)
    if (byte == '\n')
      return 1;
  return 0;
}

static void say(const char *text) {
  char line[64];
  int length = snprintf(line, sizeof line, "%s %d\n", text, (int)getpid());
  if (write(1, line, (size_t)length) != length)
    _exit(3);
}

#define WORKLOAD(work)                                                                                                 \
  do {                                                                                                                 \
    say("ready");                                                                                                      \
    if (!await_line())                                                                                                 \
      return 1;                                                                                                        \
    work;                                                                                                              \
    say("done");                                                                                                       \
    await_line();                                                                                                      \
    return 0;                                                                                                          \
  } while (0)

#endif
