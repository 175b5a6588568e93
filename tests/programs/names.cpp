// Functions whose names C++ mangles: a namespace, a template, parameters, an operator and an unnamed namespace.
#include "workload.h"
#include <cstdlib>
#include <string>

namespace store {

template <typename Key> struct Index {
  __attribute__((noinline)) void insert(Key key, const std::string &) {
    USE(malloc(32 + (key & 1)));
    TAIL;
  }
  __attribute__((noinline)) void operator()(int) {
    USE(malloc(64));
    TAIL;
  }
};

namespace {
__attribute__((noinline, noclone)) void hidden(unsigned long) {
  USE(malloc(128));
  TAIL;
}
} // namespace

} // namespace store

FUNCTION void run() {
  store::Index<long> index;
  std::string text;
  for (int i = 0; i < 7; i++)
    index.insert(0, text);
  for (int i = 0; i < 5; i++)
    index(i);
  for (int i = 0; i < 3; i++)
    store::hidden(i);
  TAIL;
}

int main() { WORKLOAD(run()); }
