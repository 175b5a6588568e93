/* Touches known numbers of fresh pages, in its own code, in memset, in malloc, and in the kernel. */
#include "workload.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#define PAGE 4096UL
#define PAGES 211UL

static char *own, *by_memset, *by_kernel, *read_only;

static char *fresh(unsigned long pages) {
  char *start = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED || madvise(start, pages * PAGE, MADV_NOHUGEPAGE))
    abort();
  return start;
}

FUNCTION void touch_each(void) {
  for (unsigned long i = 0; i < 1009; i++)
    own[i * PAGE] = 1;
  TAIL;
}

FUNCTION void clear(void) {
  memset(by_memset, 1, PAGES * PAGE);
  TAIL;
}

/* The kernel writes the pages: faults on the program's behalf, none of its instructions touches them. */
FUNCTION void fill_from_file(void) {
  int file = open("/dev/zero", O_RDONLY);
  if (read(file, by_kernel, 101 * PAGE) != (ssize_t)(101 * PAGE))
    abort();
  close(file);
  TAIL;
}

FUNCTION long read_each(void) {
  long sum = 0;
  for (unsigned long i = 0; i < 307; i++)
    sum += read_only[i * PAGE];
  TAIL;
  return sum;
}

/* malloc writes how much is left behind the block: each time into a page that nobody has touched yet. */
FUNCTION void take(void) {
  USE(malloc(3 * PAGE));
  TAIL;
}

FUNCTION void take_left(void) {
  take();
  TAIL;
}

FUNCTION void take_right(void) {
  take();
  TAIL;
}

/* At the same depth of the stack, so that only return addresses tell them apart. */
FUNCTION void grow_heap(void) {
  for (int i = 0; i < 113 + 97; i++)
    if (i % 2 && i < 2 * 97)
      take_right();
    else
      take_left();
  TAIL;
}

FUNCTION void run(void) {
  grow_heap();
  clear();
  touch_each();
  fill_from_file();
  USE(read_each());
  TAIL;
}

int main(void) {
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  USE(malloc(PAGE));
  own = fresh(1009);
  by_memset = fresh(PAGES);
  by_kernel = fresh(101);
  read_only = fresh(307);
  WORKLOAD(run());
}
