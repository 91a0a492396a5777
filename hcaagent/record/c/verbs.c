/* The verbs that are recorded: each calls the one that it stands before, and writes a line. As docs/events.md says, a post has the time before the verb is called, anything else
   the time when it has returned. */
#include "record.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

static void begin(struct device *d) { pthread_mutex_lock(&d->lock); }
static void done(struct device *d)
{
	line_end(d);
	pthread_mutex_unlock(&d->lock);
}

/* end_now is done, and brings the line into the file, where it is if the program is killed. */
static void end_now(struct device *d)
{
	line_end(d);
	device_flush(d);
	pthread_mutex_unlock(&d->lock);
}

__thread int inside;

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	REAL(ibv_open_device);
	struct ibv_context *c = real(device);
	device_open(c);
	return c;
}

int ibv_close_device(struct ibv_context *context)
{
	REAL(ibv_close_device);
	device_close(context);
	return real(context);
}

/* Completion queues. */

void log_create_cq(struct device *d, uint32_t handle, int depth)
{
	begin(d);
	line(d, "create_cq");
	put_u64(d, "cq", number(handle));
	put_some(d, "depth", depth);
	done(d);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel, int comp_vector)
{
	REAL(ibv_create_cq);
	inside++;
	struct ibv_cq *cq = real(context, cqe, cq_context, channel, comp_vector);
	inside--;
	struct device *d = device_of(context);
	if (cq && d && !inside)
		log_create_cq(d, cq->handle, cq->cqe);
	return cq;
}

int ibv_resize_cq(struct ibv_cq *cq, int cqe)
{
	REAL(ibv_resize_cq);
	struct device *d = device_of(cq->context);
	int rc = real(cq, cqe);
	if (d) {
		begin(d);
		line(d, "resize_cq");
		put_u64(d, "cq", number(cq->handle));
		put_some(d, "depth", cq->cqe);
		put_some(d, "rc", rc);
		done(d);
	}
	return rc;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	REAL(ibv_destroy_cq);
	struct device *d = device_of(cq->context);
	uint32_t handle = cq->handle;
	int rc = real(cq);
	if (!rc)
		extended_destroyed(cq);
	if (d) {
		begin(d);
		line(d, "destroy_cq");
		put_u64(d, "cq", number(handle));
		put_some(d, "rc", rc);
		done(d);
	}
	return rc;
}

int record_req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
	struct device *d = device_of(cq->context);
	begin(d);
	uint64_t t = now();
	int rc = d->real.req_notify_cq(cq, solicited_only);
	line_at(d, "arm", t);
	put_u64(d, "cq", number(cq->handle));
	put_some(d, "solicited_only", solicited_only ? 1 : 0);
	put_some(d, "rc", rc);
	done(d);
	return rc;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
	REAL(ibv_get_cq_event);
	int rc = real(channel, cq, cq_context);
	struct device *d = rc ? NULL : device_of((*cq)->context);
	if (d) {
		begin(d);
		line(d, "notify");
		put_u64(d, "cq", number((*cq)->handle));
		done(d);
	}
	return rc;
}

static const char *wc_opcode(enum ibv_wc_opcode opcode)
{
	switch ((int)opcode) {
	case IBV_WC_SEND: return "SEND";
	case IBV_WC_RDMA_WRITE: return "RDMA_WRITE";
	case IBV_WC_RDMA_READ: return "RDMA_READ";
	case IBV_WC_COMP_SWAP: return "COMP_SWAP";
	case IBV_WC_FETCH_ADD: return "FETCH_ADD";
	case IBV_WC_BIND_MW: return "BIND_MW";
	case IBV_WC_LOCAL_INV: return "LOCAL_INV";
	case 8: return "FLUSH";
	case 9: return "ATOMIC_WRITE";
	case IBV_WC_RECV: return "RECV";
	case IBV_WC_RECV_RDMA_WITH_IMM: return "RECV_RDMA_WITH_IMM";
	}
	return NULL;
}

void log_completion(struct device *d, uint32_t cq, const struct ibv_wc *w, bool emptied)
{
	const char *opcode = w->status == IBV_WC_SUCCESS ? wc_opcode(w->opcode) : NULL;
	device_guessed(d); /* as for one that only takes datagrams */
	if (w->status == IBV_WC_SUCCESS && !opcode) { /* of what the log has no name for */
		line(d, "lost");
		line_end(d);
		return;
	}
	line(d, "cqe");
	put_u64(d, "qpn", w->qp_num);
	put_u64(d, "cq", number(cq));
	put_u64(d, "wr_id", w->wr_id);
	put_u64(d, "status_code", w->status);
	if (opcode) {
		put_text(d, "opcode", opcode);
		put_u64(d, "byte_len", w->byte_len);
		if (w->wc_flags & IBV_WC_WITH_IMM)
			put_u64(d, "imm", ntohl(w->imm_data));
		if (w->wc_flags & IBV_WC_WITH_INV)
			put_u64(d, "inv_rkey", w->invalidated_rkey);
		put_some(d, "grh", w->wc_flags & IBV_WC_GRH ? 1 : 0);
		put_some(d, "src_qp", w->src_qp);
		put_some(d, "slid", w->slid);
		put_some(d, "sl", w->sl);
	}
	put_u64(d, "poll", d->poll);
	put_some(d, "emptied", emptied);
	line_end(d);
}

int record_poll_cq(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc)
{
	struct device *d = device_of(cq->context);
	pthread_mutex_t *l = polling(cq);
	pthread_mutex_lock(l);
	int n = d->real.poll_cq(cq, num_entries, wc);
	if (n > 0) {
		begin(d);
		d->poll++;
		for (int i = 0; i < n; i++)
			log_completion(d, cq->handle, &wc[i], n < num_entries);
		pthread_mutex_unlock(&d->lock);
	} else if (!n && num_entries > 0) {
		found_empty(d, cq);
	}
	pthread_mutex_unlock(l);
	return n;
}

/* Queue pairs. */

static const char *qp_type(enum ibv_qp_type type)
{
	switch ((int)type) {
	case IBV_QPT_RC: return "rc";
	case IBV_QPT_UC: return "uc";
	case IBV_QPT_UD: return "ud";
	case IBV_QPT_RAW_PACKET: return "raw";
	case IBV_QPT_XRC_SEND: return "xrc_ini";
	case IBV_QPT_XRC_RECV: return "xrc_tgt";
	}
	return NULL;
}

void log_create_qp(struct device *d, const struct ibv_qp *qp, const struct ibv_qp_init_attr *attr, const struct ibv_pd *pd, int rc)
{
	const char *type = qp_type(attr->qp_type);
	begin(d);
	if (!type) { /* what drivers have of their own is not on the wire of this architecture */
		line(d, "lost");
		done(d);
		return;
	}
	line(d, "create_qp");
	if (qp) {
		put_u64(d, "qpn", qp->qp_num);
		put_text(d, "type", type);
		if (pd)
			put_u64(d, "pd", number(pd->handle));
		if (attr->send_cq)
			put_u64(d, "send_cq", number(attr->send_cq->handle));
		if (attr->recv_cq)
			put_u64(d, "recv_cq", number(attr->recv_cq->handle));
		if (attr->srq)
			put_u64(d, "srq", number(attr->srq->handle));
		put_some(d, "sq_sig_all", attr->sq_sig_all ? 1 : 0);
		put_some(d, "max_send_wr", attr->cap.max_send_wr);
		put_some(d, "max_recv_wr", attr->cap.max_recv_wr);
		put_some(d, "max_send_sge", attr->cap.max_send_sge);
		put_some(d, "max_recv_sge", attr->cap.max_recv_sge);
		put_some(d, "max_inline", attr->cap.max_inline_data);
	}
	put_some(d, "rc", rc);
	end_now(d);
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	REAL(ibv_create_qp);
	inside++;
	struct ibv_qp *qp = real(pd, attr);
	int rc = qp ? 0 : errno;
	inside--;
	struct device *d = device_of(pd->context);
	if (d && !inside)
		log_create_qp(d, qp, attr, pd, rc);
	errno = rc;
	return qp;
}

static const char *const states[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

struct address { char text[INET6_ADDRSTRLEN]; };

static const char *gid_text(const union ibv_gid *gid, struct address *a) { return inet_ntop(AF_INET6, gid->raw, a->text, sizeof a->text); }

/* destination is where an address vector leads. */
static const char *destination(const struct ibv_ah_attr *v, struct address *a)
{
	if (v->is_global)
		return gid_text(&v->grh.dgid, a);
	snprintf(a->text, sizeof a->text, "lid:%u", v->dlid);
	return a->text;
}

/* path writes an address vector. Its hop limit is not what the device is given of RoCE: Linux takes that from the route. */
static void path(struct device *d, const struct ibv_ah_attr *v)
{
	struct address a;
	put_text(d, "dgid", destination(v, &a));
	put_u64(d, "sl", v->sl);
	if (v->is_global) {
		if (!d->ethernet)
			put_u64(d, "hop_limit", v->grh.hop_limit);
		put_u64(d, "traffic_class", v->grh.traffic_class);
	}
}

static uint32_t mtu_bytes(enum ibv_mtu mtu) { return 128u << mtu; }

static void attributes(struct device *d, const struct ibv_qp_attr *a, int mask)
{
	struct address alternate;
#define ATTRIBUTE(flag, name, value) \
	if (mask & flag) \
		put_u64(d, name, value)
	ATTRIBUTE(IBV_QP_CUR_STATE, "cur_qp_state", a->cur_qp_state);
	ATTRIBUTE(IBV_QP_PKEY_INDEX, "pkey_index", a->pkey_index);
	ATTRIBUTE(IBV_QP_PORT, "port_num", a->port_num);
	ATTRIBUTE(IBV_QP_ACCESS_FLAGS, "qp_access_flags", a->qp_access_flags);
	ATTRIBUTE(IBV_QP_QKEY, "qkey", a->qkey);
	ATTRIBUTE(IBV_QP_PATH_MTU, "path_mtu", mtu_bytes(a->path_mtu));
	ATTRIBUTE(IBV_QP_DEST_QPN, "dest_qp_num", a->dest_qp_num);
	ATTRIBUTE(IBV_QP_RQ_PSN, "rq_psn", a->rq_psn & 0xFFFFFF);
	ATTRIBUTE(IBV_QP_SQ_PSN, "sq_psn", a->sq_psn & 0xFFFFFF);
	ATTRIBUTE(IBV_QP_MAX_DEST_RD_ATOMIC, "max_dest_rd_atomic", a->max_dest_rd_atomic);
	ATTRIBUTE(IBV_QP_MAX_QP_RD_ATOMIC, "max_rd_atomic", a->max_rd_atomic);
	ATTRIBUTE(IBV_QP_MIN_RNR_TIMER, "min_rnr_timer", a->min_rnr_timer);
	ATTRIBUTE(IBV_QP_TIMEOUT, "timeout", a->timeout);
	ATTRIBUTE(IBV_QP_RETRY_CNT, "retry_cnt", a->retry_cnt);
	ATTRIBUTE(IBV_QP_RNR_RETRY, "rnr_retry", a->rnr_retry);
	ATTRIBUTE(IBV_QP_PATH_MIG_STATE, "path_mig_state", a->path_mig_state);
	ATTRIBUTE(IBV_QP_RATE_LIMIT, "rate_limit", a->rate_limit);
	ATTRIBUTE(IBV_QP_EN_SQD_ASYNC_NOTIFY, "en_sqd_async_notify", a->en_sqd_async_notify ? 1 : 0);
	if (mask & IBV_QP_AV)
		path(d, &a->ah_attr);
	if (mask & IBV_QP_ALT_PATH)
		put_text(d, "alt_dgid", destination(&a->alt_ah_attr, &alternate));
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	REAL(ibv_modify_qp);
	struct device *d = device_of(qp->context);
	enum ibv_qp_state to = mask & IBV_QP_STATE ? attr->qp_state : qp->state;
	int rc = real(qp, attr, mask);
	if (!d || (int)to >= (int)(sizeof states / sizeof *states))
		return rc;
	begin(d);
	if (mask & IBV_QP_AV)
		device_named(d, mask & IBV_QP_PORT ? attr->port_num : attr->ah_attr.port_num ? attr->ah_attr.port_num : 1, attr->ah_attr.grh.sgid_index);
	line(d, "modify_qp");
	put_u64(d, "qpn", qp->qp_num);
	put_text(d, "to", states[to]);
	attributes(d, attr, mask);
	put_some(d, "rc", rc);
	end_now(d);
	return rc;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init)
{
	REAL(ibv_query_qp);
	struct device *d = device_of(qp->context);
	int rc = real(qp, attr, mask, init);
	if (d && !rc && mask & IBV_QP_STATE) {
		begin(d);
		line(d, "query_qp");
		put_u64(d, "qpn", qp->qp_num);
		put_u64(d, "state", attr->qp_state);
		done(d);
	}
	return rc;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	REAL(ibv_destroy_qp);
	struct device *d = device_of(qp->context);
	uint32_t qpn = qp->qp_num;
	int rc = real(qp);
	if (!rc)
		extended_destroyed(qp);
	if (d) {
		begin(d);
		line(d, "destroy_qp");
		put_u64(d, "qpn", qpn);
		put_some(d, "rc", rc);
		done(d);
	}
	return rc;
}

static void group(struct ibv_qp *qp, const char *event, const union ibv_gid *gid, int rc)
{
	struct device *d = device_of(qp->context);
	struct address a;
	if (!d)
		return;
	begin(d);
	line(d, event);
	put_u64(d, "qpn", qp->qp_num);
	put_text(d, "dgid", gid_text(gid, &a));
	put_some(d, "rc", rc);
	done(d);
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	REAL(ibv_attach_mcast);
	int rc = real(qp, gid, lid);
	group(qp, "attach_mcast", gid, rc);
	return rc;
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	REAL(ibv_detach_mcast);
	int rc = real(qp, gid, lid);
	group(qp, "detach_mcast", gid, rc);
	return rc;
}

/* Shared receive queues. */

void log_create_srq(struct device *d, const struct ibv_srq *srq, uint32_t depth)
{
	begin(d);
	line(d, "create_srq");
	put_u64(d, "srq", number(srq->handle));
	put_some(d, "depth", depth);
	done(d);
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	REAL(ibv_create_srq);
	inside++;
	struct ibv_srq *srq = real(pd, attr);
	inside--;
	struct device *d = device_of(pd->context);
	if (srq && d && !inside)
		log_create_srq(d, srq, attr->attr.max_wr);
	return srq;
}

static void shared(struct device *d, const char *event, uint32_t handle, bool armed, uint32_t limit, int rc)
{
	begin(d);
	line(d, event);
	put_u64(d, "srq", number(handle));
	if (armed)
		put_u64(d, "limit", limit);
	put_some(d, "rc", rc);
	done(d);
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	REAL(ibv_modify_srq);
	struct device *d = device_of(srq->context);
	int rc = real(srq, attr, mask);
	if (d && mask & IBV_SRQ_LIMIT)
		shared(d, "modify_srq", srq->handle, true, attr->srq_limit, rc);
	return rc;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	REAL(ibv_destroy_srq);
	struct device *d = device_of(srq->context);
	uint32_t handle = srq->handle;
	int rc = real(srq);
	if (d)
		shared(d, "destroy_srq", handle, false, 0, rc);
	return rc;
}

/* Memory. */

static void region(struct ibv_pd *pd, const struct ibv_mr *mr, uint64_t addr, size_t length, unsigned int access)
{
	const unsigned int known = 0x33F; /* what docs/events.md has */
	struct device *d = device_of(pd->context);
	if (!mr || !d || inside)
		return;
	begin(d);
	line(d, "reg_mr");
	put_u64(d, "addr", addr);
	put_u64(d, "length", length);
	put_u64(d, "lkey", mr->lkey);
	put_u64(d, "rkey", mr->rkey);
	put_u64(d, "access", access & known);
	put_u64(d, "pd", number(pd->handle));
	put_u64(d, "mr", number(mr->handle));
	done(d);
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	REAL(ibv_reg_mr);
	inside++;
	struct ibv_mr *mr = real(pd, addr, length, access);
	inside--;
	region(pd, mr, (uintptr_t)addr, length, access);
	return mr;
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access)
{
	REAL(ibv_reg_mr_iova);
	inside++;
	struct ibv_mr *mr = real(pd, addr, length, iova, access);
	inside--;
	region(pd, mr, iova, length, access);
	return mr;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	REAL(ibv_reg_mr_iova2);
	inside++;
	struct ibv_mr *mr = real(pd, addr, length, iova, access);
	inside--;
	region(pd, mr, iova, length, access);
	return mr;
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
	REAL(ibv_reg_dmabuf_mr);
	struct ibv_mr *mr = real(pd, offset, length, iova, fd, access);
	region(pd, mr, iova, length, access);
	return mr;
}

static void gone(struct device *d, uint32_t lkey, uint32_t handle, int rc)
{
	begin(d);
	line(d, "dereg_mr");
	put_u64(d, "lkey", lkey);
	put_u64(d, "mr", number(handle));
	put_some(d, "rc", rc);
	done(d);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	REAL(ibv_dereg_mr);
	struct device *d = device_of(mr->context);
	uint32_t lkey = mr->lkey, handle = mr->handle;
	int rc = real(mr);
	if (d)
		gone(d, lkey, handle, rc);
	return rc;
}

int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access)
{
	REAL(ibv_rereg_mr);
	struct device *d = device_of(mr->context);
	uint32_t lkey = mr->lkey;
	int rc = real(mr, flags, pd, addr, length, access);
	if (!d || rc)
		return rc;
	gone(d, lkey, mr->handle, 0);
	if (flags & IBV_REREG_MR_CHANGE_ACCESS) {
		region(mr->pd, mr, (uintptr_t)mr->addr, mr->length, access);
	} else { /* which access the region has is not known here */
		begin(d);
		line(d, "lost");
		done(d);
	}
	return rc;
}

struct ibv_mw *record_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct device *d = device_of(pd->context);
	struct ibv_mw *mw = d->real.alloc_mw(pd, type);
	if (mw) {
		begin(d);
		line(d, "alloc_mw");
		put_u64(d, "type", type);
		put_u64(d, "rkey", mw->rkey);
		put_u64(d, "pd", number(pd->handle));
		put_u64(d, "mw", number(mw->handle));
		done(d);
	}
	return mw;
}

int record_dealloc_mw(struct ibv_mw *mw)
{
	struct device *d = device_of(mw->context);
	uint32_t rkey = mw->rkey, handle = mw->handle;
	int rc = d->real.dealloc_mw(mw);
	begin(d);
	line(d, "dealloc_mw");
	put_u64(d, "rkey", rkey);
	put_u64(d, "mw", number(handle));
	put_some(d, "rc", rc);
	done(d);
	return rc;
}

static void window(struct device *d, const struct ibv_mw *mw, uint32_t rkey, const struct ibv_mw_bind_info *b)
{
	put_u64(d, "mw", number(mw->handle));
	if (b->mr)
		put_u64(d, "mr", number(b->mr->handle));
	put_u64(d, "addr", b->addr);
	put_u64(d, "length", b->length);
	put_u64(d, "rkey", rkey);
	put_u64(d, "access", b->mw_access_flags);
}

/* record_bind_mw knows the new R_Key only when the provider has bound the window. */
int record_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct device *d = device_of(qp->context);
	begin(d);
	uint64_t t = now();
	int rc = d->real.bind_mw(qp, mw, bind);
	line_at(d, "post_send", t);
	put_u64(d, "qpn", qp->qp_num);
	put_u64(d, "wr_id", bind->wr_id);
	put_text(d, "opcode", "BIND_MW");
	put_some(d, "flags", bind->send_flags & 15);
	window(d, mw, mw->rkey, &bind->bind_info);
	put_some(d, "rc", rc);
	done(d);
	return rc;
}

/* Address handles. */

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	REAL(ibv_create_ah);
	struct ibv_ah *ah = real(pd, attr);
	struct device *d = device_of(pd->context);
	if (ah && d) {
		begin(d);
		device_named(d, attr->port_num ? attr->port_num : 1, attr->grh.sgid_index);
		line(d, "create_ah");
		put_u64(d, "ah", number(ah->handle));
		put_u64(d, "pd", number(pd->handle));
		path(d, attr);
		put_some(d, "grh", attr->is_global ? 1 : 0);
		done(d);
	}
	return ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
	REAL(ibv_destroy_ah);
	struct device *d = device_of(ah->context);
	uint32_t handle = ah->handle;
	int rc = real(ah);
	if (d) {
		begin(d);
		line(d, "destroy_ah");
		put_u64(d, "ah", number(handle));
		put_some(d, "rc", rc);
		done(d);
	}
	return rc;
}

/* Asynchronous events. */

static const char *async_name(enum ibv_event_type type)
{
	switch ((int)type) {
	case IBV_EVENT_COMM_EST: return "comm_est";
	case IBV_EVENT_SQ_DRAINED: return "sq_drained";
	case IBV_EVENT_QP_LAST_WQE_REACHED: return "last_wqe";
	case IBV_EVENT_SRQ_LIMIT_REACHED: return "srq_limit";
	case IBV_EVENT_CQ_ERR: return "cq_err";
	case IBV_EVENT_QP_FATAL: return "qp_fatal";
	case IBV_EVENT_QP_REQ_ERR: return "qp_request";
	case IBV_EVENT_QP_ACCESS_ERR: return "qp_access";
	case IBV_EVENT_PATH_MIG: return "path_mig";
	}
	return NULL;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	REAL(ibv_get_async_event);
	int rc = real(context, event);
	struct device *d = rc ? NULL : device_of(context);
	const char *what = d ? async_name(event->event_type) : NULL;
	if (!what)
		return rc;
	begin(d);
	line(d, "async");
	put_text(d, "what", what);
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR: put_u64(d, "cq", number(event->element.cq->handle)); break;
	case IBV_EVENT_SRQ_LIMIT_REACHED: put_u64(d, "srq", number(event->element.srq->handle)); break;
	default: put_u64(d, "qpn", event->element.qp->qp_num);
	}
	done(d);
	return rc;
}

/* Work. */

static const char *wr_opcode(enum ibv_wr_opcode opcode)
{
	switch ((int)opcode) {
	case IBV_WR_RDMA_WRITE: return "RDMA_WRITE";
	case IBV_WR_RDMA_WRITE_WITH_IMM: return "RDMA_WRITE_WITH_IMM";
	case IBV_WR_SEND: return "SEND";
	case IBV_WR_SEND_WITH_IMM: return "SEND_WITH_IMM";
	case IBV_WR_SEND_WITH_INV: return "SEND_WITH_INV";
	case IBV_WR_RDMA_READ: return "RDMA_READ";
	case IBV_WR_ATOMIC_CMP_AND_SWP: return "ATOMIC_CMP_AND_SWP";
	case IBV_WR_ATOMIC_FETCH_AND_ADD: return "ATOMIC_FETCH_AND_ADD";
	case IBV_WR_LOCAL_INV: return "LOCAL_INV";
	case IBV_WR_BIND_MW: return "BIND_MW";
	case 14: return "FLUSH";
	case 15: return "ATOMIC_WRITE";
	}
	return NULL;
}

/* checksum writes the CRC-32 of what a request sends. */
static void checksum(struct device *d, const struct ibv_send_wr *w)
{
	uint32_t crc = 0;
	switch (w->opcode) {
	case IBV_WR_RDMA_WRITE: case IBV_WR_RDMA_WRITE_WITH_IMM: case IBV_WR_SEND: case IBV_WR_SEND_WITH_IMM: case IBV_WR_SEND_WITH_INV: break;
	default: return;
	}
	for (int i = 0; i < w->num_sge; i++)
		crc = crc32_add(crc, (const void *)(uintptr_t)w->sg_list[i].addr, w->sg_list[i].length);
	put_u64(d, "crc32", crc);
}

/* send writes a work request that was posted at a time. rc is not 0 where it was refused. */
void log_send(struct device *d, struct ibv_qp *qp, const struct ibv_send_wr *w, uint64_t t, int rc)
{
	const char *opcode = wr_opcode(w->opcode);
	if (!opcode) { /* of a driver, or for other networks */
		line(d, "lost");
		line_end(d);
		return;
	}
	line_at(d, "post_send", t);
	put_u64(d, "qpn", qp->qp_num);
	put_u64(d, "wr_id", w->wr_id);
	put_text(d, "opcode", opcode);
	put_some(d, "flags", w->send_flags & 15);
	put_segments(d, w->sg_list, w->num_sge);
	switch ((int)w->opcode) {
	case IBV_WR_SEND_WITH_IMM:
		put_u64(d, "imm", ntohl(w->imm_data));
		break;
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_LOCAL_INV:
		put_u64(d, "inv_rkey", w->invalidate_rkey);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		put_u64(d, "imm", ntohl(w->imm_data));
		/* fall through */
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_READ:
		put_u64(d, "raddr", w->wr.rdma.remote_addr);
		put_u64(d, "rkey", w->wr.rdma.rkey);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		put_u64(d, "raddr", w->wr.atomic.remote_addr);
		put_u64(d, "rkey", w->wr.atomic.rkey);
		put_u64(d, "compare_add", w->wr.atomic.compare_add);
		if (w->opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
			put_u64(d, "swap", w->wr.atomic.swap);
		break;
	case IBV_WR_BIND_MW:
		window(d, w->bind_mw.mw, w->bind_mw.rkey, &w->bind_mw.bind_info);
		break;
	}
	if (qp->qp_type == IBV_QPT_UD) {
		put_u64(d, "dest_qpn", w->wr.ud.remote_qpn);
		put_u64(d, "qkey", w->wr.ud.remote_qkey);
		if (w->wr.ud.ah)
			put_u64(d, "ah", number(w->wr.ud.ah->handle));
	}
	if (qp->qp_type == IBV_QPT_XRC_SEND)
		put_u64(d, "remote_srqn", w->qp_type.xrc.remote_srqn);
	if (checksums && !rc)
		checksum(d, w);
	put_some(d, "rc", rc);
	line_end(d);
}

/* record_post_send posts, and writes the requests that the provider has taken, and the one that it has refused. */
int record_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct device *d = device_of(qp->context);
	begin(d);
	uint64_t t = now();
	int rc = d->real.post_send(qp, wr, bad);
	for (; wr && !(rc && wr == *bad); wr = wr->next)
		log_send(d, qp, wr, t, 0);
	if (wr)
		log_send(d, qp, wr, t, rc);
	pthread_mutex_unlock(&d->lock);
	return rc;
}

static void receive(struct device *d, uint32_t qpn, uint64_t srq, const struct ibv_recv_wr *w, uint64_t t, int rc)
{
	line_at(d, "post_recv", t);
	if (srq)
		put_u64(d, "srq", srq);
	else
		put_u64(d, "qpn", qpn);
	put_u64(d, "wr_id", w->wr_id);
	put_segments(d, w->sg_list, w->num_sge);
	put_some(d, "rc", rc);
	line_end(d);
}

int record_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct device *d = device_of(qp->context);
	begin(d);
	uint64_t t = now();
	int rc = d->real.post_recv(qp, wr, bad);
	for (; wr && !(rc && wr == *bad); wr = wr->next)
		receive(d, qp->qp_num, 0, wr, t, 0);
	if (wr)
		receive(d, qp->qp_num, 0, wr, t, rc);
	pthread_mutex_unlock(&d->lock);
	return rc;
}

int record_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct device *d = device_of(srq->context);
	begin(d);
	uint64_t t = now();
	int rc = d->real.post_srq_recv(srq, wr, bad);
	for (; wr && !(rc && wr == *bad); wr = wr->next)
		receive(d, 0, number(srq->handle), wr, t, 0);
	if (wr)
		receive(d, 0, number(srq->handle), wr, t, rc);
	pthread_mutex_unlock(&d->lock);
	return rc;
}
