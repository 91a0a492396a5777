/*
 * SystemVerilog over DPI-C: what attach/sv/ibwitness_pkg.sv imports. Everything crosses by value, as a string, or as a vector of bits of one size, so that no
 * simulator's svdpi.h is needed; the library has it in it (-sv_lib libibwitness).
 */
#include "hdl.h"

#include <string.h>

int ibw_sv_open(const char *name, const char *config) { return ibw_hdl_open(name, config); }
const char *ibw_sv_message(int run) { return ibw_hdl_message(run); }
int ibw_sv_tap(int run, const char *name) { return ibw_tap(ibw_hdl_run(run), name); }
int ibw_sv_hca(int run, const char *name) { return ibw_hca(ibw_hdl_run(run), name); }

int ibw_sv_beat8(int run, int tap, int way, uint64_t time, uint64_t lanes, uint8_t keep, int flags) {
  uint8_t b[8];
  memcpy(b, &lanes, sizeof b);
  return ibw_hdl_beat(run, tap, way, time, b, &keep, sizeof b, flags);
}

int ibw_sv_beat64(int run, int tap, int way, uint64_t time, const uint32_t *lanes, uint64_t keep, int flags) {
  uint8_t b[64], k[8];
  memcpy(b, lanes, sizeof b);
  memcpy(k, &keep, sizeof k);
  return ibw_hdl_beat(run, tap, way, time, b, k, sizeof b, flags);
}

int ibw_sv_symbols(int run, int tap, int port, int symbols, uint64_t time, const uint32_t *lanes, uint64_t keep, int flags) {
  uint8_t b[64], k[8];
  memcpy(b, lanes, sizeof b);
  memcpy(k, &keep, sizeof k);
  return ibw_hdl_symbols(run, tap, port, symbols, time, b, k, sizeof b, flags);
}

int ibw_sv_port_state(int run, int tap, int port, int state, uint64_t time) { return ibw_hdl_port_state(run, tap, port, state, time); }

int ibw_sv_event(int run, int hca, uint64_t time, const char *json) {
  return ibw_event(ibw_hdl_run(run), (uint32_t)hca, time, json);
}

int ibw_sv_segment(int run, uint64_t addr, uint32_t length, uint32_t lkey) { return ibw_hdl_segment(run, addr, length, lkey); }

int ibw_sv_post_send(int run, int hca, uint64_t time, uint32_t qpn, uint64_t wr_id, int operation, uint32_t flags, uint64_t addr, uint32_t length, uint32_t lkey,
                     uint64_t remote_addr, uint32_t rkey, uint32_t imm, uint32_t inv_rkey, uint64_t compare, uint64_t swap_add, uint32_t dest_qpn, uint32_t qkey,
                     uint32_t ah, uint32_t xrc_srqn) {
  ibw_send s = {.qpn = qpn, .wr_id = wr_id, .operation = operation, .flags = flags, .remote_addr = remote_addr, .rkey = rkey, .imm = imm, .inv_rkey = inv_rkey,
                .compare = compare, .swap_add = swap_add, .dest_qpn = dest_qpn, .qkey = qkey, .ah = ah, .xrc_srqn = xrc_srqn};
  return ibw_hdl_send(run, hca, time, &s, addr, length, lkey);
}

int ibw_sv_post_recv(int run, int hca, uint64_t time, uint32_t qpn, uint32_t srq, uint64_t wr_id, uint64_t addr, uint32_t length, uint32_t lkey) {
  return ibw_hdl_recv(run, hca, time, qpn, srq, wr_id, addr, length, lkey);
}

int ibw_sv_complete(int run, int hca, uint64_t time, uint32_t qpn, uint64_t wr_id, int status, int operation, uint32_t byte_len, int has_imm, uint32_t imm,
                    int has_inv, uint32_t inv_rkey, uint32_t src_qpn, uint32_t cq, int has_grh, uint32_t slid, uint32_t sl) {
  ibw_completion c = {.size = sizeof c, .qpn = qpn, .wr_id = wr_id, .status = status, .operation = operation, .byte_len = byte_len, .has_imm = has_imm, .imm = imm,
                      .has_inv = has_inv, .inv_rkey = inv_rkey, .src_qpn = src_qpn, .cq = cq, .has_grh = has_grh, .slid = slid, .sl = sl};
  return ibw_complete(ibw_hdl_run(run), (uint32_t)hca, time, &c);
}

int ibw_sv_due(int run, uint64_t time, uint64_t period) { return ibw_hdl_due(run, time, period); }
int ibw_sv_advance(int run, uint64_t time) { return ibw_advance(ibw_hdl_run(run), time); }
int ibw_sv_lost(int run, int tap, uint64_t n) { return ibw_lost(ibw_hdl_run(run), (uint32_t)tap, n); }
int ibw_sv_reset(int run, int tap, uint64_t time) { return ibw_reset(ibw_hdl_run(run), (uint32_t)tap, time); }

int ibw_sv_next(int run) { return ibw_hdl_next(run) != NULL; }

/* Parts of the finding that ibw_sv_next took, and of none: 0 and empty texts. */
#define NUMBER(type, name, value)                    \
  type ibw_sv_finding_##name(int run) {              \
    const ibw_finding *f = ibw_hdl_finding(run);     \
    return f ? (type)(value) : 0;                    \
  }
#define TEXT(name)                                   \
  const char *ibw_sv_finding_##name(int run) {       \
    const ibw_finding *f = ibw_hdl_finding(run);     \
    return f ? f->name : "";                         \
  }
NUMBER(uint32_t, id, f->id)
NUMBER(int, tone, ibw_hdl_tone(f))
NUMBER(int, change, f->change)
NUMBER(int, cls, f->cls)
NUMBER(int, severity, f->severity)
NUMBER(int, waived, f->waived)
NUMBER(uint32_t, tap, f->tap)
NUMBER(uint64_t, frame, f->frame)
NUMBER(uint64_t, time, f->time_ps)
NUMBER(int64_t, psn, f->psn_known ? (int64_t)f->psn : -1)
NUMBER(int64_t, qpn, f->accused_qpn_known ? (int64_t)f->accused_qpn : -1)
TEXT(rule)
TEXT(name)
TEXT(reference)
TEXT(accused)
TEXT(peer)
TEXT(expected)
TEXT(actual)
TEXT(detail)
TEXT(text)
TEXT(comparison)

int ibw_sv_errors(int run) { return ibw_errors(ibw_hdl_run(run)); }
int ibw_sv_outstanding(int run) { return ibw_hdl_outstanding(run); }
const char *ibw_sv_outstanding_text(int run) { return ibw_hdl_outstanding_text(run); }
const char *ibw_sv_verdict(int run) { return ibw_hdl_verdict(run); }
const char *ibw_sv_doubt(int run) { return ibw_hdl_doubt(run); }
void ibw_sv_lenient(int run) { ibw_hdl_lenient(run); }
int ibw_sv_end(int run, uint64_t time) { return ibw_hdl_end(run, time); }
void ibw_sv_fail(void) { ibw_hdl_fail(); }
int ibw_sv_report(int run, const char *format, const char *file) { return ibw_report(ibw_hdl_run(run), format, file); }

uint64_t ibw_sv_exercised(int run, const char *rule) {
  uint64_t exercised = 0, violated;
  return ibw_covered(ibw_hdl_run(run), rule, &exercised, &violated) < 0 ? 0 : exercised;
}
