/* Uses the library wrongly in all the ways that a testbench might, and says what came of each. */
#include "../ibwitness.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static ibw *r;

static void show(const char *what, int status) { printf("%s: %d %s\n", what, status, status < 0 ? ibw_error(r) : ""); }

static ibw *opened(const char *config) {
  char err[512] = "";
  ibw *run = ibw_open(config, err, sizeof err);
  if (!run) printf("open: %s\n", err);
  return run;
}

static void again(void *user, const ibw_finding *f) {
  (void)user;
  (void)f;
}

static pthread_barrier_t meet;
static _Atomic int met;

static void *other(void *unused) {
  (void)unused;
  pthread_barrier_wait(&meet);
  while (!met) {
    int e = ibw_advance(r, 1000000000);
    if (e == IBW_EBUSY) met = 1;
    if (e != 0 && e != IBW_EBUSY) show("two threads", e);
  }
  return NULL;
}

int main(void) {
  uint8_t frame[64] = {0}, keep[8] = {0xff, 0xff};
  char json[8];
  opened("{");
  opened("{\"taps\": 3}");
  opened("{\"tap\": []}");
  opened("{\"taps\": [{\"near\": \"nowhere\"}]}");
  opened("{\"taps\": [{\"link\": \"tokenring\"}]}");
  opened("{\"waive\": [{\"rule\": \"RC-XXX-001\", \"why\": \"?\"}]}");
  opened("{\"waive\": [{\"rule\": \"RC-PSN-001\"}]}");
  opened("{\"reports\": {\"word\": \"x\"}}");
  opened("{\"record\": \"/nowhere/at/all\"}");
  show("null run", ibw_frame(NULL, 0, 0, 0, frame, 64, 0));
  char junk[256] = {0};
  show("no run", ibw_frame((ibw *)junk, 0, 0, 0, frame, 64, 0));
  r = opened("{\"taps\": [{\"name\": \"a\"}], \"hcas\": [{\"name\": \"dut\", \"gid\": \"10.0.0.1\"}]}");
  show("frame", ibw_frame(r, 0, 0, 5000, frame, 64, 0));
  show("null frame", ibw_frame(r, 0, 0, 5000, NULL, 64, 0));
  show("empty frame", ibw_frame(r, 0, 0, 5000, NULL, 0, 0));
  show("cut frame", ibw_frame(r, 0, 0, 5000, frame, 64, 5000));
  show("huge frame", ibw_frame(r, 0, 0, 5000, frame, (size_t)1 << 40, 0));
  show("huge wire length", ibw_frame(r, 0, 0, 5000, frame, 64, (size_t)1 << 62));
  show("direction", ibw_frame(r, 0, 7, 5000, frame, 64, 0));
  show("tap", ibw_frame(r, 9, 0, 5000, frame, 64, 0));
  show("time goes back", ibw_frame(r, 0, 0, 4000, frame, 64, 0));
  show("beat of an unknown tap", ibw_beat(r, 9, 0, 5000, frame, keep, 16, 1, 0));
  show("beat without lanes", ibw_beat(r, 0, 0, 5000, NULL, keep, 16, 1, 0));
  show("beat too wide", ibw_beat(r, 0, 0, 5000, frame, keep, 1 << 20, 1, 0));
  int e = 0;
  for (int i = 0; i < 70000 && e == 0; i++) e = ibw_beat(r, 0, 0, 5000, frame, keep, 16, 0, 0);
  show("frame without an end", e);
  show("bad frame", ibw_beat(r, 0, 0, 5000, frame, keep, 16, 1, 1));
  show("tap name", ibw_tap(r, "b"));
  show("tap null", ibw_tap(r, NULL));
  show("hca name", ibw_hca(r, "b"));
  show("add a tap", ibw_add_tap(r, "{\"name\": \"b\"}"));
  show("add a tap near somebody new", ibw_add_tap(r, "{\"name\": \"c\", \"near\": \"10.0.0.9\"}"));
  show("event null", ibw_event(r, 0, 5000, NULL));
  show("event of an unknown HCA", ibw_event(r, 3, 5000, "{}"));
  show("event that is none", ibw_event(r, 0, 5000, "hello"));
  show("event without a name", ibw_event(r, 0, 5000, "{}"));
  show("event unknown", ibw_event(r, 0, 5000, "{\"ev\":\"fly\"}"));
  show("two events", ibw_event(r, 0, 5000, "{\"ev\":\"die\"}\n{\"ev\":\"die\"}"));
  show("event", ibw_event(r, 0, 5000, "{\"ev\":\"create_qp\",\"qpn\":17,\"type\":\"rc\"}"));
  ibw_send s = {0};
  show("request without a size", ibw_post_send(r, 0, 5000, &s));
  s.size = sizeof s;
  s.operation = 77;
  show("operation", ibw_post_send(r, 0, 5000, &s));
  s.operation = IBW_SEND;
  s.nsegments = 3;
  show("segments", ibw_post_send(r, 0, 5000, &s));
  ibw_completion c = {0};
  c.size = sizeof c;
  c.status = 4000;
  show("status", ibw_complete(r, 0, 5000, &c));
  show("link", ibw_link(r, 0, 0, IBW_LINK_PACKET, 0, 5000, frame, 6));
  show("link beat", ibw_link_beat(r, 0, 0, IBW_LINK_PACKET, 5000, frame, keep, 6, 1, 0));
  show("link beat of port 2", ibw_link_beat(r, 0, 2, IBW_LINK_PACKET, 5000, frame, keep, 6, 1, 0));
  show("link beat without lanes", ibw_link_beat(r, 0, 0, IBW_LINK_PACKET, 5000, NULL, keep, 6, 1, 0));
  show("link beat of an unknown tap", ibw_link_beat(r, 0x80000000, 0, IBW_LINK_PACKET, 5000, frame, keep, 6, 1, 0));
  show("reset of nobody", ibw_reset(r, 0, 5000));
  show("next null", ibw_next(r, NULL));
  ibw_finding f = {0};
  show("finding without a size", ibw_next(r, &f));
  show("from RESET to RTS", ibw_event(r, 0, 5000, "{\"ev\":\"modify_qp\",\"qpn\":17,\"from\":\"RESET\",\"to\":\"RTS\"}"));
  f.size = offsetof(ibw_finding, psn);
  show("finding of an earlier header", ibw_next(r, &f));
  printf("class %d, %u bytes, beyond them %s\n", f.cls, f.size, f.rule ? "written" : "nothing");
  show("report before the end", ibw_report(r, "text", "-"));
  show("covered", ibw_covered(r, "nothing", NULL, NULL));
  show("outstanding cut", ibw_outstanding(r, json, sizeof json));
  printf("%s\n", json);
  pthread_t t;
  pthread_barrier_init(&meet, NULL, 2);
  pthread_create(&t, NULL, other, NULL);
  pthread_barrier_wait(&meet);
  while (!met) {
    int status = ibw_advance(r, 1000000000);
    if (status < 0) met = 1;
  }
  pthread_join(t, NULL);
  printf("two threads: told\n");
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    show("forked", ibw_advance(r, 1000000000));
    fflush(stdout);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  show("callback", ibw_on_finding(r, again, NULL));
  show("end", ibw_end(r, 2000000000));
  show("end again", ibw_end(r, 2000000000));
  show("frame after the end", ibw_frame(r, 0, 0, 2000000000, frame, 64, 0));
  show("report format", ibw_report(r, "word", "x"));
  show("report without a file", ibw_report(r, "text", NULL));
  show("report that cannot be written", ibw_report(r, "text", "/nowhere/at/all"));
  show("report of frames that were not recorded", ibw_report(r, "pcapng", "x.pcapng"));
  show("close", ibw_close(r));
  show("close again", ibw_close(r));
  show("frame after closing", ibw_frame(r, 0, 0, 0, frame, 64, 0));
  return 0;
}
