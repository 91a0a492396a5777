/* A libibverbs with one adapter in memory: a request is carried out in the memory of the queue pair with the number that it is connected to, and completes at once. */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#undef ibv_reg_mr

enum { most = 4096 };

struct queue {
	struct ibv_cq cq;
	struct ibv_wc done[most];
	unsigned int head, tail;
};

struct pair {
	struct ibv_qp_ex ex; /* begins with the ibv_qp */
	struct ibv_recv_wr posted[most];
	struct ibv_sge segment[most];
	unsigned int head, tail;
	uint32_t peer;
};

static struct ibv_device device = {.name = "fake0"};
static struct pair *pairs[64];
static uint32_t handles;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void complete(struct ibv_cq *cq, struct ibv_wc wc)
{
	struct queue *q = (struct queue *)cq;
	q->done[q->tail++ % most] = wc;
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *w, struct ibv_send_wr **bad)
{
	struct pair *p = (struct pair *)qp;
	pthread_mutex_lock(&lock);
	for (; w; w = w->next) {
		if (w->num_sge > 4) {
			*bad = w;
			pthread_mutex_unlock(&lock);
			return EINVAL;
		}
		struct pair *to = pairs[qp->qp_type == IBV_QPT_UD ? w->wr.ud.remote_qpn : p->peer];
		uint32_t length = 0;
		for (int i = 0; i < w->num_sge; i++)
			length += w->sg_list[i].length;
		struct ibv_wc wc = {.wr_id = w->wr_id, .qp_num = qp->qp_num, .byte_len = length};
		switch (w->opcode) {
		case IBV_WR_RDMA_READ: wc.opcode = IBV_WC_RDMA_READ; break;
		case IBV_WR_RDMA_WRITE: wc.opcode = IBV_WC_RDMA_WRITE; break;
		case IBV_WR_ATOMIC_FETCH_AND_ADD: wc.opcode = IBV_WC_FETCH_ADD; break;
		default: wc.opcode = IBV_WC_SEND;
		}
		if ((w->opcode == IBV_WR_SEND || w->opcode == IBV_WR_SEND_WITH_IMM) && to && to->head != to->tail) {
			struct ibv_recv_wr *r = &to->posted[to->head++ % most];
			struct ibv_wc got = {.wr_id = r->wr_id, .qp_num = to->ex.qp_base.qp_num, .opcode = IBV_WC_RECV, .byte_len = length};
			if (w->opcode == IBV_WR_SEND_WITH_IMM) {
				got.wc_flags = IBV_WC_WITH_IMM;
				got.imm_data = w->imm_data;
			}
			complete(to->ex.qp_base.recv_cq, got);
		}
		if (w->send_flags & IBV_SEND_SIGNALED)
			complete(qp->send_cq, wc);
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *w, struct ibv_recv_wr **bad)
{
	struct pair *p = (struct pair *)qp;
	(void)bad;
	pthread_mutex_lock(&lock);
	for (; w; w = w->next)
		p->posted[p->tail++ % most] = *w;
	pthread_mutex_unlock(&lock);
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	struct queue *q = (struct queue *)cq;
	int i = 0;
	pthread_mutex_lock(&lock);
	for (; i < n && q->head != q->tail; i++)
		wc[i] = q->done[q->head++ % most];
	pthread_mutex_unlock(&lock);
	return i;
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	(void)cq;
	(void)solicited_only;
	return 0;
}

/* The extended interface, one request at a time. */
static struct ibv_send_wr request;
static struct ibv_sge piece;

static void wr_start(struct ibv_qp_ex *qp) { (void)qp; }

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm)
{
	request = (struct ibv_send_wr){.wr_id = qp->wr_id, .send_flags = qp->wr_flags, .opcode = IBV_WR_SEND_WITH_IMM, .imm_data = imm, .sg_list = &piece, .num_sge = 1};
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	(void)qp;
	piece = (struct ibv_sge){.addr = addr, .length = length, .lkey = lkey};
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	struct ibv_send_wr *bad;
	return post_send(&qp->qp_base, &request, &bad);
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp) { return (struct ibv_qp_ex *)qp; }

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct pair *p = calloc(1, sizeof *p);
	struct ibv_qp *qp = &p->ex.qp_base;
	static uint32_t next = 17;
	qp->context = pd->context;
	qp->pd = pd;
	qp->send_cq = attr->send_cq;
	qp->recv_cq = attr->recv_cq;
	qp->qp_type = attr->qp_type;
	qp->handle = handles++;
	qp->qp_num = next++;
	pairs[qp->qp_num] = p;
	return qp;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *a)
{
	struct ibv_qp_init_attr basic = {.send_cq = a->send_cq, .recv_cq = a->recv_cq, .qp_type = a->qp_type, .cap = a->cap};
	struct ibv_qp *qp = ibv_create_qp(a->pd, &basic);
	struct ibv_qp_ex *x = (struct ibv_qp_ex *)qp;
	(void)context;
	x->wr_start = wr_start;
	x->wr_send_imm = wr_send_imm;
	x->wr_set_sge = wr_set_sge;
	x->wr_complete = wr_complete;
	return qp;
}

struct ibv_device **ibv_get_device_list(int *n)
{
	static struct ibv_device *list[] = {&device, NULL};
	*n = 1;
	return list;
}

void ibv_free_device_list(struct ibv_device **list) { (void)list; }

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t size)
{
	(void)context;
	(void)size;
	attr->link_layer = IBV_LINK_LAYER_ETHERNET;
	return port == 1 ? 0 : EINVAL;
}

struct ibv_context *ibv_open_device(struct ibv_device *d)
{
	struct verbs_context *v = calloc(1, sizeof *v);
	v->sz = sizeof *v;
	v->create_qp_ex = create_qp_ex;
	v->query_port = query_port;
	v->context.device = d;
	v->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	v->context.ops.post_send = post_send;
	v->context.ops.post_recv = post_recv;
	v->context.ops.poll_cq = poll_cq;
	v->context.ops.req_notify_cq = req_notify_cq;
	return &v->context;
}

int ibv_close_device(struct ibv_context *context) { return context ? 0 : EINVAL; }

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
	static const unsigned char own[2][16] = {{0xFE, 0x80, [15] = 1}, {[10] = 0xFF, [11] = 0xFF, 10, 0, 0, 1}};
	(void)context;
	(void)port;
	memcpy(gid->raw, own[index & 1], sizeof *own);
	return index > 1 ? EINVAL : 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct ibv_pd *pd = calloc(1, sizeof *pd);
	pd->context = context;
	pd->handle = handles++;
	return pd;
}

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ibv_ah *ah = calloc(1, sizeof *ah);
	(void)attr;
	*ah = (struct ibv_ah){.context = pd->context, .pd = pd, .handle = handles++};
	return ah;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	struct ibv_mr *mr = calloc(1, sizeof *mr);
	(void)iova;
	(void)access;
	*mr = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = addr, .length = length, .handle = handles++};
	mr->lkey = mr->rkey = 0x100 + mr->handle;
	return mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access) { return ibv_reg_mr_iova2(pd, addr, length, (uintptr_t)addr, access); }

int ibv_dereg_mr(struct ibv_mr *mr) { return mr ? 0 : EINVAL; }

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *own, struct ibv_comp_channel *channel, int vector)
{
	struct queue *q = calloc(1, sizeof *q);
	(void)own;
	(void)channel;
	(void)vector;
	q->cq.context = context;
	q->cq.handle = handles++;
	q->cq.cqe = cqe;
	return &q->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq) { return cq ? 0 : EINVAL; }

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *a, int mask)
{
	if (mask & IBV_QP_DEST_QPN)
		((struct pair *)qp)->peer = a->dest_qp_num;
	return a->qp_state == IBV_QPS_SQD ? EINVAL : 0;
}

int ibv_destroy_qp(struct ibv_qp *qp) { return qp ? 0 : EINVAL; }
