/* Leaves in the way that its first argument names, after a frame and without ending the run: leave HOW REPORT < FRAME. */
#include "../ibwitness.h"

#include <assert.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf out;
static const char *how;

static void finding(void *user, const ibw_finding *f) {
  (void)user;
  printf("%s\n", f->rule);
  if (!strcmp(how, "exit")) exit(7);
  if (!strcmp(how, "longjmp")) longjmp(out, 1);
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
  return 0;
}
