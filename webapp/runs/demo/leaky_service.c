/* A small shop service that leaks, for the demo project: `leaky_service VERSION [MAX_MB]`.
 *
 * Version 1 forgets one session in four. Version 2 forgets every session and also keeps an audit trail, which is a new
 * path. Both fill a bounded cache, parse and render with memory that is given back, and map index segments.
 * It ends by itself once it holds MAX_MB (default 256), so that a forgotten demo can't eat the machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))
/* Stops the compiler from turning the call before it into a jump, which would hide the caller from a stack. */
#define FRAME __asm__ volatile("" ::: "memory")

#define CACHE_SLOTS 512
#define SEGMENT_BYTES (1u << 20)
#define REQUESTS_A_SECOND 400

static int version;
static size_t held_bytes, max_bytes;
static char *cache[CACHE_SLOTS];
static unsigned long request_number;
static void *volatile last; /* what was allocated last, so that no allocation is optimised away */

/* Inlined, so that its callers are the ones that hold the memory. */
static inline __attribute__((always_inline)) void *hold(size_t bytes) {
  held_bytes += bytes;
  last = malloc(bytes);
  memset(last, 1, bytes);
  return last;
}

KEPT static char *copy_field(const char *text) { char *copy = strdup(text); last = copy; FRAME; return copy; }

KEPT static void parse_query(void) {
  char *fields[6];
  for (int i = 0; i < 6; i++) fields[i] = copy_field("q=memory&page=1&sort=price");
  for (int i = 0; i < 6; i++) free(fields[i]);
  FRAME;
}

KEPT static void cache_put(void) {
  char **slot = &cache[request_number % CACHE_SLOTS];
  if (*slot == NULL) *slot = hold(8192);
  FRAME;
}

KEPT static char *session_new(size_t bytes) { char *session = hold(bytes); FRAME; return session; }

KEPT static void session_open(void) {
  char *session = session_new(2048);
  int is_forgotten = version > 1 || request_number % 4 == 0;
  if (!is_forgotten) { free(session); held_bytes -= 2048; }
  FRAME;
}

KEPT static void audit_append(void) { hold(512); FRAME; }

KEPT static void segment_open(void) {
  char *segment = mmap(NULL, SEGMENT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (segment == MAP_FAILED) return;
  if (request_number % 800 == 0) { memset(segment, 1, SEGMENT_BYTES / 4); held_bytes += SEGMENT_BYTES / 4; }
  else munmap(segment, SEGMENT_BYTES);
  FRAME;
}

KEPT static void render_page(void) {
  char *page = malloc(16384);
  memset(page, 'x', 16384);
  last = page;
  free(page);
  FRAME;
}

KEPT static void handle_request(void) {
  request_number++;
  parse_query();
  cache_put();
  session_open();
  if (version > 1) audit_append();
  if (request_number % 200 == 0) segment_open();
  render_page();
  FRAME;
}

KEPT static void serve(void) {
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
