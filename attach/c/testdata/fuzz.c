/* Feeds ibw_beat what a testbench might, in a run for each file that is named: it says the numbers of lanes, keeps, ends, taps and times, any of them. Each frame that comes together must be judged or refused,
 * whatever its beats were, and its lanes are at the end of their memory, so that a byte too many is seen. */
#include "../ibwitness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t left;
static const uint8_t *from;

static uint32_t take(size_t n) {
  uint32_t v = 0;
  for (; n && left; n--, left--) v = v << 8 | *from++;
  return v;
}

static int run(const char *path) {
  static uint8_t input[1 << 20];
  char err[512];
  FILE *f = fopen(path, "rb");
  if (!f) return perror(path), 2;
  ibw *r = ibw_open("{\"taps\": [{\"name\": \"a\"}, {\"name\": \"b\", \"icrc\": \"absent\"}, {\"name\": \"c\", \"link\": \"infiniband\"}]}", err, sizeof err);
  if (!r) return fprintf(stderr, "%s\n", err), 2;
  left = fread(input, 1, sizeof input, f);
  fclose(f);
  from = input;
  uint64_t now = 0;
  while (left) {
    uint32_t kind = take(1), n = kind & 1 ? take(1) % 65 : kind & 2 ? 8 : take(2) % 5000, tap = kind & 4 ? take(1) % 3 : kind & 8 ? take(4) : 0;
    int way = kind & 16 ? (int)take(1) - 1 : IBW_WAY_UNKNOWN;
    uint64_t at = kind & 32 ? take(4) : now; /* it may go back */
    uint8_t *lanes = malloc(n ? n : 1), *keep = kind & 64 ? malloc((n + 7) / 8 + !n) : NULL;
    if (!lanes) return 2;
    memset(lanes, 0, n);
    for (uint32_t i = 0; i < n && left; i++) lanes[i] = (uint8_t)take(1);
    for (uint32_t i = 0; keep && i < (n + 7) / 8; i++) keep[i] = (uint8_t)take(1);
    uint32_t flags = take(1);
    int e = ibw_beat(r, tap, way, at, flags & 16 ? NULL : lanes, keep, n, flags & 1, (flags & 6) == 6);
    if (e < 0 && !*ibw_error(r)) return fprintf(stderr, "%s: %d without a word\n", path, e), 1;
    if (e >= 0 && at > now) now = at;
    if ((flags & 0xe0) == 0xe0) ibw_reset(r, tap, now);
    free(lanes);
    free(keep);
  }
  ibw_finding found;
  while (ibw_next(r, &found) == 1) continue;
  ibw_end(r, now);
  return ibw_close(r) == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    int status = run(argv[i]);
    if (status) return fprintf(stderr, "%s: status %d\n", argv[i], status), status;
  }
  return 0;
}
