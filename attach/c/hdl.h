/*
 * hdl.h - what the layers for simulators have in common: runs by name, which the first monitor opens and all others share; findings one at a time; the end of a
 * run, and an exit status for simulators that give their testbench none. It belongs to dpi.c, vpi.c and vhpidirect.c; a testbench in C uses ibwitness.h.
 *
 * A run that nothing has ended when the program exits is ended then: what that finds goes to standard error, and where the run failed, so does the program.
 *
 * A run is a number from 1 on, as it crosses from SystemVerilog, Verilog and VHDL by value. A number that names none is a mistake that ibw_hdl_message explains.
 */
#ifndef IBWITNESS_HDL_H
#define IBWITNESS_HDL_H

#include "ibwitness.h"

enum ibw_hdl_flags { IBW_HDL_LAST = 1, IBW_HDL_BAD = 2, IBW_HDL_BIG_ENDIAN = 4 };

/* How a finding is to be told. */
enum ibw_hdl_tone { IBW_HDL_SAY, IBW_HDL_WARN, IBW_HDL_FAIL };

/* The number of the run of this name, which is opened where it is not there. config is JSON, or the name of a file with JSON; empty: that of the run, or none. 0: it
 * cannot be opened. */
IBW_PUBLIC int ibw_hdl_open(const char *name, const char *config);

/* The run itself; null: there is none of this number. */
IBW_PUBLIC ibw *ibw_hdl_run(int run);

/* A beat of n lanes, a multiple of 8; bit i % 8 of keep[i / 8] is that of lane i. Lane 0 is the first byte or, with IBW_HDL_BIG_ENDIAN, the last. It writes to both. */
IBW_PUBLIC int ibw_hdl_beat(int run, int tap, int way, uint64_t time_ps, uint8_t *lanes, uint8_t *keep, uint32_t n, int flags);

/* The same of what port 0 or 1 of an InfiniBand link sends: beats of a data packet or of a link packet (symbols), IBW_HDL_BAD where it ends with EBP. */
IBW_PUBLIC int ibw_hdl_symbols(int run, int tap, int port, int symbols, uint64_t time_ps, uint8_t *lanes, uint8_t *keep, uint32_t n, int flags);

/* The physical state of a port of a link, from now on. */
IBW_PUBLIC int ibw_hdl_port_state(int run, int tap, int port, int state, uint64_t time_ps);

/* Whether the run is to be told the time: an event waits for that, or a period has passed since it was told. A monitor asks at each edge of its clock. */
IBW_PUBLIC int ibw_hdl_due(int run, uint64_t time_ps, uint64_t period_ps);

/* A segment of the work request that is posted next: those come first, in the order of the calls, and that of the post, where its length is not 0, is the last. */
IBW_PUBLIC int ibw_hdl_segment(int run, uint64_t addr, uint32_t length, uint32_t lkey);

/* Work requests, without their data. */
IBW_PUBLIC int ibw_hdl_send(int run, int hca, uint64_t time_ps, ibw_send *request, uint64_t addr, uint32_t length, uint32_t lkey);
IBW_PUBLIC int ibw_hdl_recv(int run, int hca, uint64_t time_ps, uint32_t qpn, uint32_t srq, uint64_t wr_id, uint64_t addr, uint32_t length, uint32_t lkey);

/* The next finding of a run, which holds until the next call; null: there is none. */
IBW_PUBLIC const ibw_finding *ibw_hdl_next(int run);
IBW_PUBLIC const ibw_finding *ibw_hdl_finding(int run);
IBW_PUBLIC int ibw_hdl_tone(const ibw_finding *f);

/* What is outstanding: how many, and as JSON. Of a run that has ended: when it did. */
IBW_PUBLIC int ibw_hdl_outstanding(int run);
IBW_PUBLIC const char *ibw_hdl_outstanding_text(int run);

/* What is outstanding at the end is no failure of the run. */
IBW_PUBLIC void ibw_hdl_lenient(int run);

/* Ends a run at a time. 1: it has ended now; 0: it had before; negative: something went wrong, though it has ended. */
IBW_PUBLIC int ibw_hdl_end(int run, uint64_t time_ps);

/* Why a run that has ended failed, in one line; empty: it did not. */
IBW_PUBLIC const char *ibw_hdl_verdict(int run);

/* Signs, in a run that has ended, that it was not attached as was meant: one at each call, and in the end an empty text. */
IBW_PUBLIC const char *ibw_hdl_doubt(int run);

/* The simulator is to leave with a status that is not 0, though it may find nothing wrong itself. */
IBW_PUBLIC void ibw_hdl_fail(void);

/* What was wrong with the last call that failed. */
IBW_PUBLIC const char *ibw_hdl_message(int run);

#endif
