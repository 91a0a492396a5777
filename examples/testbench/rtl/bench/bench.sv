// Two devices back to back: a, 10.0.0.1, which has the BUG, and b, 10.0.0.2, which has none. The same work goes both ways, so that requester
// and responder of each take part; the links lose frames where the program says so. Writes what a tap at each would show (a.pcap, b.pcap),
// and the verbs events of both (a.jsonl, b.jsonl), into the current directory, and hands the events to the module attach, of which there is one
// for each simulator in attach/.
//
//   +bug=N        takes the place of BUG, so that one program serves for all bugs
//   +peer_bug=N   gives b a bug too
//   +phases=HEX   what is done, a bit each: 1 and 2 every operation with short and with long messages, 4 responses and single packets that are
//                 lost, 8 packets lost in mid-message, 10 READ responses lost, 20 no receive request, 40 what ends a queue pair
`timescale 1ns / 1ns
module bench #(
    parameter int W   = 64,
    parameter int BUG = 0
);
  import roce_pkg::*;

  localparam int N_QP = 8;
  localparam int MTU = 256;
  localparam logic [63:0] EPOCH = 64'd1700000000000000000;  // of the stamps
  localparam logic [31:0] RKEY = 32'h1234;
  // Memory: what is sent and read from, what SENDs go to, what WRITEs go to, what READs go to.
  localparam int RECV = 32'h4000, TARGET = 32'h8000, FETCHED = 32'hc000, SLOT = 1024;

  logic clk = 0, resetn = 0;
  int half = 2;  // of a cycle, in nanoseconds
  always #(half) clk = !clk;

  // ------------------------------------------------------------------ devices and links
  logic a_tx_tvalid, a_tx_tready, a_tx_tlast, a_tx_tuser, a_rx_tvalid, a_rx_tready, a_rx_tlast;
  logic b_tx_tvalid, b_tx_tready, b_tx_tlast, b_tx_tuser, b_rx_tvalid, b_rx_tready, b_rx_tlast;
  logic [W-1:0] a_tx_tdata, a_rx_tdata, b_tx_tdata, b_rx_tdata;
  logic [W/8-1:0] a_tx_tkeep, a_rx_tkeep, b_tx_tkeep, b_rx_tkeep;
  logic [31:0] a_frames, b_frames;
  logic [31:0] a_drop_at = 0, a_drop_count = 0, b_drop_at = 0, b_drop_count = 0;

  logic [1:0] cmd_valid = 0;
  logic [1:0] cmd_ready, cqe_valid, cqe_has_imm, async_valid, async_access;
  logic [2:0] cmd_op = 0, cmd_wr = 0;
  logic [23:0] cmd_qpn = 0;
  logic [3:0] cmd_attr = 0;
  logic [31:0] cmd_value = 0, cmd_wr_id = 0, cmd_laddr = 0, cmd_length = 0, cmd_rkey = 0, cmd_imm = 0;
  logic [63:0] cmd_raddr = 0;
  logic cmd_solicited = 0;
  logic [23:0] a_cqe_qpn, b_cqe_qpn, a_async_qpn, b_async_qpn;
  logic [31:0] a_cqe_wr_id, b_cqe_wr_id, a_cqe_byte_len, b_cqe_byte_len, a_cqe_imm, b_cqe_imm;
  logic [4:0] a_cqe_status, b_cqe_status;
  logic [2:0] a_cqe_opcode, b_cqe_opcode;

  roce_ca #(.W(W), .BUG(BUG), .N_QP(N_QP), .LOCAL_IP(32'h0a000001), .QPN_BASE(24'h000100)) a (
      .clk, .resetn,
      .rx_tvalid(a_rx_tvalid), .rx_tready(a_rx_tready), .rx_tdata(a_rx_tdata), .rx_tkeep(a_rx_tkeep), .rx_tlast(a_rx_tlast), .rx_tuser(1'b0),
      .tx_tvalid(a_tx_tvalid), .tx_tready(a_tx_tready), .tx_tdata(a_tx_tdata), .tx_tkeep(a_tx_tkeep), .tx_tlast(a_tx_tlast), .tx_tuser(a_tx_tuser),
      .cmd_valid(cmd_valid[0]), .cmd_ready(cmd_ready[0]), .cmd_op, .cmd_qpn, .cmd_attr, .cmd_value, .cmd_wr, .cmd_signalled(1'b1),
      .cmd_solicited, .cmd_wr_id, .cmd_laddr, .cmd_length, .cmd_raddr, .cmd_rkey, .cmd_imm,
      .cqe_valid(cqe_valid[0]), .cqe_ready(1'b1), .cqe_qpn(a_cqe_qpn), .cqe_wr_id(a_cqe_wr_id), .cqe_status(a_cqe_status),
      .cqe_opcode(a_cqe_opcode), .cqe_byte_len(a_cqe_byte_len), .cqe_has_imm(cqe_has_imm[0]), .cqe_imm(a_cqe_imm),
      .async_valid(async_valid[0]), .async_qpn(a_async_qpn), .async_access(async_access[0])
  );
  roce_ca #(.W(W), .BUG(0), .N_QP(N_QP), .LOCAL_IP(32'h0a000002), .QPN_BASE(24'h000200)) b (
      .clk, .resetn,
      .rx_tvalid(b_rx_tvalid), .rx_tready(b_rx_tready), .rx_tdata(b_rx_tdata), .rx_tkeep(b_rx_tkeep), .rx_tlast(b_rx_tlast), .rx_tuser(1'b0),
      .tx_tvalid(b_tx_tvalid), .tx_tready(b_tx_tready), .tx_tdata(b_tx_tdata), .tx_tkeep(b_tx_tkeep), .tx_tlast(b_tx_tlast), .tx_tuser(b_tx_tuser),
      .cmd_valid(cmd_valid[1]), .cmd_ready(cmd_ready[1]), .cmd_op, .cmd_qpn, .cmd_attr, .cmd_value, .cmd_wr, .cmd_signalled(1'b1),
      .cmd_solicited, .cmd_wr_id, .cmd_laddr, .cmd_length, .cmd_raddr, .cmd_rkey, .cmd_imm,
      .cqe_valid(cqe_valid[1]), .cqe_ready(1'b1), .cqe_qpn(b_cqe_qpn), .cqe_wr_id(b_cqe_wr_id), .cqe_status(b_cqe_status),
      .cqe_opcode(b_cqe_opcode), .cqe_byte_len(b_cqe_byte_len), .cqe_has_imm(cqe_has_imm[1]), .cqe_imm(b_cqe_imm),
      .async_valid(async_valid[1]), .async_qpn(b_async_qpn), .async_access(async_access[1])
  );
  link #(.W(W)) a_to_b (
      .clk, .resetn, .in_tvalid(a_tx_tvalid), .in_tready(a_tx_tready), .in_tdata(a_tx_tdata), .in_tkeep(a_tx_tkeep), .in_tlast(a_tx_tlast),
      .out_tvalid(b_rx_tvalid), .out_tready(b_rx_tready), .out_tdata(b_rx_tdata), .out_tkeep(b_rx_tkeep), .out_tlast(b_rx_tlast),
      .frames(a_frames), .drop_at(a_drop_at), .drop_count(a_drop_count)
  );
  link #(.W(W)) b_to_a (
      .clk, .resetn, .in_tvalid(b_tx_tvalid), .in_tready(b_tx_tready), .in_tdata(b_tx_tdata), .in_tkeep(b_tx_tkeep), .in_tlast(b_tx_tlast),
      .out_tvalid(a_rx_tvalid), .out_tready(a_rx_tready), .out_tdata(a_rx_tdata), .out_tkeep(a_rx_tkeep), .out_tlast(a_rx_tlast),
      .frames(b_frames), .drop_at(b_drop_at), .drop_count(b_drop_count)
  );

  // ------------------------------------------------------------------ taps
  logic stop = 0;
  tap #(.W(W), .FILE("a.pcap"), .EPOCH(EPOCH)) tap_a (
      .clk, .stop, .tx_tvalid(a_tx_tvalid), .tx_tready(a_tx_tready), .tx_tdata(a_tx_tdata), .tx_tkeep(a_tx_tkeep), .tx_tlast(a_tx_tlast),
      .rx_tvalid(a_rx_tvalid), .rx_tready(a_rx_tready), .rx_tdata(a_rx_tdata), .rx_tkeep(a_rx_tkeep), .rx_tlast(a_rx_tlast)
  );
  tap #(.W(W), .FILE("b.pcap"), .EPOCH(EPOCH)) tap_b (
      .clk, .stop, .tx_tvalid(b_tx_tvalid), .tx_tready(b_tx_tready), .tx_tdata(b_tx_tdata), .tx_tkeep(b_tx_tkeep), .tx_tlast(b_tx_tlast),
      .rx_tvalid(b_rx_tvalid), .rx_tready(b_rx_tready), .rx_tdata(b_rx_tdata), .rx_tkeep(b_rx_tkeep), .rx_tlast(b_rx_tlast)
  );

  int log[0:1];

  // ------------------------------------------------------------------ verbs events
  // What a completion needs to know of its request, by wr_id.
  int request_laddr[0:4095];
  int request_length[0:4095];
  int wr_id = 0, pending = 0, bad_status = 0;
  int recvs = 0, works = 0;

  function automatic logic [7:0] peek(input int side, input int addr);
    peek = side == 0 ? a.u_memory.mem[addr[15:0]] : b.u_memory.mem[addr[15:0]];
  endfunction

  // CRC-32 of IEEE 802.3 of memory.
  function automatic logic [31:0] checksum(input int side, input int addr, input int length);
    int i;
    checksum = 32'hffffffff;
    for (i = 0; i < length; i = i + 1) checksum = crc32_byte(checksum, peek(side, addr + i));
    checksum = ~checksum;
  endfunction

  attach #(.W(W)) u_attach ();

  // An event of a device, now: the members of its JSON object, but for the time.
  task tell(input int side, input string what);
    begin
      $fdisplay(log[side], "{\"t\":%0d,%0s}", EPOCH + $time, what);
      u_attach.verbs(side, {"{", what, "}"});
    end
  endtask

  task completion(input int side, input int qpn, input int id, input int status, input int opcode, input int byte_len, input logic has_imm,
                  input int unsigned imm);
    string line, name;
    begin
      pending = pending - 1;
      line = $sformatf("\"ev\":\"cqe\",\"qpn\":%0d,\"wr_id\":%0d,\"status_code\":%0d", qpn, id, status);
      if (status == 0) begin
        case (opcode)
          0: name = "SEND";
          1: name = "RDMA_WRITE";
          2: name = "RDMA_READ";
          4: name = "RECV";
          default: name = "RECV_RDMA_WITH_IMM";
        endcase
        line = $sformatf("%0s,\"opcode\":\"%0s\",\"byte_len\":%0d", line, name, byte_len);
        if (has_imm) line = $sformatf("%0s,\"imm\":%0d", line, imm);
        if (opcode == 4 || opcode == 2) line = $sformatf("%0s,\"crc32\":%0d", line, checksum(side, request_laddr[id], byte_len));
      end else bad_status = bad_status + 1;
      tell(side, line);
    end
  endtask

  int reported;
  always @(posedge clk)
    for (reported = 0; reported < 2; reported = reported + 1) begin
      if (async_valid[reported])
        tell(reported, $sformatf("\"ev\":\"async\",\"what\":\"%0s\",\"qpn\":%0d", async_access[reported] ? "qp_access" : "qp_request", reported == 0 ? a_async_qpn : b_async_qpn));
      if (cqe_valid[reported])
        if (reported == 0) completion(0, int'(a_cqe_qpn), a_cqe_wr_id, int'(a_cqe_status), int'(a_cqe_opcode), a_cqe_byte_len, cqe_has_imm[0], a_cqe_imm);
        else completion(1, int'(b_cqe_qpn), b_cqe_wr_id, int'(b_cqe_status), int'(b_cqe_opcode), b_cqe_byte_len, cqe_has_imm[1], b_cqe_imm);
    end

  // ------------------------------------------------------------------ the consumer
  // Signals change at the falling edge, so that no simulator's order matters.
  task command(input int side);
    begin
      @(negedge clk);
      cmd_valid[side] = 1;
      while (!cmd_ready[side]) @(negedge clk);
      @(negedge clk);
      cmd_valid[side] = 0;
    end
  endtask

  function automatic int qpn_of(input int side, input int qp);
    qpn_of = (side == 0 ? 256 : 512) + qp;
  endfunction

  task attribute(input int side, input logic [3:0] attr, input int value);
    begin
      cmd_op    = CMD_MODIFY_QP;
      cmd_attr  = attr;
      cmd_value = value;
      command(side);
    end
  endtask

  // Queue pair 0: PSNs wrap. 4 and 5: few retries. Transport timers are short, so that little is to be simulated.
  task connect(input int side, input int qp);
    int sq_psn, rq_psn, timeout, retries, rnr_retry;
    begin
      sq_psn    = (side == 0 ? 32'hfffff8 : 32'hfffff3) + qp;
      rq_psn    = (side == 0 ? 32'hfffff3 : 32'hfffff8) + qp;
      timeout   = qp == 0 ? 3 : 2;
      retries   = qp == 0 || qp == 4 ? 2 : 6;
      rnr_retry = qp == 5 ? 2 : 7;
      cmd_op  = CMD_CREATE_QP;
      cmd_qpn = 24'(qpn_of(side, qp));
      tell(side, $sformatf("\"ev\":\"create_qp\",\"qpn\":%0d,\"type\":\"rc\"", qpn_of(side, qp)));
      command(side);
      tell(side, $sformatf("\"ev\":\"modify_qp\",\"qpn\":%0d,\"to\":\"INIT\",\"pkey\":65535,\"port_num\":1,\"qp_access_flags\":7", qpn_of(side, qp)));
      attribute(side, ATTR_STATE, int'(QP_INIT));
      attribute(side, ATTR_DEST_QPN, qpn_of(1 - side, qp));
      attribute(side, ATTR_DEST_IP, side == 0 ? 32'h0a000002 : 32'h0a000001);
      attribute(side, ATTR_PATH_MTU, 1);
      attribute(side, ATTR_RQ_PSN, rq_psn);
      attribute(side, ATTR_MIN_RNR_TIMER, 1);
      tell(side, $sformatf("\"ev\":\"modify_qp\",\"qpn\":%0d,\"to\":\"RTR\",\"path_mtu\":%0d,\"dest_qp_num\":%0d,\"rq_psn\":%0d,\"max_dest_rd_atomic\":1,\"min_rnr_timer\":1,\"dgid\":\"10.0.0.%0d\"",
                           qpn_of(side, qp), MTU, qpn_of(1 - side, qp), rq_psn, 2 - side));
      attribute(side, ATTR_STATE, int'(QP_RTR));
      attribute(side, ATTR_SQ_PSN, sq_psn);
      attribute(side, ATTR_TIMEOUT, timeout);
      attribute(side, ATTR_RETRY_CNT, retries);
      attribute(side, ATTR_RNR_RETRY, rnr_retry);
      tell(side, $sformatf("\"ev\":\"modify_qp\",\"qpn\":%0d,\"to\":\"RTS\",\"sq_psn\":%0d,\"timeout\":%0d,\"retry_cnt\":%0d,\"rnr_retry\":%0d,\"max_rd_atomic\":1",
                           qpn_of(side, qp), sq_psn, timeout, retries, rnr_retry));
      attribute(side, ATTR_STATE, int'(QP_RTS));
    end
  endtask

  task post_recv(input int side, input int qp, input int length);
    begin
      recvs = recvs + 1;
      wr_id = wr_id + 1;
      pending = pending + 1;
      request_laddr[wr_id]  = RECV + recvs % 16 * SLOT;
      request_length[wr_id] = length;
      tell(side, $sformatf("\"ev\":\"post_recv\",\"qpn\":%0d,\"wr_id\":%0d,\"laddr\":%0d,\"length\":%0d,\"lkey\":1", qpn_of(side, qp), wr_id, request_laddr[wr_id], length));
      cmd_op     = CMD_POST_RECV;
      cmd_qpn    = 24'(qpn_of(side, qp));
      cmd_wr_id  = wr_id;
      cmd_laddr  = request_laddr[wr_id];
      cmd_length = length;
      command(side);
    end
  endtask

  task post_send(input int side, input int qp, input logic [2:0] wr, input int length, input logic solicited, input logic [31:0] rkey);
    int raddr;
    string line, name;
    begin
      works = works + 1;
      wr_id = wr_id + 1;
      pending = pending + 1;
      request_length[wr_id] = length;
      request_laddr[wr_id]  = wr == WR_READ ? FETCHED + works % 16 * SLOT : works * 37 % 32'h3000;
      raddr = wr == WR_READ ? works * 53 % 32'h3000 : TARGET + works % 16 * SLOT;
      if (wr == WR_READ)  // tells what the peer has there
        tell(1 - side, $sformatf("\"ev\":\"memory\",\"addr\":%0d,\"length\":%0d,\"wrote\":1,\"crc32\":%0d", raddr, length, checksum(1 - side, raddr, length)));
      cmd_op        = CMD_POST_SEND;
      cmd_qpn       = 24'(qpn_of(side, qp));
      cmd_wr        = wr;
      cmd_solicited = solicited;
      cmd_wr_id     = wr_id;
      cmd_laddr     = request_laddr[wr_id];
      cmd_length    = length;
      cmd_raddr     = {32'd0, raddr};
      cmd_rkey      = rkey;
      cmd_imm       = 32'hcafe0000 + wr_id;
      case (wr)
        WR_SEND:      name = "SEND";
        WR_SEND_IMM:  name = "SEND_WITH_IMM";
        WR_WRITE:     name = "RDMA_WRITE";
        WR_WRITE_IMM: name = "RDMA_WRITE_WITH_IMM";
        default:      name = "RDMA_READ";
      endcase
      line = $sformatf("\"ev\":\"post_send\",\"opcode\":\"%0s\",\"qpn\":%0d,\"wr_id\":%0d,\"flags\":%0d,\"laddr\":%0d,\"length\":%0d,\"lkey\":1", name,
                       qpn_of(side, qp), wr_id, solicited ? 6 : 2, request_laddr[wr_id], length);
      if (wr == WR_SEND_IMM || wr == WR_WRITE_IMM) line = $sformatf("%0s,\"imm\":%0d", line, cmd_imm);
      if (wr != WR_SEND && wr != WR_SEND_IMM) line = $sformatf("%0s,\"raddr\":%0d,\"rkey\":%0d", line, raddr, rkey);
      if (wr != WR_READ) line = $sformatf("%0s,\"crc32\":%0d", line, checksum(side, request_laddr[wr_id], length));
      tell(side, line);
      command(side);
    end
  endtask

  // Waits until everything is complete, or for so many microseconds: what is not complete then is waited for no more, and no other work begins.
  logic stuck = 0;
  task drain(input int us);
    int i;
    begin
      i = 0;
      while (!stuck && pending != 0 && i < us * 250) begin
        @(negedge clk);
        i = i + 1;
      end
      if (!stuck && pending != 0) $display("%0t: %0d requests are not complete", $time, pending);
      stuck = pending != 0;
      repeat (100) @(negedge clk);
    end
  endtask

  // The n-th frame from now on of a side is lost, and count - 1 after it.
  task lose(input int side, input int n, input int count);
    begin
      if (side == 0) begin
        a_drop_at    = a_frames + n;
        a_drop_count = count;
      end else begin
        b_drop_at    = b_frames + n;
        b_drop_count = count;
      end
    end
  endtask

  // ------------------------------------------------------------------ what is done
  // A list of steps, so that each task above is called in one place: Verilator makes a copy of a task for each call.
  localparam int CONNECT = 0, RECEIVE = 1, REQUEST = 2, LOSE = 3, DRAIN = 4, PAUSE = 5, QUIET = 6;
  int n_steps = 0;
  int step[0:8*512-1];

  // Arguments: side, queue pair, operation, length, solicited, R_Key; side, frame, count for LOSE; the first only for DRAIN and PAUSE.
  task plan(input int kind, input int side, input int b, input int c, input int d, input int e, input int f);
    begin
      step[8*n_steps]   = kind;
      step[8*n_steps+1] = side;
      step[8*n_steps+2] = b;
      step[8*n_steps+3] = c;
      step[8*n_steps+4] = d;
      step[8*n_steps+5] = e;
      step[8*n_steps+6] = f;
      n_steps = n_steps + 1;
    end
  endtask

  // A request with the receive request that it needs.
  task work(input int side, input int qp, input logic [2:0] wr, input int length, input logic solicited);
    begin
      if (wr == WR_SEND || wr == WR_SEND_IMM || wr == WR_WRITE_IMM) plan(RECEIVE, 1 - side, qp, 0, SLOT, 0, 0);
      plan(REQUEST, side, qp, int'(wr), length, int'(solicited), RKEY);
    end
  endtask

  // Every operation with a length, both ways at once.
  task every(input int length, input int other, input logic solicited);
    int side;
    begin
      for (side = 0; side < 2; side = side + 1) begin
        work(side, 0, WR_SEND, length, solicited);
        work(side, 0, WR_WRITE, length, 0);
        work(side, 0, WR_READ, length, 0);
        work(side, 0, WR_SEND_IMM, length, !solicited);
        work(side, 0, WR_WRITE_IMM, length, 1);
        work(side, 0, WR_READ, other, 0);
      end
      wait_for_all;
    end
  endtask

  task loss(input int side, input int n, input int count);
    plan(LOSE, side, n, count, 0, 0, 0);
  endtask

  task wait_for_all;
    plan(DRAIN, 150, 0, 0, 0, 0, 0);
  endtask

  // What one phase of recovery does from one side.
  task recovery(input int side, input int phase);
    case (phase)
      2: begin
        // An ACK is lost: timeout, and a duplicate.
        loss(1 - side, 0, 1);
        work(side, 1, WR_SEND, 1000, 0);
        wait_for_all;
        // The only packet of a message is lost: timeout.
        loss(side, 0, 1);
        work(side, 1, WR_WRITE_IMM, 40, 1);
        wait_for_all;
      end
      3: begin
        // A packet is lost in mid-message: sequence NAK.
        loss(side, 1, 1);
        work(side, 1, WR_SEND, 1000, 1);
        work(side, 1, WR_WRITE, 700, 0);
        work(side, 1, WR_SEND, 20, 0);
        wait_for_all;
      end
      4: begin
        // READ responses are lost: one in the middle, the last, all.
        loss(1 - side, 1, 1);
        work(side, 1, WR_READ, 1000, 0);
        work(side, 1, WR_SEND, 4, 0);
        wait_for_all;
        loss(1 - side, 3, 1);
        work(side, 1, WR_READ, 1000, 0);
        wait_for_all;
        loss(1 - side, 0, 4);
        work(side, 1, WR_READ, 900, 0);
        wait_for_all;
      end
      5: begin
        // No receive request: RNR NAK.
        plan(REQUEST, side, 1, int'(WR_SEND), 600, 0, RKEY);
        plan(PAUSE, 3750, 0, 0, 0, 0, 0);
        plan(RECEIVE, 1 - side, 1, 0, SLOT, 0, 0);
        wait_for_all;
        work(side, 1, WR_SEND, 77, 1);
        wait_for_all;
      end
      // What ends a queue pair: no access, too long, retries exhausted, RNR retries exhausted. Later requests are flushed.
      default:
      if (side == 0) begin
        plan(RECEIVE, 1, 2, 0, SLOT, 0, 0);
        plan(REQUEST, 0, 2, int'(WR_WRITE), 300, 0, RKEY + 1);
        plan(REQUEST, 0, 2, int'(WR_SEND), 30, 0, RKEY);
        wait_for_all;
        loss(0, 0, 6);
        plan(REQUEST, 0, 4, int'(WR_SEND), 500, 0, RKEY);
        wait_for_all;
      end else begin
        plan(RECEIVE, 0, 3, 0, 100, 0, 0);
        plan(REQUEST, 1, 3, int'(WR_SEND), 300, 0, RKEY);
        plan(REQUEST, 1, 3, int'(WR_SEND), 30, 0, RKEY);
        wait_for_all;
        plan(REQUEST, 1, 5, int'(WR_SEND), 500, 0, RKEY);
        wait_for_all;
      end
    endcase
  endtask

  // What state the queue pairs are in.
  task states;
    int side, i;
    for (side = 0; side < 2; side = side + 1)
      for (i = 0; i < 6; i = i + 1)
        tell(side, $sformatf("\"ev\":\"query_qp\",\"qpn\":%0d,\"state\":%0d", qpn_of(side, i), side == 0 ? a.u_responder.qp_state[i] : b.u_responder.qp_state[i]));
  endtask

  int side, i, bug;
  logic [6:0] phases = 7'h7f;

  initial begin
    if ($value$plusargs("phases=%h", phases)) ;
    if ($value$plusargs("bug=%d", bug)) a.bug = bug[3:0];
    if ($value$plusargs("peer_bug=%d", bug)) b.bug = bug[3:0];
    log[0] = $fopen("a.jsonl", "w");
    log[1] = $fopen("b.jsonl", "w");
    for (side = 0; side < 2; side = side + 1)
      $fwrite(log[side], "{\"ev\":\"device\",\"gid\":\"10.0.0.%0d\",\"clock\":\"simulation\"}\n", side + 1);
    for (i = 0; i < 65536; i = i + 1) begin
      a.u_memory.mem[i] = 8'((i * 7) ^ (i >> 7));
      b.u_memory.mem[i] = 8'((i * 11) ^ (i >> 6) ^ 85);
    end
    repeat (10) @(negedge clk);
    resetn = 1;

    for (side = 0; side < 2; side = side + 1) begin
      tell(side, $sformatf("\"ev\":\"reg_mr\",\"addr\":0,\"length\":65536,\"lkey\":1,\"rkey\":%0d,\"access\":7", RKEY));
      cmd_op     = CMD_REG_MR;
      cmd_laddr  = 0;
      cmd_length = 65536;
      cmd_rkey   = RKEY;
      command(side);
    end
    for (side = 0; side < 2; side = side + 1) for (i = 0; i < 6; i = i + 1) plan(CONNECT, side, i, 0, 0, 0, 0);
    if (phases[0]) begin
      every(0, 3 * MTU + 5, 0);
      every(1, 2 * MTU, 1);
      every(3, MTU + 1, 0);
      every(MTU - 1, MTU, 1);
    end
    if (phases[1]) begin
      every(MTU, MTU - 1, 0);
      every(MTU + 1, 3, 1);
      every(2 * MTU, 1, 0);
      every(3 * MTU + 5, 0, 1);
    end
    for (side = 0; side < 2; side = side + 1) for (i = 2; i < 7; i = i + 1) if (phases[i]) recovery(side, i);
    plan(QUIET, 0, 0, 0, 0, 0, 0);
    // One more message, so that packets show too that all are still there.
    work(1, 0, WR_SEND, 4, 0);
    wait_for_all;

    for (i = 0; i < n_steps; i = i + 1)
      case (step[8*i])
        CONNECT: connect(step[8*i+1], step[8*i+2]);
        RECEIVE: if (!stuck) post_recv(step[8*i+1], step[8*i+2], step[8*i+4]);
        REQUEST: if (!stuck) post_send(step[8*i+1], step[8*i+2], 3'(step[8*i+3]), step[8*i+4], step[8*i+5] != 0, step[8*i+6]);
        LOSE:    if (!stuck) lose(step[8*i+1], step[8*i+2], step[8*i+3]);
        DRAIN:   if (!stuck) drain(step[8*i+1]);
        PAUSE:   if (!stuck) repeat (step[8*i+1]) @(negedge clk);
        default: begin
          // Nothing goes on any more, while a slow clock lets time pass: more than four of the longest transport timers. The queue pairs are still there,
          // which tells it from an end of the simulation.
          half = 500;
          repeat (150) @(negedge clk);
          states;
          repeat (20) @(negedge clk);
          half = 2;
        end
      endcase

    stop = 1;
    $fclose(log[0]);
    $fclose(log[1]);
    $display("%0t: %0d frames of a, %0d of b, %0d completions in error", $time, a_frames, b_frames, bad_status);
    $finish;
  end
endmodule
