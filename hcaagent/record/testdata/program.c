/* A program that uses verbs: `program all` each that the fake adapter has once, `program threads N` N SENDs in each direction by four threads, `program speed N` N SENDs and what a
   verb takes, `program datagrams N INDEX` N receive requests and, from the GID of that index, a datagram. */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq[2];
static struct ibv_qp *qp[2];
static struct ibv_mr *mr;
static char memory[4096];
static int count;

static void connect_to(struct ibv_qp *q, uint32_t peer)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
	ibv_modify_qp(q, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer, .rq_psn = 5, .max_dest_rd_atomic = 1, .min_rnr_timer = 12};
	a.ah_attr.is_global = 1;
	a.ah_attr.grh.hop_limit = 64;
	a.ah_attr.grh.sgid_index = 1;
	memcpy(a.ah_attr.grh.dgid.raw, "\0\0\0\0\0\0\0\0\0\0\xFF\xFF\x0A\0\0\2", 16);
	ibv_modify_qp(q, &a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .sq_psn = 7, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
	ibv_modify_qp(q, &a, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

static void receive(struct ibv_qp *q, uint64_t id)
{
	struct ibv_sge s = {(uintptr_t)memory, 64, mr->lkey};
	struct ibv_recv_wr w = {.wr_id = id, .sg_list = &s, .num_sge = 1}, *bad;
	if (ibv_post_recv(q, &w, &bad))
		exit(1);
}

static int post(struct ibv_qp *q, uint64_t id, enum ibv_wr_opcode opcode, int segments)
{
	struct ibv_sge s[8] = {{(uintptr_t)memory, 9, mr->lkey}, {(uintptr_t)memory + 9, 1, mr->lkey}};
	struct ibv_send_wr w = {.wr_id = id, .sg_list = s, .num_sge = segments, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED}, *bad;
	w.wr.rdma.remote_addr = 0x1000;
	w.wr.rdma.rkey = 0x77;
	return ibv_post_send(q, &w, &bad);
}

static int taken[2]; /* completions of each CQ */
static int each;     /* how many of them a SEND of each end makes there */

static void poll_all(int i)
{
	struct ibv_wc wc[8];
	int n;
	while ((n = ibv_poll_cq(cq[i], 8, wc)) > 0)
		__atomic_fetch_add(&taken[i], n, __ATOMIC_RELAXED);
}

static void all(void)
{
	receive(qp[1], 100);
	receive(qp[1], 101);
	post(qp[0], 1, IBV_WR_SEND, 2);
	post(qp[0], 2, IBV_WR_RDMA_WRITE, 1);
	if (!post(qp[0], 3, IBV_WR_SEND, 8)) /* which the adapter refuses */
		exit(1);
	ibv_req_notify_cq(cq[0], 1);
	struct ibv_qp_ex *x = ibv_qp_to_qp_ex(qp[0]);
	ibv_wr_start(x);
	x->wr_id = 4;
	x->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send_imm(x, htonl(0xABCD));
	ibv_wr_set_sge(x, mr->lkey, (uintptr_t)memory, 3);
	if (ibv_wr_complete(x))
		exit(1);
	poll_all(0);
	poll_all(1);
	struct ibv_qp_attr drain = {.qp_state = IBV_QPS_SQD};
	ibv_modify_qp(qp[0], &drain, IBV_QP_STATE); /* refused, too */
	ibv_destroy_qp(qp[0]);
	ibv_dereg_mr(mr);
	ibv_destroy_cq(cq[0]);
	ibv_close_device(context);
}

/* sends posts SENDs on queue pair own, and receive requests for them at the other one, and polls its CQ now and then, which another thread does, too. */
static void *sends(void *own)
{
	int i = (int)(intptr_t)own & 1;
	for (int n = 0; n < count; n++) {
		receive(qp[1 - i], n);
		if (post(qp[i], n, IBV_WR_SEND, 1))
			exit(1);
		if (n % 16 == 0)
			poll_all(i);
		while (each * n - __atomic_load_n(&taken[0], __ATOMIC_RELAXED) > 1000 || each * n - __atomic_load_n(&taken[1], __ATOMIC_RELAXED) > 1000) {
			poll_all(i);
			poll_all(1 - i);
		}
	}
	return NULL;
}

static void *polls(void *own)
{
	int i = (int)(intptr_t)own & 1;
	while (__atomic_load_n(&taken[i], __ATOMIC_RELAXED) < each * count)
		poll_all(i);
	return NULL;
}

/* datagram sends from one queue pair to the other. */
static void datagram(const char *gid_index)
{
	struct ibv_ah_attr a = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = atoi(gid_index), .hop_limit = 64}};
	struct ibv_sge s = {(uintptr_t)memory, 9, mr->lkey};
	struct ibv_send_wr w = {.sg_list = &s, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad;
	w.wr.ud.ah = *gid_index ? ibv_create_ah(pd, &a) : NULL;
	w.wr.ud.remote_qpn = qp[1]->qp_num;
	if (ibv_post_send(qp[0], &w, &bad))
		exit(1);
	poll_all(0);
	poll_all(1);
}

int main(int argc, char **argv)
{
	struct ibv_qp_init_attr_ex a = {.qp_type = IBV_QPT_RC, .cap = {16, 32, 4, 4, 0}, .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS};
	int n;
	if (argc < 2)
		return 2;
	count = argc > 2 ? atoi(argv[2]) : 0;
	if (argc > 3)
		a.qp_type = IBV_QPT_UD;
	struct ibv_device **list = ibv_get_device_list(&n);
	context = ibv_open_device(list[0]);
	pd = ibv_alloc_pd(context);
	mr = ibv_reg_mr(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_RELAXED_ORDERING);
	strcpy(memory, "123456789");
	for (int i = 0; i < 2; i++) {
		cq[i] = ibv_create_cq(context, 4000, NULL, NULL, 0);
		a.send_cq = a.recv_cq = cq[i];
		a.pd = pd;
		a.send_ops_flags = IBV_QP_EX_WITH_SEND_WITH_IMM;
		qp[i] = ibv_create_qp_ex(context, &a);
	}
	for (int i = 0; i < 2 && a.qp_type == IBV_QPT_RC; i++)
		connect_to(qp[i], qp[1 - i]->qp_num);
	if (!strcmp(argv[1], "all")) {
		all();
	} else if (!strcmp(argv[1], "threads")) {
		pthread_t t[4];
		each = 2;
		for (intptr_t i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, i < 2 ? sends : polls, (void *)i);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
	} else if (!strcmp(argv[1], "speed")) {
		struct timespec begin, end;
		each = 1;
		clock_gettime(CLOCK_MONOTONIC, &begin);
		sends(NULL);
		poll_all(0);
		poll_all(1);
		clock_gettime(CLOCK_MONOTONIC, &end);
		printf("%.0f\n", ((end.tv_sec - begin.tv_sec) * 1e9 + end.tv_nsec - begin.tv_nsec) / count);
	} else if (!strcmp(argv[1], "datagrams")) {
		for (int i = 0; i < count; i++)
			receive(qp[1], i);
		datagram(argv[3]);
	} else if (!strcmp(argv[1], "status")) {
		return count;
	} else if (!strcmp(argv[1], "killed")) {
		raise(SIGTERM);
	} else if (!strcmp(argv[1], "fork")) {
		if (!fork()) {
			post(qp[0], 1, IBV_WR_SEND, 1);
			exit(0);
		}
		sleep(1);
	}
	return 0;
}
