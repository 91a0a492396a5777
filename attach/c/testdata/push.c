/* Pushes a recorded run through the library, and writes its report: push FORMAT REPORT < RUN. RUN is what attach/library_test.go writes. */
#include "../ibwitness.h"

#include <stdio.h>
#include <stdlib.h>

static void *take(size_t n) {
  void *p = calloc(1, n + 1);
  if (!p || fread(p, 1, n, stdin) != n) {
    fprintf(stderr, "the run breaks off\n");
    exit(3);
  }
  return p;
}

static uint64_t number(void) {
  uint64_t *p = take(8), n = *p;
  free(p);
  return n;
}

static ibw *r;
static int told;

static void finding(void *user, const ibw_finding *f) {
  (void)user;
  told += f->change == IBW_NEW && f->text[0] != 0;
}

static void want(int status) {
  if (status >= 0) return;
  fprintf(stderr, "%s\n", ibw_error(r));
  exit(4);
}

int main(int argc, char **argv) {
  char err[512];
  int kind;
  if (argc != 3) return 2;
  while ((kind = getchar()) != EOF) {
    if (kind == 'C') {
      char *config = take(number());
      r = ibw_open(config, err, sizeof err);
      free(config);
      if (!r) {
        fprintf(stderr, "%s\n", err);
        return 4;
      }
      want(ibw_on_finding(r, finding, NULL));
    } else if (kind == 'T') {
      char *tap = take(number());
      want(ibw_add_tap(r, tap));
      free(tap);
    } else if (kind == 'F') {
      uint64_t tap = number(), way = number(), at = number(), wire = number(), n = number();
      void *data = take(n);
      want(ibw_frame(r, (uint32_t)tap, (int)way, at, data, n, wire));
      free(data);
    } else if (kind == 'E') {
      uint64_t hca = number(), at = number();
      char *line = take(number());
      want(ibw_event(r, (uint32_t)hca, at, line));
      free(line);
    } else if (kind == 'L') {
      uint64_t tap = number();
      want(ibw_lost(r, (uint32_t)tap, number()));
    }
  }
  want(ibw_end(r, 0));
  want(ibw_report(r, argv[1], argv[2]));
  want(ibw_close(r));
  return 0;
}
