/* Does what valgrind must see: gives the library more bytes than there are, which C copies and Go reads, and loses memory. */
#include "../ibwitness.h"

#include <stdlib.h>
#include <string.h>

static uint8_t *made(void) {
  uint8_t *frame = calloc(1, 60);
  if (!frame) exit(2);
  static const uint8_t ip[] = {0x08, 0x00, 0x45, 0, 0, 66, 0, 0, 0, 0, 64, 17}, udp[] = {0x12, 0xb7, 0, 46}; /* to RoCE, 80 bytes in all */
  memcpy(frame + 12, ip, sizeof ip);
  memcpy(frame + 36, udp, sizeof udp);
  return frame;
}

int main(void) {
  ibw *r = ibw_open("", NULL, 0);
  if (!r) return 2;
  for (int i = 0; i < 10; i++) ibw_frame(r, 0, 0, 1000, made(), 80, 0);
  uint8_t *frame = made();
  ibw_beat(r, 0, 0, 2000, frame, NULL, 80, 0, 0);
  free(frame);
  return ibw_close(r);
}
