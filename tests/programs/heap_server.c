/* A program that leaks at a known place and serves its own heap profile, as a service with jemalloc or tcmalloc does.
 *
 * It says `ready PID PORT`, and answers GET requests on 127.0.0.1, one at a time:
 *   /grow     23 more blocks of 4 MB each, kept by grow_index(); each such answer adds as many
 *   /prof     a profile: written by jemalloc's prof.dump and read back, or told by tcmalloc
 *   /dump     the same, left in a file, for pulls of files
 * The allocator is preloaded; its functions are looked up at run time, so the program links nothing. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BLOCKS = 23, BLOCK_BYTES = 4 << 20, MOST_BLOCKS = 23 * 100 };  /* so large that each is sampled */

static char *kept[MOST_BLOCKS];
static int kept_count;

__attribute__((noinline)) static char *allocate_block(void) {
  char *volatile block = malloc(BLOCK_BYTES);
  return block;
}

__attribute__((noinline)) static void grow_index(void) {
  for (int i = 0; i < BLOCKS && kept_count < MOST_BLOCKS; i++) kept[kept_count++] = allocate_block();
}

__attribute__((noinline)) static void fill_cache(void) {
  for (int i = 0; i < BLOCKS; i++) kept[kept_count++] = allocate_block();
}

/* What a profiler answers that is switched off. */
static const char *dump_to(const char *path) {
  int (*mallctl)(const char *, void *, size_t *, void *, size_t) = dlsym(RTLD_DEFAULT, "mallctl");
  if (!mallctl) return "this program has no jemalloc";
  const char **named = path ? &path : NULL;
  return mallctl("prof.dump", NULL, NULL, named, named ? sizeof path : 0) ? "heap profiling is not activated" : NULL;
}

static void answer(FILE *client, const char *status, const char *body, size_t length) {
  fprintf(client, "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", status, length);
  fwrite(body, 1, length, client);
}

static void answer_text(FILE *client, const char *status, const char *text) {
  answer(client, status, text, strlen(text));
}

/* Of tcmalloc with HEAPPROFILE; NULL without. */
static char *told_by_tcmalloc(void) {
  char *(*get_profile)(void) = dlsym(RTLD_DEFAULT, "GetHeapProfile");
  int (*is_running)(void) = dlsym(RTLD_DEFAULT, "IsHeapProfilerRunning");
  return get_profile && is_running && is_running() ? get_profile() : NULL;
}

static const char *dump(void) {
  void (*dump_of_tcmalloc)(const char *) = dlsym(RTLD_DEFAULT, "HeapProfilerDump");
  if (!dump_of_tcmalloc) return dump_to(NULL);
  dump_of_tcmalloc("asked for");
  return NULL;
}

static void serve_profile(FILE *client) {
  char *told = told_by_tcmalloc();
  if (told) {
    answer_text(client, "200 OK", told);
    free(told);
    return;
  }
  char path[] = "/tmp/heap_server.XXXXXX";
  int fd = mkstemp(path);
  const char *obstacle = fd < 0 ? "no temporary file" : dump_to(path);
  FILE *file = obstacle ? NULL : fopen(path, "rb");
  if (file) {
    static char body[1 << 22];
    answer(client, "200 OK", body, fread(body, 1, sizeof body, file));
    fclose(file);
  } else {
    answer_text(client, "403 Forbidden", obstacle ? obstacle : "no file");
  }
  if (fd >= 0) close(fd);
  unlink(path);
}

static void serve(FILE *client) {
  char path[256] = "";
  if (fscanf(client, "GET %255s", path) != 1) return;
  for (char line[4096]; fgets(line, sizeof line, client) && line[0] != '\r' && line[0] != '\n';) continue;
  fseek(client, 0, SEEK_CUR);
  if (!strcmp(path, "/grow")) {
    grow_index();
    answer_text(client, "200 OK", "grown");
  } else if (!strcmp(path, "/prof")) {
    serve_profile(client);
  } else if (!strcmp(path, "/dump")) {
    const char *obstacle = dump();
    answer_text(client, obstacle ? "403 Forbidden" : "200 OK", obstacle ? obstacle : "dumped");
  } else {
    answer_text(client, "404 Not Found", "nothing here");
  }
}

int main(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 16)) return 1;
  getsockname(listener, (struct sockaddr *)&address, &size);
  fill_cache();
  printf("ready %d %d\n", getpid(), ntohs(address.sin_port));
  fflush(stdout);
  for (;;) {
    int connection = accept(listener, NULL, NULL);
    FILE *client = connection < 0 ? NULL : fdopen(connection, "r+");
    if (!client) continue;
    serve(client);
    fclose(client);
  }
}
