/* Allocates from code that it makes itself, as a JIT compiler does, and tells of it in /tmp/perf-PID.map. */
#include "workload.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* push %rbp; mov %rsp, %rbp; mov %rdi, %rax; mov $64, %edi; call *%rax; pop %rbp; ret */
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8, 0xbf, 64, 0, 0, 0, 0xff, 0xd0, 0x5d, 0xc3};

static void *made;

FUNCTION void call_made_code(void) {
  void *(*load)(void *(*)(size_t));
  memcpy(&load, &made, sizeof load);
  for (int i = 0; i < 29; i++)
    USE(load(malloc));
  TAIL;
}

static void tell(void) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
  FILE *map = fopen(path, "w");
  if (!map)
    abort();
  /* First by an interpreter, then compiled to the same place. */
  fprintf(map, "%lx 1000 Interpreter\n", (unsigned long)made);
  fprintf(map, "%lx %zx LazyCompile:*loadIndex /srv/app/index.js:12:20\n", (unsigned long)made, sizeof code);
  fclose(map);
}

int main(void) {
  made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED)
    abort();
  memcpy(made, code, sizeof code);
  tell();
  WORKLOAD(call_made_code());
}
