/* What the files of libibwitness_record.so share. */
#ifndef IBWITNESS_RECORD_H
#define IBWITNESS_RECORD_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A device that the program has opened, and its log. lock is held from before a verb that gives work to the device until its line is in the buffer: no completion of it
   comes before that line. */
struct device {
	struct device *next;
	struct ibv_context *context;
	struct ibv_context_ops real; /* the verbs of the provider */
	struct ibv_qp *(*create_qp_ex)(struct ibv_context *, struct ibv_qp_init_attr_ex *);
	struct ibv_cq_ex *(*create_cq_ex)(struct ibv_context *, struct ibv_cq_init_attr_ex *);
	struct ibv_srq *(*create_srq_ex)(struct ibv_context *, struct ibv_srq_init_attr_ex *);
	pthread_mutex_t lock;
	int fd;           /* of the log; -1: not open yet, -2: it has ended */
	bool named;       /* the log has the gid of the device */
	bool guessed;     /* it was looked for in the table of port 1 */
	bool ethernet;    /* its ports are of RoCE */
	uint32_t poll;    /* calls that have polled completions */
	uint32_t unnamed; /* lines that were begun before the log had the gid */
	char *at;         /* end of what is in the buffer */
	char buffer[1 << 18];
};

enum { header = 4000 }; /* within how many lines a log says its gid: after 4096 events no reader takes it */

/* Devices: device.c. */
struct device *device_of(struct ibv_context *context); /* NULL: not recorded */
void device_open(struct ibv_context *context);
void device_close(struct ibv_context *context);

/* polling is a lock for those that poll one CQ: its completions are in the log in the order in which they were taken. */
pthread_mutex_t *polling(const void *cq);
/* found_empty says in the log, now and then, that a CQ was polled with nothing in it. It is called with the lock for those that poll it, and without that of the device. */
void found_empty(struct device *d, const struct ibv_cq *cq);

/* REAL makes real the function that the library stands before. */
void *real_function(const char *name);
#define REAL(name) \
	static __typeof__(name) *real; \
	if (!real) \
		real = real_function(#name)

/* Verbs that one of libibverbs, or of the provider, calls itself are no verbs of the program. */
extern __thread int inside;

/* What follows is called with the lock of the device. */
void device_flush(struct device *d);
void device_named(struct device *d, uint8_t port, int sgid_index); /* says in the log which address the device has, by what a queue pair is given */
void device_guessed(struct device *d);                             /* does so, once, where nothing has said it yet, and port 1 has one IPv4 address */

/* Lines: line.c. A line begins with line, or line_at a time, and ends with line_end. */
uint64_t now(void); /* nanoseconds since the Unix epoch */
void line(struct device *d, const char *event);
void line_at(struct device *d, const char *event, uint64_t t);
void line_end(struct device *d);
#define put_u64(d, name, v) put_number(d, ",\"" name "\":", sizeof(",\"" name "\":") - 1, v)
#define put_some(d, name, v) put_nonzero(d, ",\"" name "\":", sizeof(",\"" name "\":") - 1, v)
#define put_text(d, name, text) put_string(d, ",\"" name "\":\"", sizeof(",\"" name "\":\"") - 1, text)
void put_number(struct device *d, const char *name, size_t n, uint64_t v);
void put_string(struct device *d, const char *name, size_t n, const char *text);
void put_segments(struct device *d, const struct ibv_sge *list, int n);
static inline void put_nonzero(struct device *d, const char *name, size_t n, uint64_t v)
{
	if (v)
		put_number(d, name, n, v);
}

/* number is the number of an object in a log, where 0 is none. Those of the kernel begin with 0. */
static inline uint64_t number(uint32_t handle) { return (uint64_t)handle + 1; }

extern bool checksums; /* posts have the CRC-32 of their data */
uint32_t crc32_add(uint32_t crc, const void *data, size_t n);

/* What several interfaces tell: verbs.c. The first three take the lock. */
void log_create_qp(struct device *d, const struct ibv_qp *qp, const struct ibv_qp_init_attr *attr, const struct ibv_pd *pd, int rc);
void log_create_cq(struct device *d, uint32_t handle, int depth);
void log_create_srq(struct device *d, const struct ibv_srq *srq, uint32_t depth);
void log_send(struct device *d, struct ibv_qp *qp, const struct ibv_send_wr *w, uint64_t t, int rc);
void log_completion(struct device *d, uint32_t cq, const struct ibv_wc *w, bool emptied);

/* In place of functions of a provider: verbs.c. */
int record_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int record_req_notify_cq(struct ibv_cq *cq, int solicited_only);
int record_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int record_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int record_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
struct ibv_mw *record_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int record_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
int record_dealloc_mw(struct ibv_mw *mw);

/* Those of the extended interfaces: extended.c. */
struct ibv_qp *extended_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
struct ibv_cq_ex *extended_create_cq(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
struct ibv_srq *extended_create_srq(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
void extended_destroyed(const void *object); /* a QP or CQ */

#endif
