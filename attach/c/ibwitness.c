/*
 * The C side of ibwitness.h: it checks the run that it is given, puts beats together, and hands findings over when nothing of Go is on the stack, so that a callback
 * may leave as it likes. The engine behind it is engine.h.
 */
#include "engine.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAGIC = 0x1b317e55, LONGEST = 1 << 20, DROPPED = 1 << 8 };
enum state { OPEN, ENDED, CLOSED };

/* A frame of which beats have come, or a packet of a link. */
struct partial {
  uint8_t *data;
  size_t len, cap;
  int bad;
  int symbols; /* enum ibw_symbols; with DROPPED, it is too long, and its beats up to the last are dropped */
};

/* A run is never freed, so that one that was closed can be told. */
struct ibw {
  uint32_t magic, n;
  _Atomic int state;
  _Atomic(const char *) owner; /* the thread that is in a call; null: none */
  int32_t waiting; /* findings that the engine has for ibw_next */
  int32_t signals;
  int held; /* an event waits for the time to go on from held_at, so that it is compared with all packets of its own time */
  uint64_t held_at;
  ibw_fn fn;
  void *user;
  struct partial *parts; /* two of each tap: frames and what port 0 sends, and what port 1 sends */
  uint32_t nparts;
  char *error;
  struct ibw *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct ibw *) all;
static _Atomic int forked;
static _Atomic int ending; /* the signal that ends the program */
static _Atomic(const char *) aborting; /* the thread that has called abort: it leaves no call any more */
static sem_t ends;
static __attribute__((tls_model("initial-exec"))) _Thread_local char self; /* its address names the thread */
static _Thread_local char last[256];
static _Thread_local int recent; /* last is newer than what the run has kept */

static int tell(struct ibw *r, int status, const char *text) {
  if (!r || r->magic != MAGIC) {
    snprintf(last, sizeof last, "%s", text);
    recent = 1;
    return status;
  }
  size_t n = strlen(text) + 1;
  char *copy = malloc(n);
  free(r->error);
  r->error = copy ? memcpy(copy, text, n) : NULL;
  recent = 0;
  return status;
}

static int lonely(int status, const char *text) { return tell(NULL, status, text); }

/* stop holds a thread, which is in no call and holds no lock, while the program is ended by a signal. */
static void stop(void) {
  for (;;) pause();
}

/* enter begins a call: 0, or why it cannot be. */
static int enter(struct ibw *r) {
  if (__builtin_expect(!r, 0)) return lonely(IBW_ECLOSED, "ibwitness: the run is null: open one with ibw_open, and look at what it returns");
  if (__builtin_expect(r->magic != MAGIC, 0)) return lonely(IBW_ECLOSED, "ibwitness: this is no run: give what ibw_open has returned");
  if (__builtin_expect(forked, 0)) return lonely(IBW_EFORK, "ibwitness: the process was forked after the library was loaded, and its engine has no threads here: load the library in the child, with dlopen");
  const char *nobody = NULL;
  if (__builtin_expect(!atomic_compare_exchange_strong_explicit(&r->owner, &nobody, &self, memory_order_acquire, memory_order_relaxed), 0)) {
    if (ending && nobody != &self) stop();
    return lonely(IBW_EBUSY, "ibwitness: another thread, or a signal handler, is in a call of this run: take a lock around its calls, or open a run for each thread");
  }
  if (__builtin_expect(r->state == CLOSED, 0)) {
    atomic_store_explicit(&r->owner, NULL, memory_order_release);
    return lonely(IBW_ECLOSED, "ibwitness: the run was closed: open another one");
  }
  return 0;
}

static void leave(struct ibw *r) {
  atomic_store_explicit(&r->owner, NULL, memory_order_release);
  if (__builtin_expect(atomic_load_explicit(&ending, memory_order_relaxed), 0)) stop();
}

/* hand ends a call, and hands findings over. */
static int hand(struct ibw *r, int status) {
  int waiting = r->waiting;
  leave(r);
  while (__builtin_expect(waiting > 0 && r->fn != NULL, 0)) {
    ibw_finding f;
    if (enter(r) != 0) break;
    int more = ibw_go_next(r->n, &f);
    ibw_fn fn = r->fn;
    void *user = r->user;
    waiting = r->waiting;
    leave(r);
    if (more != 1 || !fn) break;
    fn(user, &f);
    waiting = r->waiting;
  }
  return status;
}

/* done ends a call with the result of the engine: what went wrong is kept. */
static int done(struct ibw *r, int status) {
  if (__builtin_expect(status < 0, 0)) {
    free(r->error);
    r->error = ibw_go_error(r->n);
    recent = 0;
  }
  return hand(r, status);
}

/* finish ends a run where it was not ended, as when the program exits. */
static void finish(struct ibw *r) {
  if (r->state == OPEN && enter(r) == 0) {
    r->state = ENDED;
    done(r, ibw_go_end(r->n, ibw_go_now(r->n)));
  }
}

static void finish_all(void) {
  if (forked) return;
  if (ending) stop();
  for (struct ibw *r = all; r; r = r->next)
    if (r->state != CLOSED) ibw_close(r);
}

/* taken waits until no thread is in a call of a run, and keeps them all out from then on; 0: it has nothing to end. */
static int taken(struct ibw *r) {
  for (;;) {
    const char *nobody = NULL;
    if (r->state != OPEN) return 0;
    if (atomic_compare_exchange_strong(&r->owner, &nobody, &self)) return r->state == OPEN;
    if (nobody == aborting) return 0;
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
}

/* end leaves complete reports before a signal ends the program. It is a thread of its own, as the signal may have come to one of the engine, or on a small stack. */
static void *end(void *unused) {
  while (sem_wait(&ends) != 0) continue;
  for (struct ibw *r = all; r; r = r->next)
    if (taken(r)) ibw_go_end(r->n, ibw_go_now(r->n));
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, ending);
  signal(ending, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
  raise(ending);
  return unused;
}

/* caught has the program end. Only signals that nobody else had a handler for come here, in any thread. It goes on, as it may hold
   locks that the end needs, up to the end of its next call of a run. */
static void caught(int sig) {
  int error = errno, none = 0;
  if (forked) {
    signal(sig, SIG_DFL);
    raise(sig);
    return;
  }
  if (sig == SIGABRT) aborting = &self;
  if (atomic_compare_exchange_strong(&ending, &none, sig)) sem_post(&ends);
  if (sig == SIGABRT) stop();
  errno = error;
}

static void in_child(void) { forked = 1; }

/* watch has complete reports written however the program ends. */
static void watch(int signals) {
  static int registered, handles;
  if (!registered) {
    registered = 1;
    pthread_atfork(NULL, NULL, in_child);
    atexit(finish_all);
  }
  if (!signals || handles) return;
  static const int list[] = {SIGABRT, SIGINT, SIGTERM};
  pthread_t thread;
  sigset_t every, before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  handles = sem_init(&ends, 0, 0) == 0 && pthread_create(&thread, NULL, end, NULL) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (!handles) return;
  pthread_detach(thread);
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    struct sigaction old, mine;
    memset(&mine, 0, sizeof mine);
    mine.sa_handler = caught;
    mine.sa_flags = SA_ONSTACK | SA_RESTART; /* the stack of a goroutine has no room for a handler */
    if (sigaction(list[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL) sigaction(list[i], &mine, NULL);
  }
}

uint32_t ibw_api(void) { return IBW_API; }

const char *ibw_version(void) {
  static char *version;
  pthread_mutex_lock(&lock);
  if (!version) version = ibw_go_version();
  pthread_mutex_unlock(&lock);
  return version;
}

static void explain(char *err, size_t nerr, const char *text) {
  if (err && nerr) snprintf(err, nerr, "%s", text);
  lonely(0, text);
}

ibw *ibw_open(const char *config, char *err, size_t nerr) {
  if (forked) {
    explain(err, nerr, "ibwitness: the process was forked after the library was loaded: load the library in the child, with dlopen");
    return NULL;
  }
  struct ibw *r = calloc(1, sizeof *r);
  if (!r) {
    explain(err, nerr, "ibwitness: no memory for a run");
    return NULL;
  }
  char *why = NULL;
  int64_t n = ibw_go_open((char *)config, &why, &r->waiting, &r->signals);
  if (n < 0) {
    explain(err, nerr, why ? why : "ibwitness: the run cannot be opened");
    free(why);
    free(r);
    return NULL;
  }
  r->magic = MAGIC;
  r->n = (uint32_t)n;
  pthread_mutex_lock(&lock);
  r->next = all;
  all = r;
  watch(r->signals);
  pthread_mutex_unlock(&lock);
  return r;
}

/* GO is a call of the engine on a run. */
#define GO(r, call)          \
  do {                       \
    int e = enter(r);        \
    if (e) return e;         \
    return done(r, (call));  \
  } while (0)

int ibw_add_tap(ibw *r, const char *json) {
  if (!json) json = "";
  GO(r, ibw_go_add_tap(r->n, (char *)json));
}

int ibw_tap(ibw *r, const char *name) { GO(r, ibw_go_tap(r->n, (char *)(name ? name : ""))); }
int ibw_hca(ibw *r, const char *name) { GO(r, ibw_go_hca(r->n, (char *)(name ? name : ""))); }

int ibw_on_finding(ibw *r, ibw_fn fn, void *user) {
  int e = enter(r);
  if (e) return e;
  r->fn = fn;
  r->user = user;
  return done(r, 0);
}

int ibw_frame(ibw *r, uint32_t tap, int way, uint64_t at, const void *data, size_t len, size_t wire) {
  int e = enter(r);
  if (e) return e;
  if (!data && len) {
    e = tell(r, IBW_EINVAL, "ibwitness: ibw_frame: data is null: give the bytes of the frame");
  } else if (way < IBW_WAY_UNKNOWN || way > IBW_OUT) {
    e = tell(r, IBW_EINVAL, "ibwitness: ibw_frame: the direction is none of enum ibw_way");
  } else if (len > LONGEST) {
    e = tell(r, IBW_EINVAL, "ibwitness: ibw_frame: a frame of more than 1 MiB: give len in bytes");
  } else {
    return done(r, ibw_go_frame(r->n, tap, way, at, (void *)data, len, wire));
  }
  leave(r);
  return e;
}

/* room is where the beats of a port of a tap are put together; null: it is not there, or there is no memory. */
static struct partial *room(struct ibw *r, uint32_t tap, uint32_t port, size_t more) {
  uint64_t i = 2 * (uint64_t)tap + port;
  if (__builtin_expect(i >= r->nparts, 0)) {
    if (tap >= 1 << 16) return NULL;
    struct partial *parts = realloc(r->parts, (i + 1) * sizeof *parts);
    if (!parts) return NULL;
    memset(parts + r->nparts, 0, (i + 1 - r->nparts) * sizeof *parts);
    r->parts = parts;
    r->nparts = (uint32_t)i + 1;
  }
  struct partial *p = &r->parts[i];
  if (__builtin_expect(p->cap - p->len < more, 0)) {
    size_t cap = p->cap ? p->cap * 2 : 4096;
    while (cap - p->len < more) cap *= 2;
    uint8_t *data = realloc(p->data, cap);
    if (!data) return NULL;
    p->data = data;
    p->cap = cap;
  }
  return p;
}

/* keeps adds the lanes of a beat that count. */
static void keeps(struct partial *p, const uint8_t *lanes, const uint8_t *keep, uint32_t n) {
  uint32_t i = 0;
  if (__builtin_expect(!keep, 0)) {
    if (n) memcpy(p->data + p->len, lanes, n);
    p->len += n;
    return;
  }
  for (; i + 8 <= n; i += 8) {
    uint8_t k = keep[i / 8];
    if (__builtin_expect(k == 0xff, 1)) {
      memcpy(p->data + p->len, lanes + i, 8);
      p->len += 8;
      continue;
    }
    for (uint32_t j = 0; k; j++, k >>= 1)
      if (k & 1) p->data[p->len++] = lanes[i + j];
  }
  for (; i < n; i++)
    if (keep[i / 8] >> (i % 8) & 1) p->data[p->len++] = lanes[i];
}

int ibw_held(const ibw *r, uint64_t at) { return r && r->held && at > r->held_at; }

/* advance ends a call that has entered. */
static int advance(struct ibw *r, uint64_t at) {
  if (ibw_held(r, at)) r->held = 0;
  return done(r, ibw_go_advance(r->n, at));
}

/* What is said of a beat that is refused: for its arguments, for lack of memory, and as it makes a frame too long. */
struct refusals {
  const char *wrong, *no_room, *too_long;
};

static void begin(struct partial *p, int symbols) { p->len = 0, p->bad = 0, p->symbols = symbols; }

/*
 * gather puts a beat to those before it, in a call that has entered. whole is set where it is the last of a frame that is to be judged; else the call has ended, with
 * what gather returns. A frame that is too long is told once, as one that the tap has lost.
 */
static inline int gather(struct ibw *r, const struct refusals *why, int right, uint32_t tap, uint32_t port, int symbols, uint64_t at, const void *lanes, const uint8_t *keep, uint32_t n,
                         int last, int bad, struct partial **whole) {
  if (__builtin_expect(n > 4096 || (!lanes && n) || !right, 0)) return hand(r, tell(r, IBW_EINVAL, why->wrong));
  struct partial *p = room(r, tap, port, n);
  if (__builtin_expect(!p, 0)) return hand(r, tell(r, IBW_ENOMEM, why->no_room));
  if (__builtin_expect(p->symbols != symbols && p->symbols != (symbols | DROPPED), 0)) begin(p, symbols);
  if (__builtin_expect(p->symbols != symbols, 0)) {
    if (last) begin(p, symbols);
  } else if (__builtin_expect(p->len + n > LONGEST, 0)) {
    begin(p, last ? symbols : symbols | DROPPED);
    int e = ibw_go_lost(r->n, tap, 1);
    return e < 0 ? done(r, e) : hand(r, tell(r, IBW_EINVAL, why->too_long));
  } else {
    keeps(p, lanes, keep, n);
    p->bad |= bad;
    if (last) {
      *whole = p;
      return 0;
    }
  }
  if (__builtin_expect(ibw_held(r, at), 0)) return advance(r, at);
  leave(r);
  return 0;
}

int ibw_beat(ibw *r, uint32_t tap, int way, uint64_t at, const void *lanes, const uint8_t *keep, uint32_t n, int last, int bad) {
  static const struct refusals why = {
      "ibwitness: ibw_beat: give lanes, at most 4096 of them, and a direction of enum ibw_way",
      "ibwitness: ibw_beat: no memory for the frame, or no such tap",
      "ibwitness: ibw_beat: a frame of more than 1 MiB: is its last beat told as such? All of it is dropped",
  };
  int e = enter(r);
  if (e) return e;
  struct partial *p = NULL;
  e = gather(r, &why, way >= IBW_WAY_UNKNOWN && way <= IBW_OUT, tap, 0, IBW_DATA_PACKET, at, lanes, keep, n, last, bad, &p);
  if (!p) return e;
  size_t len = p->len;
  bad = p->bad;
  begin(p, IBW_DATA_PACKET);
  if (bad) return done(r, ibw_go_bad(r->n, tap, at));
  return done(r, ibw_go_frame(r->n, tap, way, at, p->data, len, 0));
}

int ibw_link(ibw *r, uint32_t tap, uint32_t port, int symbols, int ebp, uint64_t at, const void *data, size_t len) {
  int e = enter(r);
  if (e) return e;
  if ((!data && len) || len > LONGEST || symbols < IBW_DATA_PACKET || symbols > IBW_PORT_STATE) {
    e = tell(r, IBW_EINVAL, "ibwitness: ibw_link: give data, at most 1 MiB, and what it is, of enum ibw_symbols");
    leave(r);
    return e;
  }
  return done(r, ibw_go_link(r->n, tap, port, symbols, ebp, at, (void *)data, len));
}

int ibw_link_beat(ibw *r, uint32_t tap, uint32_t port, int symbols, uint64_t at, const void *lanes, const uint8_t *keep, uint32_t n, int last, int ebp) {
  static const struct refusals why = {
      "ibwitness: ibw_link_beat: give lanes, at most 4096 of them, a port of 0 or 1, and what they are, of enum ibw_symbols",
      "ibwitness: ibw_link_beat: no memory for the packet, or no such tap",
      "ibwitness: ibw_link_beat: a packet of more than 1 MiB: is its last beat told as such? All of it is dropped",
  };
  int e = enter(r);
  if (e) return e;
  struct partial *p = NULL;
  e = gather(r, &why, port <= 1 && symbols >= IBW_DATA_PACKET && symbols <= IBW_PORT_STATE, tap, port, symbols, at, lanes, keep, n, last, ebp, &p);
  if (!p) return e;
  size_t len = p->len;
  ebp = p->bad;
  begin(p, symbols);
  return done(r, ibw_go_link(r->n, tap, port, symbols, ebp != 0, at, p->data, len));
}

/* hold notes that an event has come. */
static void hold(struct ibw *r, uint64_t at) {
  r->held = 1;
  r->held_at = at;
}

/* given checks a pointer that a call needs. */
static int given(struct ibw *r, const void *p, const char *text) {
  int e = enter(r);
  if (e || p) return e;
  e = tell(r, IBW_EINVAL, text);
  leave(r);
  return e;
}

int ibw_event(ibw *r, uint32_t hca, uint64_t at, const char *json) {
  int e = given(r, json, "ibwitness: ibw_event: json is null: give a line of docs/events.md");
  if (e) return e;
  hold(r, at);
  return done(r, ibw_go_event(r->n, hca, at, (char *)json));
}

/* A struct of a program that was compiled with an earlier header is shorter: what it does not have is 0. */
#define WIDENED(type, from) \
  type s;                   \
  memset(&s, 0, sizeof s);  \
  memcpy(&s, from, (from)->size < sizeof s ? (from)->size : sizeof s)

int ibw_post_send(ibw *r, uint32_t hca, uint64_t at, const ibw_send *request) {
  int e = given(r, request && request->size >= offsetof(ibw_send, remote_addr) ? request : NULL,
                "ibwitness: ibw_post_send: give a request whose size is sizeof(ibw_send)");
  if (e) return e;
  WIDENED(ibw_send, request);
  hold(r, at);
  return done(r, ibw_go_post_send(r->n, hca, at, &s));
}

int ibw_post_recv(ibw *r, uint32_t hca, uint64_t at, uint32_t qpn, uint32_t srq, uint64_t wr_id, const ibw_segment *segments, uint32_t nsegments) {
  int e = enter(r);
  if (e) return e;
  hold(r, at);
  return done(r, ibw_go_post_recv(r->n, hca, at, qpn, srq, wr_id, (ibw_segment *)segments, nsegments));
}

int ibw_complete(ibw *r, uint32_t hca, uint64_t at, const ibw_completion *completion) {
  int e = given(r, completion && completion->size >= offsetof(ibw_completion, byte_len) ? completion : NULL,
                "ibwitness: ibw_complete: give a completion whose size is sizeof(ibw_completion)");
  if (e) return e;
  WIDENED(ibw_completion, completion);
  hold(r, at);
  return done(r, ibw_go_complete(r->n, hca, at, &s));
}

int ibw_advance(ibw *r, uint64_t at) {
  int e = enter(r);
  return e ? e : advance(r, at);
}

int ibw_lost(ibw *r, uint32_t tap, uint64_t n) { GO(r, ibw_go_lost(r->n, tap, n)); }

int ibw_reset(ibw *r, uint32_t tap, uint64_t at) {
  int e = enter(r);
  if (e) return e;
  for (uint32_t i = 0; i < r->nparts; i++)
    if (i / 2 == tap) begin(&r->parts[i], IBW_DATA_PACKET);
  return done(r, ibw_go_reset(r->n, tap, at));
}

int ibw_next(ibw *r, ibw_finding *finding) {
  int e = given(r, finding && finding->size >= offsetof(ibw_finding, tap) ? finding : NULL,
                "ibwitness: ibw_next: give a finding whose size is sizeof(ibw_finding)");
  if (e) return e;
  ibw_finding f;
  e = ibw_go_next(r->n, &f);
  if (e == 1) {
    if (finding->size < f.size) f.size = finding->size; /* of a program that was compiled with an earlier header */
    memcpy(finding, &f, f.size);
  }
  leave(r);
  return e;
}

int ibw_outstanding(ibw *r, char *json, size_t n) { GO(r, ibw_go_outstanding(r->n, json, n)); }

int ibw_end(ibw *r, uint64_t at) {
  int e = enter(r);
  if (e) return e;
  r->state = ENDED;
  return done(r, ibw_go_end(r->n, at));
}

int ibw_doubts(ibw *r, char *text, size_t n) { GO(r, ibw_go_doubts(r->n, text, n)); }
int ibw_errors(ibw *r) { GO(r, ibw_go_errors(r->n)); }

uint64_t ibw_now(ibw *r) {
  if (enter(r) != 0) return 0;
  uint64_t now = ibw_go_now(r->n);
  leave(r);
  return now;
}

int ibw_report(ibw *r, const char *format, const char *path) {
  GO(r, ibw_go_report(r->n, (char *)(format ? format : ""), (char *)(path ? path : "")));
}

int ibw_covered(ibw *r, const char *rule, uint64_t *exercised, uint64_t *violated) {
  GO(r, ibw_go_covered(r->n, (char *)(rule ? rule : ""), exercised, violated));
}

const char *ibw_error(ibw *r) {
  if (recent || !r || r->magic != MAGIC || r->state == CLOSED) return last;
  return r->error ? r->error : last;
}

int ibw_close(ibw *r) {
  if (r && r->magic == MAGIC && !forked) finish(r);
  int e = enter(r);
  if (e) return e;
  int status = ibw_go_close(r->n);
  if (status < 0) {
    char *why = ibw_go_error(r->n);
    lonely(0, why ? why : "");
    free(why);
  }
  for (uint32_t i = 0; i < r->nparts; i++) free(r->parts[i].data);
  free(r->parts);
  free(r->error);
  r->parts = NULL;
  r->error = NULL;
  r->nparts = 0;
  r->waiting = 0;
  r->fn = NULL;
  r->state = CLOSED;
  leave(r);
  return status;
}
