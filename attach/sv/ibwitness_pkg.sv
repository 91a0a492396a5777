// ibwitness in SystemVerilog: what the library gives (attach/c/ibwitness.h says more of each call), over DPI-C. Functions return a negative number where something
// was wrong with the call, and ibw_message says what and what to do.
//
// Compile it before its users. No time unit is declared here: those of the design hold, whatever they are.
package ibwitness_pkg;

  // Direction of a frame, seen from the device that the tap is near.
  typedef enum int { IBW_UNKNOWN, IBW_IN, IBW_OUT } ibw_way_e;
  // How a finding is to be told: of violations only, that nothing waives.
  typedef enum int { IBW_SAY, IBW_WARN, IBW_FAIL } ibw_tone_e;
  typedef enum int { IBW_NEW = 1, IBW_PROVEN, IBW_DOUBTED, IBW_WITHDRAWN } ibw_change_e;
  typedef enum int { IBW_VIOLATION = 1, IBW_UNPROVEN, IBW_EVENT } ibw_class_e;
  // Operations of work requests and of completions, and flags, numbered as those of verbs are.
  typedef enum int {
    IBW_RDMA_WRITE, IBW_RDMA_WRITE_WITH_IMM, IBW_SEND, IBW_SEND_WITH_IMM, IBW_RDMA_READ, IBW_ATOMIC_CMP_AND_SWP, IBW_ATOMIC_FETCH_AND_ADD,
    IBW_LOCAL_INV, IBW_SEND_WITH_INV = 9, IBW_ATOMIC_WRITE = 15
  } ibw_operation_e;
  typedef enum int {
    IBW_WC_SEND, IBW_WC_RDMA_WRITE, IBW_WC_RDMA_READ, IBW_WC_COMP_SWAP, IBW_WC_FETCH_ADD, IBW_WC_BIND_MW, IBW_WC_LOCAL_INV, IBW_WC_FLUSH = 8,
    IBW_WC_ATOMIC_WRITE = 9, IBW_WC_RECV = 128, IBW_WC_RECV_RDMA_WITH_IMM = 129
  } ibw_completed_e;
  parameter int unsigned IBW_FENCE = 1, IBW_SIGNALED = 2, IBW_SOLICITED = 4, IBW_INLINE = 8;
  typedef enum int { IBW_DATA_PACKET, IBW_LINK_PACKET } ibw_symbols_e;
  // Of a beat.
  parameter int IBW_LAST = 1, IBW_BAD = 2, IBW_BIG_ENDIAN = 4;

  // Runs, by name: the first to open one gives it its configuration (JSON, or the name of a file), the others share it. 0: it cannot be opened.
  import "DPI-C" function int ibw_sv_open(input string name, input string settings);
  import "DPI-C" function string ibw_sv_message(input int run);
  import "DPI-C" function int ibw_sv_tap(input int run, input string name);
  import "DPI-C" function int ibw_sv_hca(input int run, input string name);

  // A beat of 8 or 64 lanes. It returns how many errors it has shown.
  import "DPI-C" function int ibw_sv_beat8(input int run, input int tap, input int way, input longint unsigned ps, input longint unsigned lanes,
                                           input byte unsigned keep, input int flags);
  import "DPI-C" function int ibw_sv_beat64(input int run, input int tap, input int way, input longint unsigned ps, input bit [511:0] lanes,
                                            input longint unsigned keep, input int flags);
  // What port 0 or 1 of an InfiniBand link sends, at a tap whose link is "link": a beat of 64 lanes of a packet between its delimiters, with IBW_BAD where that ends with
  // EBP; and the physical state of a port, from now on.
  import "DPI-C" function int ibw_sv_symbols(input int run, input int tap, input int port, input int symbols, input longint unsigned ps, input bit [511:0] lanes,
                                             input longint unsigned keep, input int flags);
  import "DPI-C" function int ibw_sv_port_state(input int run, input int tap, input int port, input int state, input longint unsigned ps);
  // 1: ibw_sv_advance is to be called: a verbs event waits for a later time, or so many picoseconds have passed since it was.
  import "DPI-C" function int ibw_sv_due(input int run, input longint unsigned ps, input longint unsigned period);
  import "DPI-C" function int ibw_sv_advance(input int run, input longint unsigned ps);
  import "DPI-C" function int ibw_sv_lost(input int run, input int tap, input longint unsigned n);
  import "DPI-C" function int ibw_sv_reset(input int run, input int tap, input longint unsigned ps);

  // Verbs events: they are compared with the packets at the first call of a later time. Those below give them the time.
  import "DPI-C" function int ibw_sv_event(input int run, input int hca, input longint unsigned ps, input string json);
  import "DPI-C" function int ibw_sv_segment(input int run, input longint unsigned addr, input int unsigned length, input int unsigned lkey);
  import "DPI-C" function int ibw_sv_post_send(input int run, input int hca, input longint unsigned ps, input int unsigned qpn, input longint unsigned wr_id,
    input int operation, input int unsigned flags, input longint unsigned addr, input int unsigned length, input int unsigned lkey,
    input longint unsigned remote_addr, input int unsigned rkey, input int unsigned imm, input int unsigned inv_rkey, input longint unsigned compare,
    input longint unsigned swap_add, input int unsigned dest_qpn, input int unsigned qkey, input int unsigned ah, input int unsigned xrc_srqn);
  import "DPI-C" function int ibw_sv_post_recv(input int run, input int hca, input longint unsigned ps, input int unsigned qpn, input int unsigned srq,
    input longint unsigned wr_id, input longint unsigned addr, input int unsigned length, input int unsigned lkey);
  import "DPI-C" function int ibw_sv_complete(input int run, input int hca, input longint unsigned ps, input int unsigned qpn, input longint unsigned wr_id,
    input int status, input int operation, input int unsigned byte_len, input int has_imm, input int unsigned imm, input int has_inv,
    input int unsigned inv_rkey, input int unsigned src_qpn, input int unsigned cq, input int has_grh, input int unsigned slid, input int unsigned sl);

  // Findings: ibw_sv_next takes one, and returns 1, or 0 where there is none; its parts are had until the next call. psn and qpn of the accused: -1 where not known.
  import "DPI-C" function int ibw_sv_next(input int run);
  import "DPI-C" function int unsigned ibw_sv_finding_id(input int run);
  import "DPI-C" function int ibw_sv_finding_tone(input int run);
  import "DPI-C" function int ibw_sv_finding_change(input int run);
  import "DPI-C" function int ibw_sv_finding_cls(input int run);
  import "DPI-C" function int ibw_sv_finding_severity(input int run);
  import "DPI-C" function int ibw_sv_finding_waived(input int run);
  import "DPI-C" function int unsigned ibw_sv_finding_tap(input int run);
  import "DPI-C" function longint unsigned ibw_sv_finding_frame(input int run);
  import "DPI-C" function longint unsigned ibw_sv_finding_time(input int run);
  import "DPI-C" function longint ibw_sv_finding_psn(input int run);
  import "DPI-C" function longint ibw_sv_finding_qpn(input int run);
  import "DPI-C" function string ibw_sv_finding_rule(input int run);
  import "DPI-C" function string ibw_sv_finding_name(input int run);
  import "DPI-C" function string ibw_sv_finding_reference(input int run);
  import "DPI-C" function string ibw_sv_finding_accused(input int run);
  import "DPI-C" function string ibw_sv_finding_peer(input int run);
  import "DPI-C" function string ibw_sv_finding_expected(input int run);
  import "DPI-C" function string ibw_sv_finding_actual(input int run);
  import "DPI-C" function string ibw_sv_finding_detail(input int run);
  import "DPI-C" function string ibw_sv_finding_text(input int run);
  import "DPI-C" function string ibw_sv_finding_comparison(input int run);

  // The end: 1 where it has ended the run, 0 where that was done before. The verdict says why the run failed; it is empty where it did not.
  import "DPI-C" function int ibw_sv_end(input int run, input longint unsigned ps);
  import "DPI-C" function string ibw_sv_verdict(input int run);
  // Signs that it was not attached as was meant: one at each call, and in the end an empty text.
  import "DPI-C" function string ibw_sv_doubt(input int run);
  import "DPI-C" function void ibw_sv_lenient(input int run);
  import "DPI-C" function void ibw_sv_fail();
  import "DPI-C" function int ibw_sv_errors(input int run);
  import "DPI-C" function int ibw_sv_outstanding(input int run);
  import "DPI-C" function string ibw_sv_outstanding_text(input int run);
  import "DPI-C" function int ibw_sv_report(input int run, input string format, input string file);
  import "DPI-C" function longint unsigned ibw_sv_exercised(input int run, input string id);

  // The time in picoseconds, whatever time unit this package has got.
  function automatic longint unsigned ibw_now();
    return longint'($realtime * (1.0e12 / 1s));
  endfunction

  // Whether the first error ends the simulation, by run.
  bit ibw_stops[int];
  // A run has failed, or a call.
  bit ibw_failed = 0;

  // Opens a run. Monitors do so by themselves; a testbench does it to hand over verbs events. A run that cannot be opened ends the simulation.
  function automatic int ibw_open(input string name = "", input string settings = "", input bit stop = 0);
    int run;
    void'($value$plusargs("ibwitness_config=%s", settings));
    run = ibw_sv_open(name, settings);
    if (run == 0) $fatal(1, "%s", ibw_sv_message(0));
    ibw_stops[run] = stop || (ibw_stops.exists(run) != 0 && ibw_stops[run]) || $test$plusargs("ibwitness_stop") != 0;
    return run;
  endfunction

  // Says one line. Verilator ends the program at the first $error, with no waveform written out: there the line is the same, and the end comes when it is wanted.
  function automatic void ibw_say(input int tone, input string line);
`ifdef VERILATOR
    case (tone)
      IBW_FAIL: $display("[%0t] %%Error: %s", $time, line);
      IBW_WARN: $display("[%0t] %%Warning: %s", $time, line);
      default: $display("[%0t] -Info: %s", $time, line);
    endcase
`else
    case (tone)
      IBW_FAIL: $error("%s", line);
      IBW_WARN: $warning("%s", line);
      default: $info("%s", line);
    endcase
`endif
    $fflush; // before a signal ends the program
  endfunction

  // Tells what a call has found, from where (%m), and what was wrong with the call, of which n is the result. It returns how many errors were told, and the rule of
  // the first.
  function automatic int ibw_tell(input int run, input int n, input string from, output string id);
    int errors = 0;
    id = "";
    if (n < 0) begin
      ibw_say(IBW_FAIL, {from, ": ", ibw_sv_message(run)});
      ibw_failed = 1;
    end
    while (ibw_sv_next(run) == 1) begin
      int tone = ibw_sv_finding_tone(run);
      ibw_say(tone, {from, ": ibwitness: ", ibw_sv_finding_text(run)});
      if (tone == IBW_FAIL) begin
        if (errors == 0) id = ibw_sv_finding_rule(run);
        errors++;
      end
    end
    if (errors > 0 && ibw_stops[run]) begin
      ibw_sv_lenient(run); // what is not done by now is no fault
      $finish;
    end
    return errors;
  endfunction

  // Ends the run, once for all that use it, and tells why it failed where it did; call it in a final block.
  function automatic void ibw_finish(input int run, input string from);
    string id, doubt;
    int n = ibw_sv_end(run, ibw_now());
    ibw_stops[run] = 0;
    if (n != 0) begin
      void'(ibw_tell(run, n, from, id));
      for (doubt = ibw_sv_doubt(run); doubt != ""; doubt = ibw_sv_doubt(run)) ibw_say(IBW_WARN, {from, ": ibwitness: ", doubt});
      if (ibw_sv_verdict(run) != "") begin
        ibw_say(IBW_FAIL, {from, ": ", ibw_sv_verdict(run)});
        ibw_failed = 1;
      end
      // The exit status: Verilator has none to give, others have $fatal.
`ifdef VERILATOR
      if (ibw_failed) ibw_sv_fail();
`else
      if (ibw_failed) $fatal(0, "%s: ibwitness: the simulation has failed", from);
`endif
    end
  endfunction

  // What an HCA has done, now. They tell what is found by the call; a monitor tells at the next edge of its clock what is found by comparing it with the packets.
  task automatic ibw_event(input int run, input int hca, input string json);
    string id;
    void'(ibw_tell(run, ibw_sv_event(run, hca, ibw_now(), json), "ibw_event", id));
  endtask

  // A segment of the work request that is posted next. Those come first, in the order of the calls; that of the post, where its length is not 0, is the last.
  task automatic ibw_segment(input int run, input longint unsigned addr, input int unsigned length, input int unsigned lkey);
    string id;
    void'(ibw_tell(run, ibw_sv_segment(run, addr, length, lkey), "ibw_segment", id));
  endtask

  task automatic ibw_post_send(input int run, input int hca, input int unsigned qpn, input longint unsigned wr_id, input ibw_operation_e operation,
      input int unsigned flags, input longint unsigned addr, input int unsigned length, input int unsigned lkey, input longint unsigned remote_addr = 0,
      input int unsigned rkey = 0, input int unsigned imm = 0, input int unsigned inv_rkey = 0, input longint unsigned compare = 0,
      input longint unsigned swap_add = 0, input int unsigned dest_qpn = 0, input int unsigned qkey = 0, input int unsigned ah = 0,
      input int unsigned xrc_srqn = 0);
    string id;
    void'(ibw_tell(run, ibw_sv_post_send(run, hca, ibw_now(), qpn, wr_id, operation, flags, addr, length, lkey, remote_addr, rkey, imm, inv_rkey, compare,
      swap_add, dest_qpn, qkey, ah, xrc_srqn), "ibw_post_send", id));
  endtask

  task automatic ibw_post_recv(input int run, input int hca, input int unsigned qpn, input longint unsigned wr_id, input longint unsigned addr,
      input int unsigned length, input int unsigned lkey, input int unsigned srq = 0);
    string id;
    void'(ibw_tell(run, ibw_sv_post_recv(run, hca, ibw_now(), qpn, srq, wr_id, addr, length, lkey), "ibw_post_recv", id));
  endtask

  task automatic ibw_complete(input int run, input int hca, input int unsigned qpn, input longint unsigned wr_id, input int status, input ibw_completed_e operation,
      input int unsigned byte_len, input bit has_imm = 0, input int unsigned imm = 0, input bit has_inv = 0, input int unsigned inv_rkey = 0,
      input int unsigned src_qpn = 0, input int unsigned cq = 0, input bit has_grh = 0, input int unsigned slid = 0, input int unsigned sl = 0);
    string id;
    void'(ibw_tell(run, ibw_sv_complete(run, hca, ibw_now(), qpn, wr_id, status, operation, byte_len, int'(has_imm), imm, int'(has_inv), inv_rkey, src_qpn, cq,
      int'(has_grh), slid, sl),
      "ibw_complete", id));
  endtask

endpackage
