/* A process with a child, a grandchild, and a child that runs this program again; each allocates known amounts.
 *
 * What the functions leave outstanding, in objects of bytes: parent_keeps 23 of 100, parent_hands_down 13 of 200, child_keeps
 * 17 of 300, grandchild_keeps 11 of 500, spawned_keeps 19 of 700. The child frees all that it inherited from
 * parent_hands_down, and moves one block of parent_keeps by realloc, to 5,000 bytes.
 */
#include "workload.h"
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define PAGE 4096

extern char **environ;

static void *kept[23], *handed_down[13];
static pid_t spawned;

FUNCTION void *one_of(size_t bytes) {
  void *block = malloc(bytes);
  USE(block);
  return block;
}

FUNCTION void parent_keeps(void) {
  for (int i = 0; i < 23; i++)
    kept[i] = one_of(100);
  TAIL;
}

FUNCTION void parent_hands_down(void) {
  for (int i = 0; i < 13; i++)
    handed_down[i] = one_of(200);
  TAIL;
}

FUNCTION void child_frees_inherited(void) {
  for (int i = 0; i < 13; i++)
    free(handed_down[i]);
  TAIL;
}

FUNCTION void child_moves_inherited(void) {
  kept[0] = realloc(kept[0], 5000);
  TAIL;
}

FUNCTION void child_keeps(void) {
  for (int i = 0; i < 17; i++)
    one_of(300);
  TAIL;
}

FUNCTION void grandchild_keeps(void) {
  for (int i = 0; i < 11; i++)
    one_of(500);
  TAIL;
}

FUNCTION void spawned_keeps(void) {
  for (int i = 0; i < 19; i++)
    one_of(700);
  TAIL;
}

/* 3 pages of memory that nobody else maps, touched and kept. */
FUNCTION void child_maps(void) {
  char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < 3; i++)
    pages[i * PAGE] = 1;
  TAIL;
}

FUNCTION void child_grows(void) {
  sbrk(PAGE);
  TAIL;
}

static void await(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid || status)
    _exit(4);
}

FUNCTION void child(void) {
  child_keeps(); /* at once: its first event must not be lost */
  child_frees_inherited();
  child_moves_inherited();
  child_maps();
  child_grows();
  pid_t pid = fork();
  if (!pid) {
    grandchild_keeps();
    _exit(0);
  }
  await(pid);
}

FUNCTION void spawn_again(void) {
  int ends[2];
  char byte, program[4096] = "", *command[] = {"family", "again", NULL};
  posix_spawn_file_actions_t actions;
  if (readlink("/proc/self/exe", program, sizeof program - 1) < 0 || pipe(ends))
    _exit(5);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  if (posix_spawn(&spawned, program, &actions, NULL, command, environ))
    _exit(6);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (read(ends[0], &byte, 1) != 1)
    _exit(7);
}

FUNCTION void run(void) {
  parent_keeps();
  parent_hands_down();
  pid_t pid = fork();
  if (!pid) {
    child();
    _exit(0);
  }
  await(pid);
  spawn_again();
  TAIL;
}

/* The program that was spawned: it stays, so that its mappings can be read. */
static int again(void) {
  spawned_keeps();
  if (write(1, "x", 1) != 1)
    return 1;
  pause();
  return 0;
}

static int ended(void) {
  kill(spawned, SIGKILL);
  return 0;
}

int main(int count, char **words) {
  if (count > 1 && !strcmp(words[1], "again"))
    return again();
  say("ready");
  if (!await_line())
    return 1;
  run();
  say("done");
  await_line();
  return ended();
}
