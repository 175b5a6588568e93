/* Moves the end of the heap by known amounts, directly and through sbrk. */
#include "workload.h"
#include <sys/syscall.h>

#define PAGE 4096L

FUNCTION void grow(void) {
  for (int i = 0; i < 11; i++)
    USE(sbrk(3 * PAGE));
  TAIL;
}

FUNCTION void grow_oddly(void) {
  USE(sbrk(100));
  USE(sbrk(PAGE - 100));
  TAIL;
}

FUNCTION void shrink(void) {
  USE(sbrk(-5 * PAGE));
  TAIL;
}

FUNCTION void ask(void) {
  for (int i = 0; i < 7; i++)
    syscall(SYS_brk, 0);
  TAIL;
}

FUNCTION void ask_too_much(void) {
  for (int i = 0; i < 3; i++)
    syscall(SYS_brk, 1L << 46);
  TAIL;
}

FUNCTION void run(void) {
  grow();
  grow_oddly();
  shrink();
  ask();
  ask_too_much();
  TAIL;
}

int main(void) { WORKLOAD(run()); }
