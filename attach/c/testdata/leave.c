/* Leaves in the way that its first argument names, after a frame and without ending the run: leave HOW REPORT < FRAME. */
#include "../ibwitness.h"

#include <assert.h>
#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static jmp_buf out;
static const char *how;

static void finding(void *user, const ibw_finding *f) {
  (void)user;
  printf("%s\n", f->rule);
  if (!strcmp(how, "exit")) exit(7);
  if (!strcmp(how, "longjmp")) longjmp(out, 1);
}

/* engine sends a signal to each thread but this one: those of the engine. */
static void engine(int sig) {
  DIR *tasks = opendir("/proc/self/task");
  struct dirent *d;
  while (tasks && (d = readdir(tasks)))
    if (atoi(d->d_name) > 0 && atoi(d->d_name) != getpid()) syscall(SYS_tgkill, getpid(), atoi(d->d_name), sig);
  if (tasks) closedir(tasks);
}

static void *soon(void *caller) {
  usleep(20000);
  pthread_kill(*(pthread_t *)caller, SIGTERM);
  return NULL;
}

int main(int argc, char **argv) {
  char config[512], err[512];
  uint8_t frame[2048];
  if (argc != 3) return 2;
  how = argv[1];
  size_t n = fread(frame, 1, sizeof frame, stdin);
  snprintf(config, sizeof config, "{\"taps\": [{\"icrc\": \"ignore\"}], \"reports\": {\"json\": \"%s\"}}", argv[2]);
  ibw *r = ibw_open(config, err, sizeof err);
  if (!r) {
    puts(err);
    return 4;
  }
  ibw_on_finding(r, finding, NULL);
  if (setjmp(out) == 0) ibw_frame(r, 0, 0, 1000, frame, n, 0);
  if (ibw_advance(r, 2000) < 0) puts(ibw_error(r));
  if (!strcmp(how, "assert")) assert(!"a check of the testbench");
  if (!strcmp(how, "int")) raise(SIGINT);
  if (!strcmp(how, "term")) raise(SIGTERM);
  if (!strcmp(how, "engine")) engine(SIGTERM);
  pthread_t caller = pthread_self(), other;
  if (!strcmp(how, "calls") && pthread_create(&other, NULL, soon, &caller)) return 5;
  if (!strcmp(how, "engine") || !strcmp(how, "calls"))
    for (uint64_t at = 3000; at < 10000000000; at += 1000)
      if (ibw_frame(r, 0, 0, at, frame, n, 0) < 0) puts(ibw_error(r));
  return 0;
}
