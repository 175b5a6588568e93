/* Maps, unmaps in part, maps over, and moves known numbers of pages. */
#include "workload.h"
#include <fcntl.h>
#include <sys/mman.h>

#define PAGE 4096UL

/* A macro, so that mmap's caller is the function that the test names. */
#define map_pages(pages)                                                                                               \
  ((char *)mmap(NULL, (pages)*PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))

FUNCTION void keep(void) {
  for (int i = 0; i < 5; i++)
    USE(map_pages(64));
  TAIL;
}

FUNCTION void give_back(void) {
  for (int i = 0; i < 13; i++) {
    char *start = map_pages(32);
    munmap(start, 32 * PAGE);
  }
  TAIL;
}

/* 100 pages, 20 taken out of the middle and 10 off the end: 70 stay. */
FUNCTION void give_back_parts(void) {
  char *start = map_pages(100);
  munmap(start + 10 * PAGE, 20 * PAGE);
  munmap(start + 90 * PAGE, 10 * PAGE);
  TAIL;
}

/* 16 of 40 pages are mapped again in place: 40 are mapped, 56 were. */
FUNCTION void map_over(void) {
  char *start = map_pages(40);
  USE(mmap(start + 8 * PAGE, 16 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
  TAIL;
}

/* 8 pages become 53, at another address or in place. */
FUNCTION void move(void) {
  char *start = map_pages(8);
  USE(mremap(start, 8 * PAGE, 53 * PAGE, MREMAP_MAYMOVE));
  TAIL;
}

FUNCTION void fail(void) {
  for (int i = 0; i < 3; i++)
    USE(mmap(NULL, 1UL << 60, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  TAIL;
}

/* One byte is a page. */
FUNCTION void map_a_file(void) {
  int file = open("/proc/self/exe", O_RDONLY);
  USE(mmap(NULL, 1, PROT_READ, MAP_PRIVATE, file, 0));
  close(file);
  TAIL;
}

FUNCTION void run(void) {
  keep();
  give_back();
  give_back_parts();
  map_over();
  move();
  fail();
  map_a_file();
  TAIL;
}

int main(void) { WORKLOAD(run()); }
