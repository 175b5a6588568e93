/* Library functions that allocate for their caller, a prime number of calls each; tests/ebpf/test_copies.py has the truth. */
#include "workload.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <wchar.h>

#define LARGE (64 << 20)

int __asprintf_chk(char **result, int flag, const char *format, ...);

static const char *volatile word = "ten bytes";
static const wchar_t *volatile wide = L"ten words";
static const wchar_t *volatile no_character = L"\x7fffffff";
static char large[LARGE];
static char buffer[1 << 16];
/* The header would inline a call of getline as one of getdelim. */
static ssize_t (*volatile read_line)(char **, size_t *, FILE *) = getline;
static FILE *lines; /* one of 9 bytes, then one of 300 */

FUNCTION void keep_strdup(void) {
  for (int i = 0; i < 101; i++)
    USE(strdup(word));
  TAIL;
}

FUNCTION void keep_strndup(void) {
  for (int i = 0; i < 53; i++)
    USE(strndup(word, 4));
  TAIL;
}

FUNCTION void keep_wcsdup(void) {
  for (int i = 0; i < 31; i++)
    USE(wcsdup(wide));
  TAIL;
}

FUNCTION void free_strdup(void) {
  for (int i = 0; i < 1009; i++) {
    char *copy = strdup(word);
    USE(copy);
    free(copy);
  }
  TAIL;
}

/* For want of address space. */
FUNCTION void fail_strdup(void) {
  struct rlimit before, small = {.rlim_cur = LARGE / 2};
  getrlimit(RLIMIT_AS, &before);
  small.rlim_max = before.rlim_max;
  setrlimit(RLIMIT_AS, &small);
  for (int i = 0; i < 3; i++)
    if (strdup(large))
      abort();
  setrlimit(RLIMIT_AS, &before);
  TAIL;
}

FUNCTION void keep_asprintf(void) {
  for (int i = 0; i < 43; i++) {
    char *text = NULL;
    if (asprintf(&text, "%s and %d", word, 1000) != 18)
      abort();
    USE(text);
  }
  TAIL;
}

/* More than asprintf begins with. */
FUNCTION void keep_long_asprintf(void) {
  for (int i = 0; i < 13; i++) {
    char *text = NULL;
    if (asprintf(&text, "%5000s", word) != 5000)
      abort();
    USE(text);
  }
  TAIL;
}

FUNCTION void keep_checked_asprintf(void) {
  for (int i = 0; i < 17; i++) {
    char *text = NULL;
    if (__asprintf_chk(&text, 1, "%s", word) != 9)
      abort();
    USE(text);
  }
  TAIL;
}

FUNCTION char *formatted(const char *format, ...) {
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  if (vasprintf(&text, format, arguments) < 0)
    abort();
  va_end(arguments);
  return text;
}

FUNCTION void keep_vasprintf(void) {
  for (int i = 0; i < 19; i++)
    USE(formatted("%s", word));
  TAIL;
}

FUNCTION void free_asprintf(void) {
  for (int i = 0; i < 503; i++) {
    char *text = NULL;
    if (asprintf(&text, "%s", word) != 9)
      abort();
    USE(text);
    free(text);
  }
  TAIL;
}

FUNCTION void fail_asprintf(void) {
  for (int i = 0; i < 5; i++) {
    char *text = (char *)0x1234;
    if (asprintf(&text, "%ls", no_character) >= 0)
      abort();
  }
  TAIL;
}

FUNCTION void keep_getline(void) {
  for (int i = 0; i < 29; i++) {
    char *line = NULL;
    size_t size = 0;
    rewind(lines);
    if (read_line(&line, &size, lines) != 9 || size != 120)
      abort();
    USE(line);
  }
  TAIL;
}

FUNCTION void reuse_getline(void) {
  char *line = NULL;
  size_t size = 0;
  for (int i = 0; i < 37; i++) {
    rewind(lines);
    if (read_line(&line, &size, lines) != 9)
      abort();
    USE(line);
  }
  TAIL;
}

FUNCTION void grow_getline(void) {
  char *line = NULL;
  size_t size = 0;
  rewind(lines);
  for (int i = 0; i < 2; i++)
    if (read_line(&line, &size, lines) < 0)
      abort();
  if (size != 301)
    abort();
  USE(line);
  TAIL;
}

FUNCTION void free_getline(void) {
  for (int i = 0; i < 7; i++) {
    char *line = NULL;
    size_t size = 0;
    rewind(lines);
    if (read_line(&line, &size, lines) != 9)
      abort();
    free(line);
  }
  TAIL;
}

/* There is nothing left to read, but a buffer was made. */
FUNCTION void keep_at_end(void) {
  for (int i = 0; i < 3; i++) {
    char *line = NULL;
    size_t size = 0;
    fseek(lines, 0, SEEK_END);
    if (read_line(&line, &size, lines) >= 0)
      abort();
    USE(line);
  }
  TAIL;
}

FUNCTION void keep_getdelim(void) {
  for (int i = 0; i < 11; i++) {
    char *line = NULL;
    size_t size = 0;
    rewind(lines);
    if (getdelim(&line, &size, ' ', lines) != 4)
      abort();
    USE(line);
  }
  TAIL;
}

/* Of the same depth as a copy before it, but no copy. */
FUNCTION void keep_malloc(void) {
  for (int i = 0; i < 23; i++) {
    char *copy = strdup(word);
    USE(copy);
    free(copy);
    USE(malloc(1000));
  }
  TAIL;
}

FUNCTION void run(void) {
  keep_strdup();
  keep_strndup();
  keep_wcsdup();
  free_strdup();
  fail_strdup();
  keep_asprintf();
  keep_long_asprintf();
  keep_checked_asprintf();
  keep_vasprintf();
  free_asprintf();
  fail_asprintf();
  keep_getline();
  reuse_getline();
  grow_getline();
  free_getline();
  keep_at_end();
  keep_getdelim();
  keep_malloc();
  TAIL;
}

int main(void) {
  memset(large, 'x', LARGE - 1);
  lines = tmpfile();
  setvbuf(lines, buffer, _IOFBF, sizeof buffer);
  fprintf(lines, "ten byte\n%299s\n", "x");
  WORKLOAD(run());
}
