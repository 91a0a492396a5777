/* Counts what the C side of the library allocates for frames of connections that go on: steady CAPTURE.pcap. Every other frame goes beat by beat. Prints the calls of malloc,
 * calloc and realloc in the first half, and in the second. */
#include "../ibwitness.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* These take the place of those of the C library, for the library under test too. */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
static _Atomic long calls;

void *malloc(size_t n) {
  calls++;
  return __libc_malloc(n);
}

void *calloc(size_t n, size_t size) {
  calls++;
  return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n) {
  calls++;
  return __libc_realloc(p, n);
}

static int beats(ibw *r, uint64_t at, const uint8_t *data, uint32_t size, uint32_t width) {
  uint8_t lanes[64] = {0}, keep[8];
  for (uint32_t done = 0; done < size; done += width) {
    uint32_t n = size - done < width ? size - done : width;
    memcpy(lanes, data + done, n);
    for (uint32_t i = 0; i < 8; i++) keep[i] = n >= 8 * (i + 1) ? 0xff : n > 8 * i ? (1 << (n - 8 * i)) - 1 : 0;
    int e = ibw_beat(r, 0, IBW_WAY_UNKNOWN, at, lanes, keep, width, done + n == size, 0);
    if (e < 0) return e;
  }
  return 0;
}

int main(int argc, char **argv) {
  FILE *f = argc == 2 ? fopen(argv[1], "rb") : NULL;
  if (!f) return 2;
  fseek(f, 0, SEEK_END);
  long size = ftell(f), half = size / 2, begun = 0;
  rewind(f);
  uint8_t *data = malloc(size);
  if (fread(data, 1, size, f) != (size_t)size) return 2;
  char err[512];
  ibw *r = ibw_open("{\"time\": \"unix\"}", err, sizeof err);
  if (!r) return puts(err), 2;
  int n = 0;
  for (long at = 24; at + 16 <= size; n++) {
    uint32_t h[4];
    memcpy(h, data + at, 16);
    uint64_t time = h[0] * 1000000000ull + h[1];
    int e = n % 2 ? beats(r, time, data + at + 16, h[2], n % 4 == 1 ? 8 : 64) : ibw_frame(r, 0, IBW_WAY_UNKNOWN, time, data + at + 16, h[2], h[3]);
    if (e < 0) return puts(ibw_error(r)), 1;
    at += 16 + h[2];
    if (!begun && at >= half) begun = calls;
  }
  long second = calls - begun;
  printf("%ld %ld\n", begun, second);
  return ibw_close(r) < 0;
}
