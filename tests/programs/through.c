/* Allocates through library functions that keep no frame pointer, a prime number of calls each. */
#include "workload.h"
#include <dirent.h>
#include <locale.h>
#include <netdb.h>
#include <regex.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *volatile here = "/";

FUNCTION void open_files(void) {
  for (int i = 0; i < 7; i++)
    USE(fopen("/dev/null", "r"));
  TAIL;
}

FUNCTION void open_directories(void) {
  for (int i = 0; i < 5; i++)
    USE(opendir(here));
  TAIL;
}

/* The first byte makes the buffer. */
FUNCTION void print_to_files(void) {
  for (int i = 0; i < 3; i++) {
    FILE *file = fopen("/dev/null", "w");
    fprintf(file, "%d", i);
  }
  TAIL;
}

FUNCTION void compile_expression(void) {
  regex_t expression;
  if (regcomp(&expression, "a[bc]*d|e+", REG_EXTENDED))
    abort();
  regfree(&expression);
  TAIL;
}

FUNCTION void set_locale(void) {
  if (!setlocale(LC_ALL, "C.UTF-8") || !setlocale(LC_ALL, "C"))
    abort();
  TAIL;
}

FUNCTION void resolve_number(void) {
  struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV}, *found;
  if (getaddrinfo("127.0.0.1", "80", &hints, &found))
    abort();
  freeaddrinfo(found);
  TAIL;
}

FUNCTION int compare_and_keep(const void *one, const void *other) {
  USE(malloc(24));
  int difference = *(const int *)one - *(const int *)other;
  TAIL;
  return difference;
}

FUNCTION void sort(void) {
  int numbers[][2] = {{1, 2}, {2, 1}, {1, 1}};
  for (size_t i = 0; i < COUNT(numbers); i++)
    qsort(numbers[i], 2, sizeof(int), compare_and_keep);
  USE(&numbers);
  TAIL;
}

FUNCTION void run(void) {
  open_files();
  open_directories();
  print_to_files();
  compile_expression();
  set_locale();
  resolve_number();
  sort();
  TAIL;
}

int main(void) { WORKLOAD(run()); }
