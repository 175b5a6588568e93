/* Keeps 41 blocks of 64 bytes, then becomes another program: that of NEXT, else a shell that says that it is done. */
#include "workload.h"
#include <stdlib.h>

FUNCTION void keep_before_exec(void) {
  for (int i = 0; i < 41; i++)
    USE(malloc(64));
  TAIL;
}

FUNCTION void run(void) {
  keep_before_exec();
  if (getenv("NEXT"))
    execl(getenv("NEXT"), "next", (char *)NULL);
  execl("/bin/sh", "sh", "-c", "echo done $$; read line", (char *)NULL);
  TAIL;
}

int main(void) { WORKLOAD(run()); }
