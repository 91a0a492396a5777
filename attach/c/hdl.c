/* See hdl.h. */
#include "hdl.h"

#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct held {
  ibw *run;
  char *name, *config, *outstanding, *doubts, *doubt; /* doubt: the next of doubts */
  ibw_finding finding;
  int found, left, ended, lenient; /* left: outstanding, when it ended */
  char verdict[1024];
  uint64_t advanced;
  ibw_segment *segments; /* of the work request that is posted next */
  uint32_t nsegments, room;
};

static struct held *runs;
static int nruns;
static char wrong[1024];
static int failing;

static struct held *at(int run) {
  if (run > 0 && run <= nruns) return &runs[run - 1];
  snprintf(wrong, sizeof wrong, "ibwitness: there is no run %d: use the number that the open function has returned, which is 0 where it failed", run);
  return NULL;
}

ibw *ibw_hdl_run(int run) {
  struct held *h = at(run);
  return h ? h->run : NULL;
}

const char *ibw_hdl_message(int run) {
  if (run > 0 && run <= nruns) return ibw_error(runs[run - 1].run);
  return wrong;
}

/* content is that of a file, or null. */
static char *content(const char *name) {
  FILE *f = fopen(name, "rb");
  if (!f) return NULL;
  size_t cap = 1 << 16, n = 0, got;
  char *text = malloc(cap);
  while (text && (got = fread(text + n, 1, cap - n - 1, f)) > 0)
    if ((n += got) == cap - 1) {
      char *more = realloc(text, cap *= 2);
      if (!more) free(text);
      text = more;
    }
  if (text) text[n] = 0;
  fclose(f);
  return text;
}

/* status takes the place of that of a program that finds nothing wrong itself. It was registered first, so that it comes last. */
static void status(int is, void *unused) {
  (void)unused;
  if (!failing || is != 0) return;
  fflush(NULL);
  _exit(1);
}

__attribute__((constructor)) static void early(void) { on_exit(status, NULL); }

void ibw_hdl_fail(void) { failing = 1; }

static int is_json(const char *config) {
  config += strspn(config, " \t\r\n");
  return !*config || *config == '{';
}

/* at_exit ends what nothing has ended. */
static void at_exit(void) {
  static const char *const tones[] = {"Note", "Warning", "Error"};
  for (int i = 1; i <= nruns; i++) {
    if (runs[i - 1].ended) continue;
    const ibw_finding *f;
    if (ibw_hdl_end(i, ibw_now(runs[i - 1].run)) < 0) fprintf(stderr, "Error: %s\n", ibw_hdl_message(i));
    while ((f = ibw_hdl_next(i))) fprintf(stderr, "%s: ibwitness: %s\n", tones[ibw_hdl_tone(f)], f->text);
    for (const char *doubt; *(doubt = ibw_hdl_doubt(i));) fprintf(stderr, "Warning: ibwitness: %s\n", doubt);
    if (!*ibw_hdl_verdict(i)) continue;
    fprintf(stderr, "Error: %s\n", ibw_hdl_verdict(i));
    failing = 1;
  }
}

int ibw_hdl_open(const char *name, const char *config) {
  if (!name) name = "";
  if (!config) config = "";
  for (int i = 0; i < nruns; i++) {
    if (strcmp(runs[i].name, name) || runs[i].ended) continue;
    if (!*config || !strcmp(config, runs[i].config)) return i + 1;
    snprintf(wrong, sizeof wrong, "ibwitness: the run \"%s\" was opened %s, and now with the configuration %.256s: give it wherever the run is opened, or as IBWITNESS_CONFIG", name,
             *runs[i].config ? "with another configuration" : "without a configuration", config);
    return 0;
  }
  char *text = NULL;
  if (!is_json(config) && !(text = content(config))) {
    snprintf(wrong, sizeof wrong, "ibwitness: the configuration %s cannot be read: give a file that is there, seen from where the simulator runs, or JSON", config);
    return 0;
  }
  struct held *more = realloc(runs, (nruns + 1) * sizeof *runs);
  if (!more) return 0;
  runs = more;
  struct held *h = &runs[nruns];
  memset(h, 0, sizeof *h);
  h->run = ibw_open(text ? text : config, wrong, sizeof wrong);
  free(text);
  if (!h->run) return 0;
  h->name = strdup(name);
  h->config = strdup(config);
  if (!h->name || !h->config) abort();
  if (!nruns++) atexit(at_exit); /* after the handler of the library, thus before it when the program exits */
  return nruns;
}

/* turn brings lanes that stand against the order of the bytes into it. */
static void turn(uint8_t *lanes, uint8_t *keep, uint32_t n) {
  for (uint32_t i = 0, j = n - 1; i < j; i++, j--) {
    uint8_t x = lanes[i];
    lanes[i] = lanes[j];
    lanes[j] = x;
  }
  for (uint32_t i = 0, j = n / 8 - 1; i <= j && j < n; i++, j--) {
    uint8_t a = keep[i], b = keep[j], c = 0, d = 0;
    for (int bit = 0; bit < 8; bit++) {
      c |= (b >> bit & 1) << (7 - bit);
      d |= (a >> bit & 1) << (7 - bit);
    }
    keep[i] = c;
    keep[j] = d;
  }
}

int ibw_hdl_beat(int run, int tap, int way, uint64_t time, uint8_t *lanes, uint8_t *keep, uint32_t n, int flags) {
  struct held *h = at(run);
  if (!h) return IBW_ECLOSED;
  if (flags & IBW_HDL_BIG_ENDIAN) turn(lanes, keep, n);
  return ibw_beat(h->run, (uint32_t)tap, way, time, lanes, keep, n, flags & IBW_HDL_LAST, flags & IBW_HDL_BAD);
}

int ibw_hdl_symbols(int run, int tap, int port, int symbols, uint64_t time, uint8_t *lanes, uint8_t *keep, uint32_t n, int flags) {
  struct held *h = at(run);
  if (!h) return IBW_ECLOSED;
  if (flags & IBW_HDL_BIG_ENDIAN) turn(lanes, keep, n);
  return ibw_link_beat(h->run, (uint32_t)tap, (uint32_t)port, symbols, time, lanes, keep, n, flags & IBW_HDL_LAST, flags & IBW_HDL_BAD);
}

int ibw_hdl_port_state(int run, int tap, int port, int state, uint64_t time) {
  uint8_t b = (uint8_t)state;
  return ibw_link_beat(ibw_hdl_run(run), (uint32_t)tap, (uint32_t)port, IBW_PORT_STATE, time, &b, NULL, 1, 1, 0);
}

int ibw_hdl_due(int run, uint64_t time, uint64_t period) {
  struct held *h = at(run);
  if (!h || !(ibw_held(h->run, time) || time - h->advanced >= period)) return 0;
  h->advanced = time;
  return 1;
}

int ibw_hdl_segment(int run, uint64_t addr, uint32_t length, uint32_t lkey) {
  struct held *h = at(run);
  if (!h) return IBW_ECLOSED;
  if (h->nsegments == h->room) {
    uint32_t room = h->room ? 2 * h->room : 8;
    ibw_segment *more = realloc(h->segments, room * sizeof *more);
    if (!more) return IBW_ENOMEM;
    h->segments = more;
    h->room = room;
  }
  h->segments[h->nsegments++] = (ibw_segment){addr, length, lkey};
  return 0;
}

/* gather adds the segment of a post to those that were told before it, and forgets them: they stay until the next is told. Returns how many there are, or a status. */
static int gather(struct held *h, int run, uint64_t addr, uint32_t length, uint32_t lkey) {
  if (!h) return IBW_ECLOSED;
  int e = length > 0 ? ibw_hdl_segment(run, addr, length, lkey) : 0;
  int n = (int)h->nsegments;
  h->nsegments = 0;
  return e < 0 ? e : n;
}

int ibw_hdl_send(int run, int hca, uint64_t time, ibw_send *request, uint64_t addr, uint32_t length, uint32_t lkey) {
  struct held *h = at(run);
  int n = gather(h, run, addr, length, lkey);
  if (n < 0) return n;
  request->size = sizeof *request;
  request->nsegments = (uint32_t)n;
  request->segments = h->segments;
  return ibw_post_send(h->run, (uint32_t)hca, time, request);
}

int ibw_hdl_recv(int run, int hca, uint64_t time, uint32_t qpn, uint32_t srq, uint64_t wr_id, uint64_t addr, uint32_t length, uint32_t lkey) {
  struct held *h = at(run);
  int n = gather(h, run, addr, length, lkey);
  if (n < 0) return n;
  return ibw_post_recv(h->run, (uint32_t)hca, time, qpn, srq, wr_id, h->segments, (uint32_t)n);
}

const ibw_finding *ibw_hdl_next(int run) {
  struct held *h = at(run);
  if (!h) return NULL;
  h->finding.size = sizeof h->finding;
  h->found = ibw_next(h->run, &h->finding) == 1;
  return h->found ? &h->finding : NULL;
}

const ibw_finding *ibw_hdl_finding(int run) {
  struct held *h = at(run);
  return h && h->found ? &h->finding : NULL;
}

int ibw_hdl_tone(const ibw_finding *f) {
  if (f->cls != IBW_VIOLATION || f->waived || f->change == IBW_DOUBTED || f->change == IBW_WITHDRAWN) return IBW_HDL_SAY;
  return f->severity == IBW_ERROR ? IBW_HDL_FAIL : f->severity == IBW_WARNING ? IBW_HDL_WARN : IBW_HDL_SAY;
}

int ibw_hdl_outstanding(int run) {
  struct held *h = at(run);
  if (!h) return IBW_ECLOSED;
  return h->ended ? h->left : ibw_outstanding(h->run, NULL, 0);
}

const char *ibw_hdl_outstanding_text(int run) {
  enum { ROOM = 4096 };
  struct held *h = at(run);
  if (!h) return "";
  if (h->ended) return h->outstanding ? h->outstanding : "";
  free(h->outstanding);
  h->outstanding = malloc(ROOM);
  if (!h->outstanding || ibw_outstanding(h->run, h->outstanding, ROOM) < 0) return "";
  return h->outstanding;
}

int ibw_hdl_end(int run, uint64_t time) {
  struct held *h = at(run);
  if (!h) return IBW_ECLOSED;
  if (h->ended) return 0;
  ibw_advance(h->run, time); /* what is due by then is told, and no longer outstanding */
  h->left = ibw_outstanding(h->run, NULL, 0);
  ibw_hdl_outstanding_text(run);
  h->ended = 1;
  int n = ibw_end(h->run, time);
  return n < 0 ? n : 1;
}

void ibw_hdl_lenient(int run) {
  struct held *h = at(run);
  if (h) h->lenient = 1;
}

const char *ibw_hdl_verdict(int run) {
  struct held *h = at(run);
  if (!h || !h->ended) return "";
  int errors = ibw_errors(h->run), left = h->lenient ? 0 : h->left;
  char *v = h->verdict;
  size_t n = sizeof h->verdict;
  *v = 0;
  if (errors > 0 && left > 0) snprintf(v, n, "ibwitness: %d error%s, and %d outstanding: %.900s", errors, errors == 1 ? "" : "s", left, h->outstanding ? h->outstanding : "");
  else if (errors > 0) snprintf(v, n, "ibwitness: %d error%s", errors, errors == 1 ? "" : "s");
  else if (left > 0) snprintf(v, n, "ibwitness: %d outstanding: %.900s", left, h->outstanding ? h->outstanding : "");
  return v;
}

const char *ibw_hdl_doubt(int run) {
  enum { ROOM = 8192 };
  struct held *h = at(run);
  if (!h || !h->ended) return "";
  if (!h->doubts) {
    h->doubt = h->doubts = malloc(ROOM);
    if (!h->doubts) return "";
    *h->doubts = 0;
    ibw_doubts(h->run, h->doubts, ROOM);
  }
  char *doubt = h->doubt, *end = strchr(doubt, '\n');
  h->doubt += end ? end - doubt + 1 : (ptrdiff_t)strlen(doubt);
  if (end) *end = 0;
  return doubt;
}
