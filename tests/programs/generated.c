/* Touches fresh pages from code that it makes itself: nobody has a frame, and no table says how to unwind. */
#include "workload.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096UL

/* push %rbx; sub $24, %rsp; movb $1, (%rdi); add $24, %rsp; pop %rbx; ret */
static const unsigned char code[] = {0x53, 0x48, 0x83, 0xec, 24, 0xc6, 0x07, 1, 0x48, 0x83, 0xc4, 24, 0x5b, 0xc3};

static char *pages;
static void (*touch)(char *);

FUNCTION void touch_each(void) {
  for (unsigned long i = 0; i < 31; i++)
    touch(pages + i * PAGE);
  TAIL;
}

int main(void) {
  pages = mmap(NULL, 31 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void *made = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || made == MAP_FAILED || madvise(pages, 31 * PAGE, MADV_NOHUGEPAGE))
    abort();
  memcpy(made, code, sizeof code);
  memcpy(&touch, &made, sizeof touch);
  WORKLOAD(touch_each());
}
