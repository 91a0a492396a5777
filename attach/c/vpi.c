/*
 * Verilog over VPI: system functions for Icarus Verilog. Build it beside the library, which it must be linked with and not contain, as vvp unloads its modules and
 * the library cannot be unloaded:
 *
 *   gcc -shared -fPIC -I/usr/include/iverilog -o ibwitness.vpi vpi.c -L. -libwitness -Wl,-rpath,'$ORIGIN'
 *
 * All return an integer; a negative one says that something was wrong with the call, which $ibw_tell tells. Arguments in brackets may be left out.
 *
 *   $ibw_open(name, config [, stop])              number of the run of that name; 0: it cannot be opened, and why was printed. +ibwitness_config=FILE takes the
 *                                                 place of config, +ibwitness_stop that of stop
 *   $ibw_tap(run, name), $ibw_hca(run, name)      their numbers
 *   $ibw_beat(run, tap, way, tdata, tkeep, tlast, bad [, big_endian])    way: 1 to the device, 2 from it, 0 unknown
 *   $ibw_symbols(run, tap, port, symbols, data, keep, last, ebp [, big_endian])    what port 0 or 1 of an InfiniBand link sends; symbols: 0 a data packet, 1 a link packet
 *   $ibw_port_state(run, tap, port, state)        its physical state, from now on: 5 is link up
 *   $ibw_advance(run), $ibw_lost(run, tap, n), $ibw_reset(run, tap)
 *   $ibw_due(run, period)                         1: $ibw_advance is to be called, as an event waits for it, or so many nanoseconds have passed since
 *   $ibw_event(run, hca, json)                    this and those below are judged at the next call of a later time
 *   $ibw_segment(run, addr, length, lkey)         a segment of the work request that is posted next: those come first, and that of the post, where its length is not 0, is
 *                                                 the last
 *   $ibw_post_send(run, hca, qpn, wr_id, operation, flags, addr, length, lkey [, remote_addr, rkey, imm, inv_rkey, compare, swap_add, dest_qpn, qkey, ah,
 *                                                 xrc_srqn])
 *   $ibw_post_recv(run, hca, qpn, wr_id, addr, length, lkey [, srq])
 *   $ibw_complete(run, hca, qpn, wr_id, status, operation, byte_len [, has_imm, imm, has_inv, inv_rkey, src_qpn, cq,
 *                                                 has_grh, slid, sl])
 *   $ibw_tell(run, result [, rule])               prints what was found, and what was wrong with a call whose result that was; how many errors it has printed; rule is
 *                                                 set to that of the first
 *   $ibw_next(run, tone, rule, text)              or takes one finding: 1, and sets tone (0, 1 warning, 2 error), rule and text; 0: there is none
 *   $ibw_message(run, text)                       sets text to what was wrong with the last call that failed
 *   $ibw_errors(run), $ibw_outstanding(run), $ibw_lenient(run), $ibw_exercised(run, rule)
 *   $ibw_finish(run)                              ends the run; the end of the simulation does it too
 *   $ibw_report(run, format, file)                of a run that has ended
 */
#include "hdl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vpi_user.h>

/* Of Icarus alone. */
extern void vpip_set_return_value(int value) __attribute__((weak));

enum { ARGS = 24, LANES = 4096 };

struct call {
  vpiHandle site, arg[ARGS];
  int n;
};

static struct {
  unsigned char stops;
} *wants;
static int nwants;

/* now is the time in picoseconds. */
static uint64_t now(void) {
  s_vpi_time t = {.type = vpiSimTime};
  vpi_get_time(NULL, &t);
  uint64_t at = (uint64_t)t.high << 32 | t.low;
  int e = vpi_get(vpiTimePrecision, NULL) + 12;
  for (; e > 0; e--) at *= 10;
  for (; e < 0; e++) at /= 10;
  return at;
}

static uint64_t number(struct call *c, int i) {
  if (i >= c->n) return 0;
  s_vpi_value v = {.format = vpiVectorVal};
  int size = vpi_get(vpiSize, c->arg[i]);
  vpi_get_value(c->arg[i], &v);
  uint64_t x = (uint32_t)(v.value.vector[0].aval & ~v.value.vector[0].bval);
  if (size > 32) x |= (uint64_t)(uint32_t)(v.value.vector[1].aval & ~v.value.vector[1].bval) << 32;
  return size < 64 ? x & (((uint64_t)1 << size) - 1) : x; /* bits above the size may be set */
}

static int small(struct call *c, int i) { return (int)number(c, i); } /* an integer has 32 bits */

static char *place[4];

/* text is an argument as text, in one of some places that calls take turns in. */
static const char *text(struct call *c, int i) {
  static int turn;
  if (i >= c->n) return "";
  s_vpi_value v = {.format = vpiStringVal};
  vpi_get_value(c->arg[i], &v);
  char **p = &place[turn++ % 4];
  free(*p);
  *p = strdup(v.value.str ? v.value.str : "");
  return *p ? *p : "";
}

static void set_text(struct call *c, int i, const char *s) {
  if (i >= c->n) return;
  s_vpi_value v = {.format = vpiStringVal, .value.str = (char *)s};
  vpi_put_value(c->arg[i], &v, NULL, vpiNoDelay);
}

static void set_number(struct call *c, int i, int x) {
  if (i >= c->n) return;
  s_vpi_value v = {.format = vpiIntVal, .value.integer = x};
  vpi_put_value(c->arg[i], &v, NULL, vpiNoDelay);
}

static ibw *run_of(struct call *c) { return ibw_hdl_run(small(c, 0)); }

static const char *const tones[] = {"Note", "Warning", "Error"};

static void say(int tone, const char *from, const char *what) {
  vpi_printf("[%llu ps] %s: %s%s%s\n", (unsigned long long)now(), tones[tone], from, *from ? ": " : "", what);
  if (tone == IBW_HDL_FAIL) vpi_flush();
}

static void finding(const ibw_finding *f, const char *from) {
  char start[256];
  strncpy(start, from, sizeof start - 16);
  start[sizeof start - 16] = 0;
  strcat(start, *start ? ": ibwitness" : "ibwitness");
  say(ibw_hdl_tone(f), start, f->text);
}

static const char *scope(struct call *c) {
  vpiHandle s = vpi_handle(vpiScope, c->site);
  const char *name = s ? vpi_get_str(vpiFullName, s) : NULL;
  return name ? name : "";
}

static void fail(void) {
  if (vpip_set_return_value) vpip_set_return_value(1);
  else ibw_hdl_fail();
}

/* option is the value of a plusarg; null: it is not there. */
static const char *option(const char *name) {
  s_vpi_vlog_info info;
  size_t n = strlen(name);
  if (!vpi_get_vlog_info(&info)) return NULL;
  for (int i = 1; i < info.argc; i++)
    if (!strncmp(info.argv[i], name, n)) return info.argv[i] + n;
  return NULL;
}

static int open_run(struct call *c) {
  const char *config = option("+ibwitness_config=");
  int run = ibw_hdl_open(text(c, 0), config ? config : text(c, 1));
  if (!run) {
    say(IBW_HDL_FAIL, "", ibw_hdl_message(0));
    fail();
    return 0;
  }
  if (run > nwants) {
    wants = realloc(wants, run * sizeof *wants);
    if (!wants) abort();
    memset(wants + nwants, 0, (run - nwants) * sizeof *wants);
    nwants = run;
  }
  if (small(c, 2) || option("+ibwitness_stop")) wants[run - 1].stops = 1;
  return run;
}

static int tap(struct call *c) { return ibw_tap(run_of(c), text(c, 1)); }
static int hca(struct call *c) { return ibw_hca(run_of(c), text(c, 1)); }

/* bits copies a vector to bytes from a place on, and returns whether one of its bits is neither 0 nor 1. */
static void bits(vpiHandle from, int n, uint8_t *to, uint8_t *unknown) {
  s_vpi_value v = {.format = vpiVectorVal};
  vpi_get_value(from, &v);
  for (int i = 0; i < n; i++) {
    const s_vpi_vecval *w = &v.value.vector[i / 4];
    to[i] = (uint32_t)(w->aval & ~w->bval) >> (i % 4 * 8);
    unknown[i] = (uint32_t)w->bval >> (i % 4 * 8);
  }
}

static struct {
  uint8_t lanes[LANES + 8], keep[LANES / 8 + 1];
} beat;

/* read_beat takes a beat whose data is argument i, and returns how many lanes it is, which is a multiple of 8; 0: it cannot be one, and that was told. */
static int read_beat(struct call *c, int i, int big, const char *name) {
  static uint8_t x[LANES + 8], kx[LANES / 8 + 1], k[LANES / 8 + 1];
  int size = vpi_get(vpiSize, c->arg[i]), n = size / 8;
  if (size % 8 || !n || n > LANES || vpi_get(vpiSize, c->arg[i + 1]) < n) {
    char why[256];
    snprintf(why, sizeof why, "ibwitness: %s: give data of whole bytes, 32768 bits at most, and keep with a bit for each byte", name);
    say(IBW_HDL_FAIL, scope(c), why);
    fail();
    return 0;
  }
  int all = (n + 7) / 8 * 8, pad = big ? all - n : 0, unknown = 0;
  memset(beat.lanes, 0, all);
  memset(beat.keep, 0, all / 8);
  bits(c->arg[i], n, beat.lanes + pad, x);
  bits(c->arg[i + 1], (n + 7) / 8, k, kx);
  for (int j = 0; j < n; j++) {
    unknown |= kx[j / 8] >> (j % 8) & 1;
    if (!(k[j / 8] >> (j % 8) & 1)) continue;
    beat.keep[(j + pad) / 8] |= 1 << ((j + pad) % 8);
    unknown |= x[j];
  }
  if (unknown) say(IBW_HDL_WARN, scope(c), "ibwitness: a beat has bits that are neither 0 nor 1, which are taken for 0");
  return all;
}

/* ends are the flags of a beat, of which argument i is whether it is the last. */
static int ends(struct call *c, int i, int big) {
  return (small(c, i) ? IBW_HDL_LAST : 0) | (small(c, i + 1) ? IBW_HDL_BAD : 0) | (big ? IBW_HDL_BIG_ENDIAN : 0);
}

static int frame(struct call *c) {
  if (c->n < 7) return IBW_EINVAL;
  int big = small(c, 7), n = read_beat(c, 3, big, "$ibw_beat");
  return n ? ibw_hdl_beat(small(c, 0), small(c, 1), small(c, 2), now(), beat.lanes, beat.keep, n, ends(c, 5, big)) : 0;
}

static int symbols(struct call *c) {
  if (c->n < 8) return IBW_EINVAL;
  int big = small(c, 8), n = read_beat(c, 4, big, "$ibw_symbols");
  return n ? ibw_hdl_symbols(small(c, 0), small(c, 1), small(c, 2), small(c, 3), now(), beat.lanes, beat.keep, n, ends(c, 6, big)) : 0;
}

static int port_state(struct call *c) { return ibw_hdl_port_state(small(c, 0), small(c, 1), small(c, 2), small(c, 3), now()); }

static int advance(struct call *c) { return ibw_advance(run_of(c), now()); }
static int lost(struct call *c) { return ibw_lost(run_of(c), small(c, 1), number(c, 2)); }
static int reset(struct call *c) { return ibw_reset(run_of(c), small(c, 1), now()); }
static int due(struct call *c) { return ibw_hdl_due(small(c, 0), now(), number(c, 1) * 1000); }

static int event(struct call *c) {
  return ibw_event(run_of(c), small(c, 1), now(), text(c, 2));
}

static int segment(struct call *c) { return ibw_hdl_segment(small(c, 0), number(c, 1), small(c, 2), small(c, 3)); }

static int post_send(struct call *c) {
  ibw_send s = {.qpn = small(c, 2), .wr_id = number(c, 3), .operation = small(c, 4), .flags = small(c, 5), .remote_addr = number(c, 9), .rkey = small(c, 10),
                .imm = small(c, 11), .inv_rkey = small(c, 12), .compare = number(c, 13), .swap_add = number(c, 14), .dest_qpn = small(c, 15),
                .qkey = small(c, 16), .ah = small(c, 17), .xrc_srqn = small(c, 18)};
  return ibw_hdl_send(small(c, 0), small(c, 1), now(), &s, number(c, 6), small(c, 7), small(c, 8));
}

static int post_recv(struct call *c) {
  return ibw_hdl_recv(small(c, 0), small(c, 1), now(), small(c, 2), small(c, 7), number(c, 3), number(c, 4), small(c, 5), small(c, 6));
}

static int complete(struct call *c) {
  ibw_completion w = {.size = sizeof w, .qpn = small(c, 2), .wr_id = number(c, 3), .status = small(c, 4), .operation = small(c, 5), .byte_len = small(c, 6),
                      .has_imm = small(c, 7), .imm = small(c, 8), .has_inv = small(c, 9), .inv_rkey = small(c, 10), .src_qpn = small(c, 11), .cq = small(c, 12),
                      .has_grh = small(c, 13), .slid = small(c, 14), .sl = small(c, 15)};
  return ibw_complete(run_of(c), small(c, 1), now(), &w);
}

static int tell(struct call *c) {
  int run = small(c, 0), errors = 0;
  const ibw_finding *f;
  if (small(c, 1) < 0) {
    say(IBW_HDL_FAIL, scope(c), ibw_hdl_message(run));
    fail();
  }
  while ((f = ibw_hdl_next(run))) {
    finding(f, scope(c));
    if (ibw_hdl_tone(f) == IBW_HDL_FAIL && !errors++) set_text(c, 2, f->rule);
  }
  if (errors && run <= nwants && wants[run - 1].stops) {
    ibw_hdl_lenient(run); /* what is not done by now is no fault */
    vpi_control(vpiFinish, 0);
  }
  return errors;
}

static int next(struct call *c) {
  const ibw_finding *f = ibw_hdl_next(small(c, 0));
  if (!f) return 0;
  set_number(c, 1, ibw_hdl_tone(f));
  set_text(c, 2, f->rule);
  set_text(c, 3, f->text);
  return 1;
}

static int message(struct call *c) {
  set_text(c, 1, ibw_hdl_message(small(c, 0)));
  return 0;
}

static int errors(struct call *c) { return ibw_errors(run_of(c)); }
static int outstanding(struct call *c) { return ibw_hdl_outstanding(small(c, 0)); }

static int lenient(struct call *c) {
  ibw_hdl_lenient(small(c, 0));
  return 0;
}

static int exercised(struct call *c) {
  uint64_t n = 0, violated;
  int e = ibw_covered(run_of(c), text(c, 1), &n, &violated);
  return e < 0 ? e : n > INT32_MAX ? INT32_MAX : (int)n;
}

/* finish ends a run, and says why it failed. */
static int finish(int run, const char *from) {
  int e = ibw_hdl_end(run, now());
  const ibw_finding *f;
  if (e == 0) return 0;
  if (e < 0) {
    say(IBW_HDL_FAIL, from, ibw_hdl_message(run));
    fail();
  }
  while ((f = ibw_hdl_next(run))) finding(f, from);
  for (const char *doubt; *(doubt = ibw_hdl_doubt(run));) {
    char line[512];
    snprintf(line, sizeof line, "ibwitness: %s", doubt);
    say(IBW_HDL_WARN, from, line);
  }
  if (*ibw_hdl_verdict(run)) {
    say(IBW_HDL_FAIL, from, ibw_hdl_verdict(run));
    fail();
  }
  return e;
}

static int finish_run(struct call *c) { return finish(small(c, 0), scope(c)); }
static int report(struct call *c) { return ibw_report(run_of(c), text(c, 1), text(c, 2)); }

/* vvp unloads the module before its memory. */
__attribute__((destructor)) static void unload(void) {
  for (size_t i = 0; i < sizeof place / sizeof *place; i++) free(place[i]);
  free(wants);
}

static PLI_INT32 over(struct t_cb_data *unused) {
  (void)unused;
  for (int run = 1; run <= nwants; run++) finish(run, "");
  return 0;
}

static const struct {
  const char *name;
  int (*fn)(struct call *);
} functions[] = {
    {"$ibw_open", open_run},     {"$ibw_tap", tap},           {"$ibw_hca", hca},           {"$ibw_beat", frame},     {"$ibw_advance", advance}, {"$ibw_lost", lost},
    {"$ibw_reset", reset},       {"$ibw_event", event},       {"$ibw_post_send", post_send}, {"$ibw_post_recv", post_recv}, {"$ibw_complete", complete},
    {"$ibw_tell", tell},         {"$ibw_next", next},         {"$ibw_message", message},   {"$ibw_errors", errors}, {"$ibw_outstanding", outstanding},
    {"$ibw_lenient", lenient},   {"$ibw_exercised", exercised}, {"$ibw_finish", finish_run}, {"$ibw_report", report},     {"$ibw_due", due},
    {"$ibw_symbols", symbols},   {"$ibw_port_state", port_state}, {"$ibw_segment", segment},
};

static PLI_INT32 called(ICARUS_VPI_CONST PLI_BYTE8 *data) {
  struct call c = {.site = vpi_handle(vpiSysTfCall, NULL)};
  vpiHandle list = vpi_iterate(vpiArgument, c.site), arg;
  while (list && (arg = vpi_scan(list)))
    if (c.n < ARGS) c.arg[c.n++] = arg;
  s_vpi_value v = {.format = vpiIntVal, .value.integer = functions[(intptr_t)data].fn(&c)};
  vpi_put_value(c.site, &v, NULL, vpiNoDelay);
  return 0;
}

static void registers(void) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    s_vpi_systf_data f = {.type = vpiSysFunc, .sysfunctype = vpiIntFunc, .tfname = functions[i].name, .calltf = called, .user_data = (PLI_BYTE8 *)(intptr_t)i};
    vpi_register_systf(&f);
  }
  s_cb_data end = {.reason = cbEndOfSimulation, .cb_rtn = over};
  vpi_register_cb(&end);
}

void (*vlog_startup_routines[])(void) = {registers, NULL};
