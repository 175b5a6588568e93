/* Allocates from code that it makes itself: nobody has a frame, and no table says how to unwind. */
#include "workload.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096UL

/* push %rbx; sub $16, %rsp; call *%rsi; add $16, %rsp; pop %rbx; ret */
static const unsigned char code[] = {0x53, 0x48, 0x83, 0xec, 16, 0xff, 0xd6, 0x48, 0x83, 0xc4, 16, 0x5b, 0xc3};

static void *(*made)(size_t bytes, void *(*allocate)(size_t));

FUNCTION void keep_from_made_code(void) {
  for (int i = 0; i < 37; i++)
    USE(made(100, malloc));
  TAIL;
}

FUNCTION void keep_beside(void) {
  for (int i = 0; i < 29; i++)
    USE(malloc(100));
  TAIL;
}

FUNCTION void run(void) {
  keep_from_made_code();
  keep_beside();
  TAIL;
}

int main(void) {
  void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    abort();
  memcpy(page, code, sizeof code);
  memcpy(&made, &page, sizeof made);
  WORKLOAD(run());
}
