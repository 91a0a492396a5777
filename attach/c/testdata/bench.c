/* What calls cost: bench CAPTURE.pcap FRAMES. Prints nanoseconds a frame and a beat. */
#include "../ibwitness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  FILE *f = fopen(argv[1], "rb");
  if (!f) return 3;
  fseek(f, 0, SEEK_END);
  long size = ftell(f), frames = 0;
  rewind(f);
  uint8_t *data = malloc(size);
  if (fread(data, 1, size, f) != (size_t)size) return 3;
  char err[512];
  ibw *r = ibw_open("", err, sizeof err);
  if (!r) {
    puts(err);
    return 4;
  }
  double least = 1e9, spent = 0;
  enum { TENTH = 10, BLOCK = 64, MTU = 4096 };
  static uint8_t block[BLOCK * MTU]; /* a monitor hands over what it has just put together: it is in the cache, and the capture is not */
  static struct { uint64_t at; uint32_t begin, len, wire; } of[BLOCK];
  long each = atol(argv[2]) / TENTH / BLOCK * BLOCK;
  uint64_t first = 0;
  for (long at = 24; at + 16 <= size;) {
    int n = 0, full = 0;
    for (; n < BLOCK && at + 16 <= size; n++) {
      uint32_t h[4];
      memcpy(h, data + at, 16);
      uint64_t ns = h[0] * 1000000000ull + h[1];
      if (!first) first = ns;
      if (h[2] > MTU) return 5;
      memcpy(block + full, data + at + 16, h[2]);
      of[n].begin = full, of[n].at = (ns - first) * 1000, of[n].len = h[2], of[n].wire = h[3];
      full += (h[2] + 63) / 64 * 64;
      at += 16 + h[2];
    }
    double begin = now();
    for (int i = 0; i < n; i++)
      if (ibw_frame(r, 0, 0, of[i].at, block + of[i].begin, of[i].len, of[i].wire) < 0) puts(ibw_error(r));
    spent += now() - begin;
    if ((frames += n) % each) continue;
    if (spent / each < least) least = spent / each;
    spent = 0;
  }
  printf("frame %.1f\n", least);
  uint64_t at = 1000000000000000ull; /* after the last frame */
  uint8_t lanes[64] = {0}, keep[8];
  memset(keep, 0xff, sizeof keep);
  for (int width = 8; width <= 64; width *= 8) {
    least = 1e9;
    for (int k = 0; k < 20; k++) {
      spent = 0;
      for (int j = 0; j < 1000; j++) { /* frames of 100 beats, whose last beat is not measured */
        double begin = now();
        for (int i = 0; i < 100; i++) ibw_beat(r, 0, 0, at, lanes, keep, width, 0, 0);
        spent += now() - begin;
        ibw_beat(r, 0, 0, at, lanes, keep, width, 1, 1);
      }
      if (spent / 1e5 < least) least = spent / 1e5;
    }
    printf("beat%d %.1f\n", width, least);
  }
  free(data);
  return ibw_close(r) < 0;
}
