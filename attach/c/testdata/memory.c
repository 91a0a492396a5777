/* What memory frames take: memory FRAMES < CAPTURE.pcap, of which the times are those of a simulation. Prints the resident KiB after each tenth of them. */
#include "../ibwitness.h"

#include <stdio.h>
#include <stdlib.h>

static long resident(void) {
  long kib = 0;
  char line[256];
  FILE *f = fopen("/proc/self/status", "r");
  while (f && fgets(line, sizeof line, f)) sscanf(line, "VmRSS: %ld", &kib);
  if (f) fclose(f);
  return kib;
}

int main(int argc, char **argv) {
  static uint8_t data[1 << 16];
  char err[512];
  uint32_t h[4];
  if (argc != 2 || fread(data, 1, 24, stdin) != 24) return 2;
  ibw *r = ibw_open("{}", err, sizeof err);
  if (!r) return puts(err), 3;
  long all = atol(argv[1]), frames = 0, errors = 0;
  uint64_t first = 0;
  while (fread(h, sizeof h, 1, stdin) == 1 && h[2] <= sizeof data && fread(data, 1, h[2], stdin) == h[2]) {
    uint64_t ns = h[0] * 1000000000ull + h[1];
    if (!frames) first = ns;
    int e = ibw_frame(r, 0, 0, (ns - first) * 1000, data, h[2], h[3]);
    if (e < 0) return puts(ibw_error(r)), 4;
    errors += e;
    if (++frames % (all / 10) == 0) printf("%ld\n", resident()), fflush(stdout);
  }
  if (frames != all || errors) return printf("%ld frames, %ld errors\n", frames, errors), 5;
  return ibw_close(r) < 0;
}
