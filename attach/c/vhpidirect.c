/*
 * VHDL over VHPIDIRECT, as GHDL has it: what attach/vhdl/ibwitness_pkg.vhd declares foreign. Scalars cross by value, strings and vectors as a pointer to their elements
 * and their bounds, std_ulogic as its position, time in units of the simulator with one nanosecond beside it. The library has it in it.
 */
#include "hdl.h"

#include <stdlib.h>
#include <string.h>

struct bounds {
  int32_t left, right;
  uint8_t downto;
  uint32_t length;
};

/* An unconstrained array; its first element is the leftmost. */
struct array {
  const uint8_t *base;
  const struct bounds *bounds;
};

static uint64_t ps(int64_t now, int64_t ns) { return (uint64_t)((__int128)now * 1000 / (ns > 0 ? ns : 1)); }

/* text is a string of VHDL with an end, in one of some places that calls take turns in. */
static const char *text(const struct array *s) {
  static char *place[4];
  static int turn;
  char **p = &place[turn++ % 4];
  free(*p);
  *p = malloc(s->bounds->length + 1);
  if (!*p) return "";
  memcpy(*p, s->base, s->bounds->length);
  (*p)[s->bounds->length] = 0;
  return *p;
}

int32_t ibw_vhdl_open(const struct array *name, const struct array *config) { return ibw_hdl_open(text(name), text(config)); }
int32_t ibw_vhdl_tap(int32_t run, const struct array *name) { return ibw_tap(ibw_hdl_run(run), text(name)); }
int32_t ibw_vhdl_hca(int32_t run, const struct array *name) { return ibw_hca(ibw_hdl_run(run), text(name)); }

enum { LANES = 4096, ZERO = 2, ONE = 3, LOW = 6, HIGH = 7 };

static int is_one(uint8_t x) { return x == ONE || x == HIGH; }
static int is_unclear(uint8_t x) { return !is_one(x) && x != ZERO && x != LOW; }

static int unclear; /* whether the last beat had bits that count and are neither 0 nor 1 */

/* A beat of any width, in the order of its bytes or, with IBW_HDL_BIG_ENDIAN, against it. */
static struct {
  uint8_t lanes[LANES + 8], keep[LANES / 8 + 1];
} beat;

/* read_beat takes a beat, and returns how many lanes it is, which is a multiple of 8; negative: it cannot be one. */
static int read_beat(const struct array *tdata, const struct array *tkeep, int32_t flags) {
  int n = (int)tdata->bounds->length / 8;
  if (tdata->bounds->length % 8 || !n || n > LANES || (int)tkeep->bounds->length != n) return IBW_EINVAL;
  int all = (n + 7) / 8 * 8, pad = flags & IBW_HDL_BIG_ENDIAN ? all - n : 0;
  memset(beat.lanes, 0, all);
  memset(beat.keep, 0, all / 8);
  unclear = 0;
  for (int i = 0; i < n; i++) {
    const uint8_t *bits = tdata->base + 8 * (n - 1 - i), k = tkeep->base[n - 1 - i]; /* of the lane, the highest first */
    unclear |= is_unclear(k);
    if (!is_one(k)) continue;
    beat.keep[(i + pad) / 8] |= 1 << ((i + pad) % 8);
    for (int j = 0; j < 8; j++) {
      unclear |= is_unclear(bits[j]);
      beat.lanes[i + pad] |= is_one(bits[j]) << (7 - j);
    }
  }
  return all;
}

int32_t ibw_vhdl_beat(int32_t run, int32_t tap, int32_t way, int64_t now, int64_t ns, const struct array *tdata, const struct array *tkeep, int32_t flags) {
  int n = read_beat(tdata, tkeep, flags);
  return n < 0 ? n : ibw_hdl_beat(run, tap, way, ps(now, ns), beat.lanes, beat.keep, n, flags);
}

int32_t ibw_vhdl_symbols(int32_t run, int32_t tap, int32_t port, int32_t symbols, int64_t now, int64_t ns, const struct array *data, const struct array *keep,
                         int32_t flags) {
  int n = read_beat(data, keep, flags);
  return n < 0 ? n : ibw_hdl_symbols(run, tap, port, symbols, ps(now, ns), beat.lanes, beat.keep, n, flags);
}

int32_t ibw_vhdl_port_state(int32_t run, int32_t tap, int32_t port, int32_t state, int64_t now, int64_t ns) {
  return ibw_hdl_port_state(run, tap, port, state, ps(now, ns));
}

int32_t ibw_vhdl_unclear(void) { return unclear; }

int32_t ibw_vhdl_due(int32_t run, int64_t now, int64_t ns, int64_t period) { return ibw_hdl_due(run, ps(now, ns), ps(period, ns)); }
int32_t ibw_vhdl_advance(int32_t run, int64_t now, int64_t ns) { return ibw_advance(ibw_hdl_run(run), ps(now, ns)); }
int32_t ibw_vhdl_lost(int32_t run, int32_t tap, int32_t n) { return ibw_lost(ibw_hdl_run(run), tap, n < 0 ? 0 : n); }
int32_t ibw_vhdl_reset(int32_t run, int32_t tap, int64_t now, int64_t ns) { return ibw_reset(ibw_hdl_run(run), tap, ps(now, ns)); }
int32_t ibw_vhdl_event(int32_t run, int32_t hca, int64_t now, int64_t ns, const struct array *json) {
  return ibw_event(ibw_hdl_run(run), hca, ps(now, ns), text(json));
}

/* Numbers of up to 64 bits are vectors, as an integer of VHDL has 32 bits and a sign. */
static uint64_t wide(const struct array *v) {
  uint64_t x = 0;
  for (uint32_t i = 0; i < v->bounds->length; i++) x = x << 1 | is_one(v->base[i]);
  return x;
}

int32_t ibw_vhdl_segment(int32_t run, const struct array *addr, int32_t length, const struct array *lkey) {
  return ibw_hdl_segment(run, wide(addr), length, wide(lkey));
}

int32_t ibw_vhdl_post_send(int32_t run, int32_t hca, int64_t now, int64_t ns, int32_t qpn, const struct array *wr_id, int32_t operation, int32_t flags,
                           const struct array *addr, int32_t length, const struct array *lkey, const struct array *remote_addr, const struct array *rkey,
                           const struct array *imm, const struct array *inv_rkey, const struct array *compare, const struct array *swap_add, int32_t dest_qpn,
                           const struct array *qkey, int32_t ah, int32_t xrc_srqn) {
  ibw_send s = {.qpn = qpn, .wr_id = wide(wr_id), .operation = operation, .flags = flags, .remote_addr = wide(remote_addr), .rkey = wide(rkey), .imm = wide(imm),
                .inv_rkey = wide(inv_rkey), .compare = wide(compare), .swap_add = wide(swap_add), .dest_qpn = dest_qpn, .qkey = wide(qkey), .ah = ah,
                .xrc_srqn = xrc_srqn};
  return ibw_hdl_send(run, hca, ps(now, ns), &s, wide(addr), length, wide(lkey));
}

int32_t ibw_vhdl_post_recv(int32_t run, int32_t hca, int64_t now, int64_t ns, int32_t qpn, int32_t srq, const struct array *wr_id, const struct array *addr,
                           int32_t length, const struct array *lkey) {
  return ibw_hdl_recv(run, hca, ps(now, ns), qpn, srq, wide(wr_id), wide(addr), length, wide(lkey));
}

int32_t ibw_vhdl_complete(int32_t run, int32_t hca, int64_t now, int64_t ns, int32_t qpn, const struct array *wr_id, int32_t status, int32_t operation,
                          int32_t byte_len, uint8_t has_imm, const struct array *imm, uint8_t has_inv, const struct array *inv_rkey, int32_t src_qpn, int32_t cq,
                          uint8_t has_grh, int32_t slid, int32_t sl) {
  ibw_completion c = {.size = sizeof c, .qpn = qpn, .wr_id = wide(wr_id), .status = status, .operation = operation, .byte_len = byte_len, .has_imm = has_imm,
                      .imm = wide(imm), .has_inv = has_inv, .inv_rkey = wide(inv_rkey), .src_qpn = src_qpn, .cq = cq, .has_grh = has_grh, .slid = slid, .sl = sl};
  return ibw_complete(ibw_hdl_run(run), hca, ps(now, ns), &c);
}

/* The finding that was taken last: -1 there is none, or its tone. */
int32_t ibw_vhdl_next(int32_t run) {
  const ibw_finding *f = ibw_hdl_next(run);
  return f ? ibw_hdl_tone(f) : -1;
}

/* Texts, a character at a time: place 1 is the first, and 0 is returned after the last. */
enum what { MESSAGE, TEXT, RULE, VERDICT, OUTSTANDING, DOUBT };

static const char *words(int run, int what) {
  const ibw_finding *f = ibw_hdl_finding(run);
  switch (what) {
    case MESSAGE: return ibw_hdl_message(run);
    case TEXT: return f ? f->text : "";
    case RULE: return f ? f->rule : "";
    case VERDICT: return ibw_hdl_verdict(run);
    case OUTSTANDING: return ibw_hdl_outstanding_text(run);
    case DOUBT: return ibw_hdl_doubt(run);
  }
  return "";
}

static const char *said = "";

int32_t ibw_vhdl_say(int32_t run, int32_t what) {
  said = words(run, what);
  return (int32_t)strlen(said);
}

int32_t ibw_vhdl_letter(int32_t place) { return (uint8_t)said[place - 1]; }

int32_t ibw_vhdl_errors(int32_t run) { return ibw_errors(ibw_hdl_run(run)); }
int32_t ibw_vhdl_outstanding(int32_t run) { return ibw_hdl_outstanding(run); }
void ibw_vhdl_lenient(int32_t run) { ibw_hdl_lenient(run); }
int32_t ibw_vhdl_end(int32_t run, int64_t now, int64_t ns) { return ibw_hdl_end(run, ps(now, ns)); }
void ibw_vhdl_fail(void) { ibw_hdl_fail(); }
