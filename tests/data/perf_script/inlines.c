/* Two inlined functions between main and a function that touches fresh pages: what DWARF alone tells apart. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BYTES (32L * 4096)

__attribute__((noinline, noclone)) static void touch_all(volatile char *start) {
  for (long place = 0; place < BYTES; place += 4096)
    start[place] = 1;
}

static inline __attribute__((always_inline)) void fill_cache(char *start) {
  touch_all(start);
  __asm__ volatile("");
}

static inline __attribute__((always_inline)) void load_index(char *start) {
  fill_cache(start);
  __asm__ volatile("");
}

int main(void) {
  char *start = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  load_index(start);
  return start[4096] - 1;
}
