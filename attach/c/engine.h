/* What the sources of the library have of each other, and nobody else: first what cmd/libibwitness exports to ibwitness.c. Each call takes a run by its number; that it is open, not ended where that matters, and that no other
 * thread is in it has been checked. */
#ifndef IBWITNESS_ENGINE_H
#define IBWITNESS_ENGINE_H

#include "ibwitness.h"

/* waiting is where the engine says after each call how many findings wait; signals becomes 0 where the configuration does not want signals to be caught. */
int64_t ibw_go_open(char *config, char **err, int32_t *waiting, int32_t *signals);
char *ibw_go_error(uint32_t n);
char *ibw_go_version(void);
int ibw_go_add_tap(uint32_t n, char *json);
int ibw_go_tap(uint32_t n, char *name);
int ibw_go_hca(uint32_t n, char *name);
int ibw_go_frame(uint32_t n, uint32_t tap, int way, uint64_t at, void *data, size_t size, size_t wire);
int ibw_go_bad(uint32_t n, uint32_t tap, uint64_t at);
int ibw_go_link(uint32_t n, uint32_t tap, uint32_t port, int symbols, int ebp, uint64_t at, void *data, size_t size);
int ibw_go_event(uint32_t n, uint32_t hca, uint64_t at, char *json);
int ibw_go_post_send(uint32_t n, uint32_t hca, uint64_t at, ibw_send *s);
int ibw_go_post_recv(uint32_t n, uint32_t hca, uint64_t at, uint32_t qpn, uint32_t srq, uint64_t id, ibw_segment *list, uint32_t size);
int ibw_go_complete(uint32_t n, uint32_t hca, uint64_t at, ibw_completion *s);
int ibw_go_advance(uint32_t n, uint64_t at);
int ibw_go_lost(uint32_t n, uint32_t tap, uint64_t frames);
int ibw_go_reset(uint32_t n, uint32_t tap, uint64_t at);
int ibw_go_next(uint32_t n, ibw_finding *out);
int ibw_go_outstanding(uint32_t n, char *json, size_t size);
int ibw_go_end(uint32_t n, uint64_t at);
int ibw_go_doubts(uint32_t n, char *text, size_t size);
int ibw_go_errors(uint32_t n);
uint64_t ibw_go_now(uint32_t n);
int ibw_go_report(uint32_t n, char *format, char *path);
int ibw_go_covered(uint32_t n, char *id, uint64_t *exercised, uint64_t *violated);
int ibw_go_close(uint32_t n);

/* Of ibwitness.c, for hdl.c: whether an event waits for the time to go on, and it has by now. */
int ibw_held(const ibw *run, uint64_t at);

#endif
