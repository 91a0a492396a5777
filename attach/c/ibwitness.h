/*
 * ibwitness.h - a protocol checker and scoreboard for InfiniBand and RoCE in any testbench.
 *
 * The testbench hands over what its monitors see: frames of the ports of a device, and, if it likes, the verbs events of the device (work requests that
 * were posted, completions). What is wrong comes back in the same call, thus at the same simulation time: which rule was broken, who broke it, what was
 * expected, which frames prove it.
 *
 * C99 and C++17. The library has no thread that calls back, no clock and no file of its own but those that the configuration names: the caller's thread does
 * everything, and the same input gives the same findings. docs/attach.md has an example for each simulator, and the rules of the road.
 *
 * Returns: functions that return int give a negative number of enum ibw_status where something was wrong with the call, and ibw_error says what and what
 * to do. Those that judge (ibw_frame, ibw_beat, ibw_event and so on) otherwise give how many errors the call has found: findings that are violations of
 * severity error and are not waived. Mistakes of the caller never crash: a null or closed run, a tap that is not there, time that goes back, and a run that
 * is used by two threads at once are told like any other mistake.
 *
 * Time is in picoseconds from the beginning of the simulation, and may not go back. A frame has the time of its end, when it could first be seen whole.
 */
#ifndef IBWITNESS_H
#define IBWITNESS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef IBW_PUBLIC
#define IBW_PUBLIC
#endif

/* Version of this interface. It grows when something in it changes; additions at the end of a struct keep it, as each struct begins with its size. */
#define IBW_API 1

/* One run. Not to be used by two threads at once; several runs may go on in parallel. */
typedef struct ibw ibw;

enum ibw_status {
  IBW_EINVAL = -1, /* a wrong argument: what is wrong with it is in ibw_error */
  IBW_ECLOSED = -2, /* the run is null, or was closed */
  IBW_EENDED = -3, /* the run has ended: begin another one */
  IBW_EBUSY = -4, /* another thread is in a call of this run */
  IBW_ETIME = -5, /* the time is before that of an earlier call */
  IBW_EIO = -6, /* a file could not be written */
  IBW_ENOMEM = -7, /* no memory for the beats of a frame: tell ibw_lost that it was missed */
  IBW_EFORK = -8 /* the process was forked after the library was loaded: load it in the child */
};

enum ibw_class { IBW_VIOLATION = 1, IBW_UNPROVEN, IBW_EVENT };
enum ibw_severity { IBW_INFO = 1, IBW_WARNING, IBW_ERROR };
/* What was told may change: what comes later may prove a finding, cast doubt on it, or explain it away. */
enum ibw_change { IBW_NEW = 1, IBW_PROVEN, IBW_DOUBTED, IBW_WITHDRAWN };
/* Direction of a frame, seen from the endpoint that the tap is near. */
enum ibw_way { IBW_WAY_UNKNOWN, IBW_IN, IBW_OUT };

/* A finding. Its texts hold until the next call on the run. */
typedef struct ibw_finding {
  uint32_t size; /* of this struct, as far as it is filled; set it to sizeof(ibw_finding) for ibw_next */
  uint32_t id; /* of the finding: the same when it changes */
  int32_t change; /* enum ibw_change */
  int32_t cls; /* enum ibw_class */
  int32_t severity; /* enum ibw_severity, of the rule */
  int32_t waived; /* 1: the configuration waives it; it is no error */
  uint32_t tap; /* of the frame */
  uint32_t psn;
  int32_t psn_known;
  uint32_t accused_qpn;
  int32_t accused_qpn_known;
  uint32_t peer_qpn;
  int32_t peer_qpn_known;
  uint64_t frame; /* number of the frame at its tap, from 1 on; 0: no frame shows it */
  uint64_t time_ps; /* of the frame, or of the verbs event */
  uint64_t seen_ps; /* of the call that found it */
  const char *rule; /* id in the catalogue: RC-SEQ-001 */
  const char *name; /* what the rule says, in a few words */
  const char *reference; /* section of the InfiniBand Architecture */
  const char *accused; /* address of who broke the rule, with its QP */
  const char *peer;
  const char *expected;
  const char *actual;
  const char *detail; /* what to know beside them; for an unproven finding: why it is not proven */
  const char *text; /* all of it in one line, ready to print */
  const char *comparison; /* JSON: the packet beside the expected one, field by field (docs/verdicts.md); empty where no field is wrong */
} ibw_finding;

/* Called with each finding before the call that found it returns. It may call functions of the run, exit, throw or longjmp: nothing of the library is on the
 * stack that would mind. */
typedef void (*ibw_fn)(void *user, const ibw_finding *finding);

/* The version of the interface that the library has: compare it with IBW_API. */
IBW_PUBLIC uint32_t ibw_api(void);

/* Version of ibwitness, as `ibwitness version` prints it. */
IBW_PUBLIC const char *ibw_version(void);

/*
 * Opens a run. config is JSON, described in docs/attach.md; a null or empty one has one Ethernet tap that is near nobody. Where the environment variable
 * IBWITNESS_CONFIG names a file, that takes its place, so that nothing needs to be compiled again. Returns null where the configuration is wrong: err, of nerr
 * bytes, then says why and what to do.
 */
IBW_PUBLIC ibw *ibw_open(const char *config, char *err, size_t nerr);

/* Adds a tap, described as an element of "taps" of the configuration, while the run goes on. Returns its number. */
IBW_PUBLIC int ibw_add_tap(ibw *run, const char *json);

/* The number of a tap, or of an HCA, by its name in the configuration. */
IBW_PUBLIC int ibw_tap(ibw *run, const char *name);
IBW_PUBLIC int ibw_hca(ibw *run, const char *name);

/* Has fn called with each finding. Without it, ask ibw_next. A null fn ends that. */
IBW_PUBLIC int ibw_on_finding(ibw *run, ibw_fn fn, void *user);

/*
 * A frame that a tap saw, without preamble and frame check sequence. Of a frame that was cut, data has len bytes and wire_len is how many there were; 0: as many
 * as len. The data is not kept.
 */
IBW_PUBLIC int ibw_frame(ibw *run, uint32_t tap, int way, uint64_t time_ps, const void *data, size_t len, size_t wire_len);

/*
 * A beat of a frame: nlanes bytes, the first byte of the frame first, of which those count whose bit in keep is 1 (bit i of byte i/8 is that of lane i); a null
 * keep: all. last ends the frame, which is judged then; bad says, at any beat, that its sender gave it up: it is not judged, and counted. Nothing but a copy
 * happens before the last beat. One that has more than 1 MiB, as where its last beat is not told as such, is dropped up to that beat: IBW_EINVAL says so once, and the tap
 * has lost a frame, as ibw_lost tells.
 */
IBW_PUBLIC int ibw_beat(ibw *run, uint32_t tap, int way, uint64_t time_ps, const void *lanes, const uint8_t *keep, uint32_t nlanes, int last, int bad);

/* What an InfiniBand link carries beside data packets, at a tap whose link is "link". port is 0 or 1. */
enum ibw_symbols { IBW_DATA_PACKET, IBW_LINK_PACKET, IBW_PORT_STATE };
/* A packet between its delimiters: a data packet from LRH through VCRC, or a link packet with its LPCRC; or one byte, the physical state of the port from now
 * on. ebp says that the packet ended with the bad-packet delimiter (EBP). */
IBW_PUBLIC int ibw_link(ibw *run, uint32_t tap, uint32_t port, int symbols, int ebp, uint64_t time_ps, const void *data, size_t len);

/*
 * The same beat by beat, with lanes and keep as ibw_beat has them: last ends the packet, which is judged then; ebp says, at any beat, that it ends with EBP. A beat of
 * other symbols than those before it gives up the packet that they have begun.
 */
IBW_PUBLIC int ibw_link_beat(ibw *run, uint32_t tap, uint32_t port, int symbols, uint64_t time_ps, const void *lanes, const uint8_t *keep, uint32_t nlanes, int last, int ebp);

/* A verbs event of an HCA of the configuration: a line of docs/events.md, whose "t" is not needed and does not count. Events and frames of one time may come in any
 * order: an event is compared with the packets at the first call of a later time. Where
 * events were missed, {"ev":"lost"} says so. */
IBW_PUBLIC int ibw_event(ibw *run, uint32_t hca, uint64_t time_ps, const char *json);

/* Operations of a work request, numbered as enum ibv_wr_opcode is. */
enum ibw_operation {
  IBW_RDMA_WRITE, IBW_RDMA_WRITE_WITH_IMM, IBW_SEND, IBW_SEND_WITH_IMM, IBW_RDMA_READ, IBW_ATOMIC_CMP_AND_SWP, IBW_ATOMIC_FETCH_AND_ADD,
  IBW_LOCAL_INV, IBW_BIND_MW, IBW_SEND_WITH_INV, IBW_FLUSH = 14, IBW_ATOMIC_WRITE = 15
};
enum ibw_send_flags { IBW_FENCE = 1, IBW_SIGNALED = 2, IBW_SOLICITED = 4, IBW_INLINE = 8 };

typedef struct ibw_segment {
  uint64_t addr;
  uint32_t length;
  uint32_t lkey;
} ibw_segment;

/* A work request that was posted to a send queue. Set size to sizeof(ibw_send), what is not needed to 0. */
typedef struct ibw_send {
  uint32_t size;
  uint32_t qpn;
  uint64_t wr_id;
  int32_t operation; /* enum ibw_operation; not IBW_BIND_MW, which ibw_event takes */
  uint32_t flags; /* enum ibw_send_flags */
  uint32_t imm; /* host byte order */
  uint32_t inv_rkey;
  uint64_t remote_addr;
  uint32_t rkey;
  uint32_t nsegments;
  const ibw_segment *segments;
  uint64_t compare; /* of compare and swap */
  uint64_t swap_add; /* what compare and swap stores, or fetch and add adds */
  uint32_t dest_qpn; /* of a datagram */
  uint32_t qkey;
  uint32_t ah;
  uint32_t xrc_srqn;
  const void *data; /* of the message, from its first byte on, as far as it is known */
  size_t ndata;
} ibw_send;
IBW_PUBLIC int ibw_post_send(ibw *run, uint32_t hca, uint64_t time_ps, const ibw_send *request);

/* A work request that was posted to a receive queue: that of a queue pair, or, where srq is not 0, a shared one. */
IBW_PUBLIC int ibw_post_recv(ibw *run, uint32_t hca, uint64_t time_ps, uint32_t qpn, uint32_t srq, uint64_t wr_id, const ibw_segment *segments, uint32_t nsegments);

/* Operations of a completion. */
enum ibw_completed {
  IBW_WC_SEND, IBW_WC_RDMA_WRITE, IBW_WC_RDMA_READ, IBW_WC_COMP_SWAP, IBW_WC_FETCH_ADD, IBW_WC_BIND_MW, IBW_WC_LOCAL_INV, IBW_WC_FLUSH = 8,
  IBW_WC_ATOMIC_WRITE = 9, IBW_WC_RECV = 128, IBW_WC_RECV_RDMA_WITH_IMM = 129
};

/* A completion. Set size to sizeof(ibw_completion). On any status but 0 (success) only qpn, wr_id and status count. */
typedef struct ibw_completion {
  uint32_t size;
  uint32_t qpn;
  uint64_t wr_id;
  int32_t status; /* 0 to 21, as enum ibv_wc_status */
  int32_t operation; /* enum ibw_completed */
  uint32_t byte_len;
  int32_t has_imm, has_inv, has_grh;
  uint32_t imm; /* host byte order */
  uint32_t inv_rkey;
  uint32_t src_qpn, slid, sl; /* of datagrams */
  uint32_t cq;
} ibw_completion;
IBW_PUBLIC int ibw_complete(ibw *run, uint32_t hca, uint64_t time_ps, const ibw_completion *completion);

/* Says that nothing came until a time: what is due until then, and is missing, is told. Call it now and then, a microsecond of simulated time apart: what is
 * not due costs little. */
IBW_PUBLIC int ibw_advance(ibw *run, uint64_t time_ps);

/* Says that the monitor of a tap missed n frames: nothing is proven by what it does not show. */
IBW_PUBLIC int ibw_lost(ibw *run, uint32_t tap, uint64_t n);

/* Says that the device at a tap was reset: a frame of which beats have come is dropped, its queue pairs begin anew, and what it owed is forgotten. The tap must be
 * near the device. */
IBW_PUBLIC int ibw_reset(ibw *run, uint32_t tap, uint64_t time_ps);

/* Takes the next finding, or change of a finding, that was not taken: 1 it is filled, as far as its size goes; 0 there is none. Where a callback is set, it has taken them all. */
IBW_PUBLIC int ibw_next(ibw *run, ibw_finding *finding);

/* Requests without a response, and work requests without a completion, receive requests whose messages are acknowledged among them: for the check at the end of a test.
 * Returns how many there are. Where json is not null, they are written into its n bytes as a JSON array, cut at an element where they do not fit. */
IBW_PUBLIC int ibw_outstanding(ibw *run, char *json, size_t n);

/* Ends the run at a time (with Unix times, 0 ends it with the newest frame, as a capture does): judges what is still open, and writes the reports of the configuration. Returns the errors of the whole run. Afterwards only ibw_next,
 * ibw_report, ibw_covered, ibw_doubts, ibw_errors, ibw_error and ibw_close have a meaning. */
IBW_PUBLIC int ibw_end(ibw *run, uint64_t time_ps);

/* Signs, in a run that has ended, that it was not attached as was meant: a tap without a frame, frames of which none is of InfiniBand or RoCE, addresses claimed as near that
 * no packet has. Returns how many there are. Where text is not null, they are written into its n bytes, a line each, cut where they do not fit. */
IBW_PUBLIC int ibw_doubts(ibw *run, char *text, size_t n);

/* The errors of the whole run until now. */
IBW_PUBLIC int ibw_errors(ibw *run);

/* The time of the newest call; 0 of a run that is null or closed. */
IBW_PUBLIC uint64_t ibw_now(ibw *run);

/* Writes a report of a run that has ended: text, json, junit, sarif, html, coverage, ucis, pcapng (all frames, with the findings as comments; only where
 * the configuration has them recorded). */
IBW_PUBLIC int ibw_report(ibw *run, const char *format, const char *path);

/* How often a rule was exercised and violated until now. */
IBW_PUBLIC int ibw_covered(ibw *run, const char *rule, uint64_t *exercised, uint64_t *violated);

/* What was wrong with the last call on this run that failed; of a null or closed run: with the last one of this thread. Never null. */
IBW_PUBLIC const char *ibw_error(ibw *run);

/* Closes a run. One that was not ended is ended first, at the time of the last call. */
IBW_PUBLIC int ibw_close(ibw *run);

#ifdef __cplusplus
}
#endif
#endif
