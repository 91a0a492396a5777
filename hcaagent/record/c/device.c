/* The devices that the program has opened, and the files that their logs are written to. */
#include "record.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum {
	pause_ms = 100, /* how long a line may wait in the buffer */
	empty_ms = 200, /* how often a log tells that a CQ is empty */
};

bool checksums;
static struct device *devices;
static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER;
static struct {
	pthread_mutex_t lock;
	int64_t told; /* when a line has told that one of their CQs is empty, in ms */
} polls[64];
static bool flushing; /* a thread writes out what waits */
static const char *target;

void *real_function(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);
	void *library = f ? NULL : dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD); /* of a plug-in, whose libraries only it sees */
	if (library)
		f = dlsym(library, name);
	if (!f) {
		fprintf(stderr, "ibwitness record: libibverbs has no %s, which the program calls: it is too old\n", name);
		abort();
	}
	return f;
}

static unsigned int place(const void *cq) { return (uintptr_t)cq >> 6 & 63; }

pthread_mutex_t *polling(const void *cq) { return &polls[place(cq)].lock; }

void found_empty(struct device *d, const struct ibv_cq *cq)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t); /* a busy consumer polls all the time */
	int64_t ms = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
	unsigned int i = place(cq);
	if (ms - polls[i].told < empty_ms) /* of another CQ perhaps: then this one is told of later */
		return;
	polls[i].told = ms;
	pthread_mutex_lock(&d->lock);
	line(d, "empty");
	put_u64(d, "cq", number(cq->handle));
	line_end(d);
	pthread_mutex_unlock(&d->lock);
}

struct device *device_of(struct ibv_context *context)
{
	struct device *d = __atomic_load_n(&devices, __ATOMIC_ACQUIRE);
	while (d && d->context != context)
		d = d->next;
	return d;
}

/* failed says once that a log ends here. The program goes on without it. */
static void failed(struct device *d, const char *what, const char *name)
{
	fprintf(stderr, "ibwitness record: %s %s: %s: nothing more of %s is recorded\n", what, name, strerror(errno), d->context->device->name);
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -2;
}

static int connect_to(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof a.sun_path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(a.sun_path, path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof a)) {
		int saved = errno;
		close(fd);
		errno = saved;
		return -1;
	}
	return fd;
}

static void open_log(struct device *d)
{
	static bool taken;
	char name[4096];
	struct stat is;
	if (!strncmp(target, "live:", 5)) {
		snprintf(name, sizeof name, "%s", target + 5);
		if (__atomic_exchange_n(&taken, true, __ATOMIC_RELAXED)) {
			errno = EBUSY; /* by another device, or by the process that has forked this one */
			d->fd = -1;
		} else if (!stat(name, &is) && S_ISSOCK(is.st_mode)) {
			d->fd = connect_to(name);
		} else {
			d->fd = open(name, O_WRONLY | O_CLOEXEC); /* waits for who reads a FIFO */
		}
	} else {
		snprintf(name, sizeof name, "%s%s.%d.jsonl", target, d->context->device->name, (int)getpid());
		d->fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	}
	if (d->fd < 0)
		failed(d, "cannot write", name);
}

/* put_out is write, without a signal where nobody reads a FIFO or socket any more. */
static ssize_t put_out(int fd, const char *p, size_t n)
{
	const struct timespec none = {0};
	sigset_t pipe, were, pending;
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe, &were);
	ssize_t written = write(fd, p, n);
	int saved = errno;
	if (written < (ssize_t)n && !sigismember(&pending, SIGPIPE)) /* a part that was written before the reader went comes with the signal, too */
		sigtimedwait(&pipe, NULL, &none);
	pthread_sigmask(SIG_SETMASK, &were, NULL);
	errno = saved;
	return written;
}

/* A reader that lags is waited for: no line is lost. */
void device_flush(struct device *d)
{
	if (d->fd == -1 && d->at > d->buffer)
		open_log(d);
	for (char *p = d->buffer; p < d->at && d->fd >= 0;) {
		ssize_t n = put_out(d->fd, p, d->at - p);
		if (n >= 0)
			p += n;
		else if (errno != EINTR)
			failed(d, "writing", "its log");
	}
	d->at = d->buffer;
}

static void *flusher(void *unused)
{
	const struct timespec pause = {.tv_nsec = pause_ms * 1000000};
	for (;;) {
		nanosleep(&pause, NULL);
		for (struct device *d = __atomic_load_n(&devices, __ATOMIC_ACQUIRE); d; d = d->next) {
			pthread_mutex_lock(&d->lock);
			device_flush(d);
			pthread_mutex_unlock(&d->lock);
		}
	}
	return unused;
}

/* A child process has logs of its own, which begin with its first verb. */
static void before_fork(void)
{
	pthread_mutex_lock(&listing);
	for (struct device *d = devices; d; d = d->next)
		pthread_mutex_lock(&d->lock);
}

static void after_fork(bool child)
{
	for (struct device *d = devices; d; d = d->next) {
		if (child) {
			if (d->fd >= 0)
				close(d->fd);
			if (d->fd != -2)
				d->fd = -1;
			d->at = d->buffer;
			d->named = d->guessed = false;
			d->unnamed = 0;
		}
		pthread_mutex_unlock(&d->lock);
	}
	if (child)
		flushing = false;
	pthread_mutex_unlock(&listing);
}

static void parent_forked(void) { after_fork(false); }
static void child_forked(void) { after_fork(true); }

__attribute__((constructor)) static void begin(void)
{
	const char *crc = getenv("IBWITNESS_RECORD_CRC");
	pthread_mutexattr_t recursive; /* a thread may poll two queues piece by piece */
	target = getenv("IBWITNESS_RECORD");
	checksums = crc && *crc && strcmp(crc, "0");
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	for (int i = 0; i < 64; i++)
		pthread_mutex_init(&polls[i].lock, &recursive);
	pthread_atfork(before_fork, parent_forked, child_forked);
}

__attribute__((destructor)) static void end(void)
{
	for (struct device *d = devices; d; d = d->next)
		if (d->context)
			device_close(d->context);
}

/* wrap has the verbs that are functions of the provider, not of libibverbs, go through this library. */
static void wrap(struct device *d)
{
	struct ibv_context_ops *ops = &d->context->ops;
	struct verbs_context *v = verbs_get_ctx(d->context);
	d->real = *ops;
#define WRAP(verb) \
	if (ops->verb) \
		ops->verb = record_##verb
	WRAP(poll_cq);
	WRAP(req_notify_cq);
	WRAP(post_send);
	WRAP(post_recv);
	WRAP(post_srq_recv);
	WRAP(alloc_mw);
	WRAP(bind_mw);
	WRAP(dealloc_mw);
#undef WRAP
	if (!v)
		return;
#define WRAP(verb, by) \
	d->verb = v->verb; \
	if (v->verb) \
		v->verb = by
	WRAP(create_qp_ex, extended_create_qp);
	WRAP(create_cq_ex, extended_create_cq);
	WRAP(create_srq_ex, extended_create_srq);
#undef WRAP
}

static bool query_port(struct device *d, uint8_t port, struct ibv_port_attr *attr)
{
	struct verbs_context *v = verbs_get_ctx_op(d->context, query_port);
	memset(attr, 0, sizeof *attr);
	return v && !v->query_port(d->context, port, attr, sizeof *attr);
}

/* A device stays in the list when it is closed: another thread may be reading that. */
void device_open(struct ibv_context *context)
{
	struct device *d = target && context ? calloc(1, sizeof *d) : NULL;
	struct ibv_port_attr attr;
	if (!d)
		return;
	d->context = context;
	d->fd = -1;
	d->at = d->buffer;
	d->ethernet = query_port(d, 1, &attr) && attr.link_layer == IBV_LINK_LAYER_ETHERNET;
	pthread_mutex_init(&d->lock, NULL);
	wrap(d);
	pthread_mutex_lock(&listing);
	d->next = devices;
	__atomic_store_n(&devices, d, __ATOMIC_RELEASE);
	if (!flushing) {
		pthread_t t;
		sigset_t all, were; /* signals are for the threads of the program */
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &were);
		flushing = !pthread_create(&t, NULL, flusher, NULL);
		if (flushing)
			pthread_detach(t);
		pthread_sigmask(SIG_SETMASK, &were, NULL);
	}
	pthread_mutex_unlock(&listing);
}

void device_close(struct ibv_context *context)
{
	struct device *d = device_of(context);
	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	if (d->fd >= 0 || d->at > d->buffer) {
		line(d, "end");
		line_end(d);
		device_flush(d);
	}
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -2;
	d->context = NULL; /* its memory may become another one */
	pthread_mutex_unlock(&d->lock);
}

static void name(struct device *d, const char *gid)
{
	d->named = true;
	line(d, "device");
	put_text(d, "gid", gid);
	line_end(d);
}

void device_named(struct device *d, uint8_t port, int sgid_index)
{
	REAL(ibv_query_gid);
	struct ibv_port_attr attr;
	union ibv_gid gid;
	char text[INET6_ADDRSTRLEN];
	if (d->named || d->unnamed > header)
		return;
	if (query_port(d, port, &attr) && attr.link_layer == IBV_LINK_LAYER_INFINIBAND) {
		snprintf(text, sizeof text, "lid:%u", attr.lid);
		name(d, text);
	} else if (!real(d->context, port, sgid_index, &gid)) {
		name(d, inet_ntop(AF_INET6, gid.raw, text, sizeof text));
	}
}

void device_guessed(struct device *d)
{
	REAL(ibv_query_gid);
	static const unsigned char mapped[12] = {[10] = 0xFF, [11] = 0xFF};
	union ibv_gid gid, found;
	int n = 0, index = 0;
	if (d->named || d->guessed)
		return;
	d->guessed = true;
	for (int i = 0; i < 64 && !real(d->context, 1, i, &gid); i++)
		if (!memcmp(gid.raw, mapped, sizeof mapped) && (!n || memcmp(&gid, &found, sizeof gid))) {
			found = gid;
			index = i;
			n++;
		}
	if (n == 1)
		device_named(d, 1, index);
}
