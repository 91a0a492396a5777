// What cgo cannot say itself: macros, unions, and objects that are known to libibverbs by a number of Go.
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>

static inline int shim_query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *attr) {
	memset(attr, 0, sizeof *attr);
	return ibv_query_port(ctx, port, attr);
}

static inline struct ibv_mr *shim_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t va, unsigned int access) {
	return ibv_reg_mr_iova(pd, addr, length, va, access);
}

static inline struct ibv_cq *shim_create_cq(struct ibv_context *ctx, int depth, uint32_t number, struct ibv_comp_channel *channel) {
	return ibv_create_cq(ctx, depth, (void *)(uintptr_t)number, channel, 0);
}

// shim_get_cq_event returns the number of the queue that an event is of, or 0 where there is none.
static inline uint32_t shim_get_cq_event(struct ibv_comp_channel *channel) {
	struct ibv_cq *cq;
	void *number;
	if (ibv_get_cq_event(channel, &cq, &number))
		return 0;
	ibv_ack_cq_events(cq, 1);
	return (uint32_t)(uintptr_t)number;
}

// shim_get_async_event returns the kind of an asynchronous event, and the number of its object; -1 where there is none.
static inline int shim_get_async_event(struct ibv_context *ctx, uint32_t *number) {
	struct ibv_async_event event;
	if (ibv_get_async_event(ctx, &event))
		return -1;
	switch (event.event_type) {
	case IBV_EVENT_CQ_ERR:
		*number = (uint32_t)(uintptr_t)event.element.cq->cq_context;
		break;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		*number = (uint32_t)(uintptr_t)event.element.srq->srq_context;
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		*number = event.element.qp->qp_num;
		break;
	default:
		*number = 0;
	}
	ibv_ack_async_event(&event);
	return event.event_type;
}

static inline struct ibv_srq *shim_create_srq(struct ibv_pd *pd, uint32_t number, uint32_t depth, uint32_t segments) {
	struct ibv_srq_init_attr init = {.srq_context = (void *)(uintptr_t)number, .attr = {.max_wr = depth, .max_sge = segments}};
	return ibv_create_srq(pd, &init);
}

// shim_create_xrc_srq sets number, by which its events name it, to the one that packets name it by.
static inline struct ibv_srq *shim_create_xrc_srq(struct ibv_pd *pd, struct ibv_xrcd *domain, struct ibv_cq *cq, uint32_t depth, uint32_t segments, uint32_t *number) {
	struct ibv_srq_init_attr_ex init = {
		.attr = {.max_wr = depth, .max_sge = segments},
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC, .pd = pd, .xrcd = domain, .cq = cq,
	};
	struct ibv_srq *srq = ibv_create_srq_ex(pd->context, &init);
	if (!srq)
		return NULL;
	int failed = ibv_get_srq_num(srq, number);
	if (failed) {
		ibv_destroy_srq(srq);
		errno = failed;
		return NULL;
	}
	srq->srq_context = (void *)(uintptr_t)*number;
	return srq;
}

static inline struct ibv_xrcd *shim_open_xrcd(struct ibv_context *ctx) {
	struct ibv_xrcd_init_attr init = {.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT};
	return ibv_open_xrcd(ctx, &init);
}

static inline struct ibv_qp *shim_create_xrc_target(struct ibv_context *ctx, struct ibv_xrcd *domain) {
	struct ibv_qp_init_attr_ex init = {.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = domain};
	return ibv_create_qp_ex(ctx, &init);
}

static inline void shim_wr_imm(struct ibv_send_wr *wr, uint32_t imm) { wr->imm_data = htonl(imm); }
static inline void shim_wr_inv(struct ibv_send_wr *wr, uint32_t key) { wr->invalidate_rkey = key; }
static inline void shim_wr_rdma(struct ibv_send_wr *wr, uint64_t va, uint32_t key) {
	wr->wr.rdma.remote_addr = va;
	wr->wr.rdma.rkey = key;
}
static inline void shim_wr_atomic(struct ibv_send_wr *wr, uint64_t va, uint32_t key, uint64_t compare_add, uint64_t swap) {
	wr->wr.atomic.remote_addr = va;
	wr->wr.atomic.rkey = key;
	wr->wr.atomic.compare_add = compare_add;
	wr->wr.atomic.swap = swap;
}
static inline void shim_wr_ud(struct ibv_send_wr *wr, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey) {
	wr->wr.ud.ah = ah;
	wr->wr.ud.remote_qpn = qpn;
	wr->wr.ud.remote_qkey = qkey;
}
static inline void shim_wr_xrc(struct ibv_send_wr *wr, uint32_t srq) { wr->qp_type.xrc.remote_srqn = srq; }
static inline void shim_wr_bind(struct ibv_send_wr *wr, struct ibv_mw *mw, uint32_t rkey, struct ibv_mr *mr, uint64_t va, uint64_t length, unsigned int access) {
	wr->bind_mw.mw = mw;
	wr->bind_mw.rkey = rkey;
	wr->bind_mw.bind_info = (struct ibv_mw_bind_info){mr, va, length, access};
}

static inline int shim_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr) {
	struct ibv_send_wr *bad;
	return ibv_post_send(qp, wr, &bad);
}

// shim_bind_mw binds a window of type 1; mw->rkey is the new R_Key then.
static inline int shim_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, uint64_t id, unsigned int flags, struct ibv_mr *mr, uint64_t va, uint64_t length, unsigned int access) {
	struct ibv_mw_bind bind = {.wr_id = id, .send_flags = flags, .bind_info = {mr, va, length, access}};
	return ibv_bind_mw(qp, mw, &bind);
}

static inline int shim_post_recv(struct ibv_qp *qp, struct ibv_srq *srq, uint64_t id, struct ibv_sge *list, int n) {
	struct ibv_recv_wr wr = {.wr_id = id, .sg_list = list, .num_sge = n}, *bad;
	return srq ? ibv_post_srq_recv(srq, &wr, &bad) : ibv_post_recv(qp, &wr, &bad);
}

static inline uint32_t shim_wc_imm(const struct ibv_wc *wc) { return ntohl(wc->imm_data); }
static inline uint32_t shim_wc_inv(const struct ibv_wc *wc) { return wc->invalidated_rkey; }
