/* The extended interfaces: ibv_wr_* of a queue pair, ibv_start_poll of a completion queue. Their functions are in the object itself. */
#include "record.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A queue pair or completion queue whose functions go through this library. */
struct extended {
	struct extended *next;
	const void *object;
	struct device *device;
	struct ibv_qp_ex qp; /* the functions of the provider */
	struct ibv_cq_ex cq;
	struct ibv_send_wr *requests; /* since wr_start */
	int count, room;
	struct ibv_sge *segments; /* most_segments of each request */
};

enum { most_segments = 32 };

static struct extended *table[1024];
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static struct extended **bucket(const void *object) { return &table[(uintptr_t)object >> 5 & 1023]; }

static struct extended *of(const void *object)
{
	pthread_rwlock_rdlock(&lock);
	struct extended *x = *bucket(object);
	while (x && x->object != object)
		x = x->next;
	pthread_rwlock_unlock(&lock);
	return x;
}

static struct extended *extend(const void *object, struct device *d)
{
	struct extended *x = calloc(1, sizeof *x);
	if (!x)
		abort();
	x->object = object;
	x->device = d;
	pthread_rwlock_wrlock(&lock);
	x->next = *bucket(object);
	*bucket(object) = x;
	pthread_rwlock_unlock(&lock);
	return x;
}

void extended_destroyed(const void *object)
{
	pthread_rwlock_wrlock(&lock);
	for (struct extended **p = bucket(object); *p; p = &(*p)->next)
		if ((*p)->object == object) {
			struct extended *x = *p;
			*p = x->next;
			free(x->requests);
			free(x->segments);
			free(x);
			break;
		}
	pthread_rwlock_unlock(&lock);
}

/* request begins one more request of a queue pair. */
static struct ibv_send_wr *request(struct extended *x, struct ibv_qp_ex *qp, enum ibv_wr_opcode opcode)
{
	if (x->count == x->room) {
		x->room = x->room ? 2 * x->room : 16;
		x->requests = realloc(x->requests, x->room * sizeof *x->requests);
		x->segments = realloc(x->segments, (size_t)x->room * most_segments * sizeof *x->segments);
		if (!x->requests || !x->segments)
			abort();
	}
	struct ibv_send_wr *w = &x->requests[x->count++];
	memset(w, 0, sizeof *w);
	w->wr_id = qp->wr_id;
	w->send_flags = qp->wr_flags;
	w->opcode = opcode;
	return w;
}

static void remote(struct ibv_send_wr *w, uint32_t rkey, uint64_t addr)
{
	w->wr.rdma.rkey = rkey;
	w->wr.rdma.remote_addr = addr;
}

/* segment adds one to the newest request. */
static void segment(struct extended *x, uint64_t addr, uint32_t length, uint32_t lkey)
{
	if (!x->count)
		return;
	struct ibv_send_wr *w = &x->requests[x->count - 1];
	if (w->num_sge < most_segments)
		x->segments[(x->count - 1) * most_segments + w->num_sge++] = (struct ibv_sge){.addr = addr, .length = length, .lkey = lkey};
}

static void x_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t compare, uint64_t swap)
{
	struct extended *x = of(qp);
	struct ibv_send_wr *w = request(x, qp, IBV_WR_ATOMIC_CMP_AND_SWP);
	w->wr.atomic.rkey = rkey;
	w->wr.atomic.remote_addr = addr;
	w->wr.atomic.compare_add = compare;
	w->wr.atomic.swap = swap;
	x->qp.wr_atomic_cmp_swp(qp, rkey, addr, compare, swap);
}

static void x_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t add)
{
	struct extended *x = of(qp);
	struct ibv_send_wr *w = request(x, qp, IBV_WR_ATOMIC_FETCH_AND_ADD);
	w->wr.atomic.rkey = rkey;
	w->wr.atomic.remote_addr = addr;
	w->wr.atomic.compare_add = add;
	x->qp.wr_atomic_fetch_add(qp, rkey, addr, add);
}

static void x_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	struct extended *x = of(qp);
	struct ibv_send_wr *w = request(x, qp, IBV_WR_BIND_MW);
	w->bind_mw.mw = mw;
	w->bind_mw.rkey = rkey;
	w->bind_mw.bind_info = *info;
	x->qp.wr_bind_mw(qp, mw, rkey, info);
}

static void x_local_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	struct extended *x = of(qp);
	request(x, qp, IBV_WR_LOCAL_INV)->invalidate_rkey = rkey;
	x->qp.wr_local_inv(qp, rkey);
}

static void x_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr)
{
	struct extended *x = of(qp);
	remote(request(x, qp, IBV_WR_RDMA_READ), rkey, addr);
	x->qp.wr_rdma_read(qp, rkey, addr);
}

static void x_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr)
{
	struct extended *x = of(qp);
	remote(request(x, qp, IBV_WR_RDMA_WRITE), rkey, addr);
	x->qp.wr_rdma_write(qp, rkey, addr);
}

static void x_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, __be32 imm)
{
	struct extended *x = of(qp);
	struct ibv_send_wr *w = request(x, qp, IBV_WR_RDMA_WRITE_WITH_IMM);
	remote(w, rkey, addr);
	w->imm_data = imm;
	x->qp.wr_rdma_write_imm(qp, rkey, addr, imm);
}

static void x_send(struct ibv_qp_ex *qp)
{
	struct extended *x = of(qp);
	request(x, qp, IBV_WR_SEND);
	x->qp.wr_send(qp);
}

static void x_send_imm(struct ibv_qp_ex *qp, __be32 imm)
{
	struct extended *x = of(qp);
	request(x, qp, IBV_WR_SEND_WITH_IMM)->imm_data = imm;
	x->qp.wr_send_imm(qp, imm);
}

static void x_send_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	struct extended *x = of(qp);
	request(x, qp, IBV_WR_SEND_WITH_INV)->invalidate_rkey = rkey;
	x->qp.wr_send_inv(qp, rkey);
}

static void x_send_tso(struct ibv_qp_ex *qp, void *header, uint16_t size, uint16_t mss)
{
	struct extended *x = of(qp);
	request(x, qp, IBV_WR_TSO);
	x->qp.wr_send_tso(qp, header, size, mss);
}

static void x_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
	struct extended *x = of(qp);
	if (x->count) {
		struct ibv_send_wr *w = &x->requests[x->count - 1];
		w->wr.ud.ah = ah;
		w->wr.ud.remote_qpn = qpn;
		w->wr.ud.remote_qkey = qkey;
	}
	x->qp.wr_set_ud_addr(qp, ah, qpn, qkey);
}

static void x_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t srqn)
{
	struct extended *x = of(qp);
	if (x->count)
		x->requests[x->count - 1].qp_type.xrc.remote_srqn = srqn;
	x->qp.wr_set_xrc_srqn(qp, srqn);
}

static void x_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	struct extended *x = of(qp);
	segment(x, (uintptr_t)addr, length, 0);
	if (x->count)
		x->requests[x->count - 1].send_flags |= IBV_SEND_INLINE;
	x->qp.wr_set_inline_data(qp, addr, length);
}

static void x_set_inline_data_list(struct ibv_qp_ex *qp, size_t n, const struct ibv_data_buf *list)
{
	struct extended *x = of(qp);
	for (size_t i = 0; i < n; i++)
		segment(x, (uintptr_t)list[i].addr, list[i].length, 0);
	if (x->count)
		x->requests[x->count - 1].send_flags |= IBV_SEND_INLINE;
	x->qp.wr_set_inline_data_list(qp, n, list);
}

static void x_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	struct extended *x = of(qp);
	segment(x, addr, length, lkey);
	x->qp.wr_set_sge(qp, lkey, addr, length);
}

static void x_set_sge_list(struct ibv_qp_ex *qp, size_t n, const struct ibv_sge *list)
{
	struct extended *x = of(qp);
	for (size_t i = 0; i < n; i++)
		segment(x, list[i].addr, list[i].length, list[i].lkey);
	x->qp.wr_set_sge_list(qp, n, list);
}

static void x_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, const void *value)
{
	struct extended *x = of(qp);
	remote(request(x, qp, IBV_WR_ATOMIC_WRITE), rkey, addr);
	x->qp.wr_atomic_write(qp, rkey, addr, value);
}

static void x_start(struct ibv_qp_ex *qp)
{
	struct extended *x = of(qp);
	x->qp.wr_start(qp);
	x->count = 0;
}

static int x_complete(struct ibv_qp_ex *qp)
{
	struct extended *x = of(qp);
	struct device *d = x->device;
	pthread_mutex_lock(&d->lock);
	uint64_t t = now();
	int n = x->count, rc = x->qp.wr_complete(qp);
	for (int i = 0; i < n; i++) {
		x->requests[i].sg_list = &x->segments[i * most_segments];
		log_send(d, &qp->qp_base, &x->requests[i], t, rc);
	}
	pthread_mutex_unlock(&d->lock);
	return rc;
}

static void x_abort(struct ibv_qp_ex *qp)
{
	struct extended *x = of(qp);
	x->count = 0;
	x->qp.wr_abort(qp);
}

static void extend_qp(struct ibv_qp *qp, struct device *d)
{
	static struct ibv_qp_ex *(*real)(struct ibv_qp *);
	if (!real)
		real = real_function("ibv_qp_to_qp_ex");
	struct ibv_qp_ex *e = real(qp);
	if (!e)
		return;
	struct extended *x = extend(e, d);
	x->qp = *e;
#define WRAP(f) \
	if (e->wr_##f) \
		e->wr_##f = x_##f
	WRAP(atomic_cmp_swp);
	WRAP(atomic_fetch_add);
	WRAP(bind_mw);
	WRAP(local_inv);
	WRAP(rdma_read);
	WRAP(rdma_write);
	WRAP(rdma_write_imm);
	WRAP(send);
	WRAP(send_imm);
	WRAP(send_inv);
	WRAP(send_tso);
	WRAP(set_ud_addr);
	WRAP(set_xrc_srqn);
	WRAP(set_inline_data);
	WRAP(set_inline_data_list);
	WRAP(set_sge);
	WRAP(set_sge_list);
	WRAP(start);
	WRAP(complete);
	WRAP(abort);
	if (x->qp.comp_mask) /* reserved for what is added after this */
		return;
	WRAP(atomic_write);
#undef WRAP
}

struct ibv_qp *extended_create_qp(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct device *d = device_of(context);
	inside++;
	struct ibv_qp *qp = d->create_qp_ex(context, attr);
	int rc = qp ? 0 : errno;
	inside--;
	struct ibv_qp_init_attr basic = {
		.send_cq = attr->send_cq, .recv_cq = attr->recv_cq, .srq = attr->srq, .cap = attr->cap, .qp_type = attr->qp_type, .sq_sig_all = attr->sq_sig_all};
	if (!inside)
		log_create_qp(d, qp, &basic, attr->comp_mask & IBV_QP_INIT_ATTR_PD ? attr->pd : NULL, rc);
	if (qp && attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS)
		extend_qp(qp, d);
	errno = rc;
	return qp;
}

/* Polling a CQ piece by piece: the completion that a call brings is written at once. */

static void took(struct extended *x, struct ibv_cq_ex *cq)
{
	struct ibv_wc w = {.wr_id = cq->wr_id, .status = cq->status};
	if (x->cq.read_qp_num)
		w.qp_num = x->cq.read_qp_num(cq);
	if (cq->status == IBV_WC_SUCCESS) {
		w.opcode = x->cq.read_opcode(cq);
		w.wc_flags = x->cq.read_wc_flags(cq);
		if (x->cq.read_byte_len)
			w.byte_len = x->cq.read_byte_len(cq);
		if (w.wc_flags & (IBV_WC_WITH_IMM | IBV_WC_WITH_INV) && x->cq.read_imm_data)
			w.imm_data = x->cq.read_imm_data(cq);
		if (w.wc_flags & IBV_WC_WITH_INV)
			w.invalidated_rkey = be32toh(w.imm_data);
		if (x->cq.read_src_qp)
			w.src_qp = x->cq.read_src_qp(cq);
		if (x->cq.read_slid)
			w.slid = x->cq.read_slid(cq);
		if (x->cq.read_sl)
			w.sl = x->cq.read_sl(cq);
	}
	log_completion(x->device, cq->handle, &w, false);
}

static int x_start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
	struct extended *x = of(cq);
	pthread_mutex_lock(polling(cq));
	int rc = x->cq.start_poll(cq, attr);
	if (rc) {
		if (rc == ENOENT)
			found_empty(x->device, ibv_cq_ex_to_cq(cq));
		pthread_mutex_unlock(polling(cq));
		return rc;
	}
	pthread_mutex_lock(&x->device->lock);
	x->device->poll++;
	took(x, cq);
	pthread_mutex_unlock(&x->device->lock);
	return 0;
}

static int x_next_poll(struct ibv_cq_ex *cq)
{
	struct extended *x = of(cq);
	int rc = x->cq.next_poll(cq);
	if (!rc) {
		pthread_mutex_lock(&x->device->lock);
		x->device->poll++;
		took(x, cq);
		pthread_mutex_unlock(&x->device->lock);
	} else if (rc == ENOENT) {
		found_empty(x->device, ibv_cq_ex_to_cq(cq));
	}
	return rc;
}

static void x_end_poll(struct ibv_cq_ex *cq)
{
	of(cq)->cq.end_poll(cq);
	pthread_mutex_unlock(polling(cq));
}

struct ibv_cq_ex *extended_create_cq(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	/* What a log needs is asked for, too. */
	const uint64_t needed = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM | IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_SRC_QP | IBV_WC_EX_WITH_SLID | IBV_WC_EX_WITH_SL;
	struct device *d = device_of(context);
	struct ibv_cq_init_attr_ex more = *attr;
	more.wc_flags |= needed;
	inside++;
	struct ibv_cq_ex *cq = d->create_cq_ex(context, &more);
	if (!cq)
		cq = d->create_cq_ex(context, attr);
	inside--;
	if (!cq)
		return NULL;
	if (!inside)
		log_create_cq(d, cq->handle, cq->cqe);
	struct extended *x = extend(cq, d);
	x->cq = *cq;
	if (cq->start_poll) {
		cq->start_poll = x_start_poll;
		cq->next_poll = x_next_poll;
		cq->end_poll = x_end_poll;
	}
	return cq;
}

struct ibv_srq *extended_create_srq(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	struct device *d = device_of(context);
	inside++;
	struct ibv_srq *srq = d->create_srq_ex(context, attr);
	inside--;
	if (srq && !inside)
		log_create_srq(d, srq, attr->attr.max_wr);
	return srq;
}
