/* A small shop service that leaks, for the demo project: `leaky_service VERSION [MAX_MB]`.
 *
 * Version 1 forgets one session in four. Version 2 forgets every session and also keeps an audit trail, which is a new
 * path. Both renew the entries of bounded caches, parse and render with memory that is given back, store orders, and map
 * index segments, of which one in four stays mapped.
 * It ends by itself once it holds MAX_MB (default 256), so that a forgotten demo can't eat the machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone)) static
/* Stops the compiler from turning the call before it into a jump, which would hide the caller from a stack. */
#define FRAME __asm__ volatile("" ::: "memory")

#define PRODUCT_SLOTS 96
#define RESULT_SLOTS 32
#define SEGMENT_BYTES (1u << 20)
#define REQUESTS_A_SECOND 400

static int version;
static size_t held_bytes, max_bytes;
static char *products[PRODUCT_SLOTS], *results[RESULT_SLOTS], *thumbnails[RESULT_SLOTS];
static unsigned long request_number;
static void *volatile last; /* what was allocated last, so that no allocation is optimised away */

/* Macros, so that their callers are the ones that hold the memory: a function that is inlined is a frame of its own. */
#define FILLED(bytes) ({ size_t count = (bytes); last = malloc(count); memset(last, 1, count); (void *)last; })
#define HOLD(bytes) ({ size_t held = (bytes); held_bytes += held; FILLED(held); })

/* --- given back within a request ------------------------------------------------------------------------------- */

KEPT char *field_copy(size_t bytes) { char *copy = FILLED(bytes); FRAME; return copy; }

KEPT void parse_query(void) {
  char *fields[6];
  for (int i = 0; i < 6; i++) fields[i] = field_copy(24 + 8 * i);
  for (int i = 0; i < 6; i++) free(fields[i]);
  FRAME;
}

KEPT void template_expand(void) { free(FILLED(16384)); FRAME; }

KEPT void render_page(void) { template_expand(); free(FILLED(2048)); FRAME; }

KEPT void score_hits(void) { free(FILLED(4096)); FRAME; }

/* --- caches: bounded, each put frees what was there ------------------------------------------------------------- */

KEPT char *row_decode(size_t bytes) { char *row = FILLED(bytes); FRAME; return row; }

KEPT void product_load(void) {
  char **slot = &products[request_number % PRODUCT_SLOTS];
  free(*slot);
  *slot = row_decode(3072);
  FRAME;
}

KEPT void lru_put(char **slot, size_t bytes) { free(*slot); *slot = FILLED(bytes); FRAME; }

KEPT void result_cache_put(void) { lru_put(&results[request_number % RESULT_SLOTS], 6144); FRAME; }

KEPT void thumbnail_put(void) { lru_put(&thumbnails[request_number % RESULT_SLOTS], 9216); FRAME; }

/* --- grows ------------------------------------------------------------------------------------------------------ */

KEPT char *session_new(size_t bytes) { char *session = HOLD(bytes); FRAME; return session; }

KEPT void session_open(void) {
  char *session = session_new(2048);
  int is_forgotten = version > 1 || request_number % 4 == 0;
  if (!is_forgotten) { free(session); held_bytes -= 2048; }
  FRAME;
}

KEPT void audit_append(void) { HOLD(512); FRAME; }

KEPT void order_store(void) { HOLD(768); FRAME; }

KEPT void segment_open(void) {
  char *segment = mmap(NULL, SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (segment == MAP_FAILED) return;
  if (request_number % 800 == 0) { memset(segment, 1, SEGMENT_BYTES / 4); held_bytes += SEGMENT_BYTES / 4; }
  else munmap(segment, SEGMENT_BYTES);
  FRAME;
}

/* --- requests --------------------------------------------------------------------------------------------------- */

KEPT void search_index(void) { if (request_number % 200 == 0) segment_open(); score_hits(); FRAME; }

KEPT void handle_search(void) { parse_query(); search_index(); result_cache_put(); FRAME; }

KEPT void handle_product(void) { product_load(); thumbnail_put(); FRAME; }

KEPT void handle_checkout(void) { session_open(); if (request_number % 2 == 0) order_store(); FRAME; }

KEPT void route(void) {
  handle_search();
  handle_product();
  handle_checkout();
  if (version > 1) audit_append();
  FRAME;
}

KEPT void handle_request(void) { request_number++; route(); render_page(); FRAME; }

KEPT void serve(void) {
  struct timespec pause = {0, 1000000000L / REQUESTS_A_SECOND};
  while (held_bytes < max_bytes) { handle_request(); nanosleep(&pause, NULL); }
  FRAME;
}

int main(int argc, char **argv) {
  version = argc > 1 ? atoi(argv[1]) : 1;
  max_bytes = (size_t)(argc > 2 ? atoi(argv[2]) : 256) << 20;
  printf("ready %d\n", getpid());
  fflush(stdout);
  serve();
  return 0;
}
