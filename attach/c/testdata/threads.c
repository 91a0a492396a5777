/* Eight runs in eight threads: threads RUN.pcap DIR writes the report of each. */
#include "../ibwitness.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *data;
static long size;
static const char *dir;

static void *verify(void *n) {
  char err[512], name[512];
  ibw *r = ibw_open("{\"time\": \"unix\", \"name\": \"t\"}", err, sizeof err);
  if (!r) {
    puts(err);
    exit(4);
  }
  for (long at = 24; at + 16 <= size;) {
    uint32_t h[4];
    memcpy(h, data + at, 16);
    if (ibw_frame(r, 0, 0, h[0] * 1000000000ull + h[1], data + at + 16, h[2], h[3]) < 0) puts(ibw_error(r));
    at += 16 + h[2];
  }
  snprintf(name, sizeof name, "%s/%d.json", dir, (int)(intptr_t)n);
  if (ibw_end(r, 0) < 0 || ibw_report(r, "json", name) < 0 || ibw_close(r) < 0) puts(ibw_error(r));
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  FILE *f = fopen(argv[1], "rb");
  if (!f) return 3;
  fseek(f, 0, SEEK_END);
  size = ftell(f);
  rewind(f);
  data = malloc(size);
  if (fread(data, 1, size, f) != (size_t)size) return 3;
  fclose(f);
  dir = argv[2];
  pthread_t t[8];
  for (int i = 0; i < 8; i++) pthread_create(&t[i], NULL, verify, (void *)(intptr_t)i);
  for (int i = 0; i < 8; i++) pthread_join(t[i], NULL);
  free(data);
  return 0;
}
