/* Loads liblate.so with its C++ runtime when it works first, and calls its functions when it works again. */
#include "workload.h"
#include <dlfcn.h>
#include <stdlib.h>

static void *library;

FUNCTION void load(void) {
  library = dlopen("liblate.so", RTLD_NOW);
  if (!library)
    abort();
  TAIL;
}

FUNCTION void call(const char *name) {
  ((void (*)(void))dlsym(library, name))();
  TAIL;
}

int main(void) {
  say("ready");
  if (!await_line())
    return 1;
  load();
  say("done");
  if (!await_line())
    return 1;
  call("keep_by_new");
  call("keep_after_bad_alloc");
  call("keep_from_pool");
  say("done");
  await_line();
  return 0;
}
