/* Gives beats without an end, then the last, and a frame by beats: endless FRAME PACKET REPORT. Both are hexadecimal digits, and have a violation. */
#include "../ibwitness.h"

#include <stdio.h>
#include <string.h>

static ibw *r;
static uint64_t now;

/* port is that of a link, or -1: Ethernet. */
static int beat(int port, const uint8_t *lanes, uint32_t n, int last) {
  now += 1000;
  if (port < 0) return ibw_beat(r, 0, IBW_OUT, now, lanes, NULL, n, last, 0);
  return ibw_link_beat(r, 1, (uint32_t)port, IBW_DATA_PACKET, now, lanes, NULL, n, last, 0);
}

static void endless(int port, const char *name, const char *hex) {
  uint8_t frame[4096] = {0};
  uint32_t size = 0;
  for (unsigned x; size < sizeof frame && sscanf(hex + 2 * size, "%2x", &x) == 1; size++) frame[size] = (uint8_t)x;
  for (int i = 1; i <= 200000; i++) {
    int e = beat(port, frame, 16, i == 200000);
    if (e) printf("beat %d of a %s: %d, %s\n", i, name, e, ibw_error(r));
  }
  int errors = 0;
  for (uint32_t at = 0; at < size; at += 16) {
    uint32_t n = size - at < 16 ? size - at : 16;
    int e = beat(port, frame + at, n, at + n == size);
    if (e < 0) printf("%s\n", ibw_error(r));
    errors += e;
  }
  printf("the frame after it: %d\n", errors);
}

int main(int argc, char **argv) {
  char err[512];
  if (argc != 4) return 2;
  r = ibw_open("{\"taps\": [{\"icrc\": \"ignore\"}, {\"link\": \"link\", \"icrc\": \"ignore\"}]}", err, sizeof err);
  if (!r) return puts(err), 3;
  endless(-1, "frame", argv[1]);
  endless(0, "packet of port 0", argv[2]);
  endless(1, "packet of port 1", argv[2]);
  if (ibw_end(r, now) < 0 || ibw_report(r, "json", argv[3]) < 0) puts(ibw_error(r));
  return ibw_close(r) == 0 ? 0 : 1;
}
