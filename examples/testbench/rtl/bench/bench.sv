// Two devices back to back: a, 10.0.0.1, which has the BUG, and b, 10.0.0.2, which has none. The same work goes both ways, so that requester
// and responder of each take part; the links lose frames where the program says so. Writes what a tap at each would show (a.pcap, b.pcap),
// and the verbs events of both (a.jsonl, b.jsonl), into the current directory.
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

  logic clk = 0, resetn = 0, running = 1;
  always #2 if (running) clk = !clk;

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

  // Begins a line; the caller writes the rest of it.
  task tell(input int side, input string what);
    $fwrite(log[side], "{\"t\":%0d,\"ev\":\"%s\"", EPOCH + $time, what);
  endtask

  task completion(input int side, input int qpn, input int id, input int status, input int opcode, input int byte_len, input logic has_imm,
                  input int unsigned imm);
    begin
      pending = pending - 1;
      tell(side, "cqe");
      $fwrite(log[side], ",\"qpn\":%0d,\"wr_id\":%0d,\"status_code\":%0d", qpn, id, status);
      if (status == 0) begin
        case (opcode)
          0: $fwrite(log[side], ",\"opcode\":\"SEND\"");
          1: $fwrite(log[side], ",\"opcode\":\"RDMA_WRITE\"");
          2: $fwrite(log[side], ",\"opcode\":\"RDMA_READ\"");
          4: $fwrite(log[side], ",\"opcode\":\"RECV\"");
          default: $fwrite(log[side], ",\"opcode\":\"RECV_RDMA_WITH_IMM\"");
        endcase
        $fwrite(log[side], ",\"byte_len\":%0d", byte_len);
        if (has_imm) $fwrite(log[side], ",\"imm\":%0d", imm);
        if (opcode == 4 || opcode == 2) $fwrite(log[side], ",\"crc32\":%0d", checksum(side, request_laddr[id], byte_len));
      end else bad_status = bad_status + 1;
      $fwrite(log[side], "}\n");
    end
  endtask

  task refused(input int side, input int qpn, input logic access);
    begin
      tell(side, "async");
      if (access) $fwrite(log[side], ",\"what\":\"qp_access\",\"qpn\":%0d}\n", qpn);
      else $fwrite(log[side], ",\"what\":\"qp_request\",\"qpn\":%0d}\n", qpn);
    end
  endtask

  always @(posedge clk) begin
    if (async_valid[0]) refused(0, int'(a_async_qpn), async_access[0]);
    if (async_valid[1]) refused(1, int'(b_async_qpn), async_access[1]);
    if (cqe_valid[0])
      completion(0, int'(a_cqe_qpn), a_cqe_wr_id, int'(a_cqe_status), int'(a_cqe_opcode), a_cqe_byte_len, cqe_has_imm[0], a_cqe_imm);
    if (cqe_valid[1])
      completion(1, int'(b_cqe_qpn), b_cqe_wr_id, int'(b_cqe_status), int'(b_cqe_opcode), b_cqe_byte_len, cqe_has_imm[1], b_cqe_imm);
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

  task connect(input int side, input int qp, input int sq_psn, input int rq_psn, input int timeout, input int retries, input int rnr_retry);
    begin
      cmd_op  = CMD_CREATE_QP;
      cmd_qpn = 24'(qpn_of(side, qp));
      tell(side, "create_qp");
      $fwrite(log[side], ",\"qpn\":%0d,\"type\":\"rc\"}\n", qpn_of(side, qp));
      command(side);
      tell(side, "modify_qp");
      $fwrite(log[side], ",\"qpn\":%0d,\"to\":\"INIT\",\"pkey\":65535,\"port_num\":1,\"qp_access_flags\":7}\n", qpn_of(side, qp));
      attribute(side, ATTR_STATE, int'(QP_INIT));
      attribute(side, ATTR_DEST_QPN, qpn_of(1 - side, qp));
      attribute(side, ATTR_DEST_IP, side == 0 ? 32'h0a000002 : 32'h0a000001);
      attribute(side, ATTR_PATH_MTU, 1);
      attribute(side, ATTR_RQ_PSN, rq_psn);
      attribute(side, ATTR_MIN_RNR_TIMER, 1);
      tell(side, "modify_qp");
      $fwrite(log[side], ",\"qpn\":%0d,\"to\":\"RTR\",\"path_mtu\":%0d,\"dest_qp_num\":%0d,\"rq_psn\":%0d,\"max_dest_rd_atomic\":1", qpn_of(side, qp),
              MTU, qpn_of(1 - side, qp), rq_psn);
      $fwrite(log[side], ",\"min_rnr_timer\":1,\"dgid\":\"10.0.0.%0d\"}\n", 2 - side);
      attribute(side, ATTR_STATE, int'(QP_RTR));
      attribute(side, ATTR_SQ_PSN, sq_psn);
      attribute(side, ATTR_TIMEOUT, timeout);
      attribute(side, ATTR_RETRY_CNT, retries);
      attribute(side, ATTR_RNR_RETRY, rnr_retry);
      tell(side, "modify_qp");
      $fwrite(log[side], ",\"qpn\":%0d,\"to\":\"RTS\",\"sq_psn\":%0d,\"timeout\":%0d,\"retry_cnt\":%0d,\"rnr_retry\":%0d,\"max_rd_atomic\":1}\n",
              qpn_of(side, qp), sq_psn, timeout, retries, rnr_retry);
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
      tell(side, "post_recv");
      $fwrite(log[side], ",\"qpn\":%0d,\"wr_id\":%0d,\"laddr\":%0d,\"length\":%0d,\"lkey\":1}\n", qpn_of(side, qp), wr_id, request_laddr[wr_id], length);
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
    begin
      works = works + 1;
      wr_id = wr_id + 1;
      pending = pending + 1;
      request_length[wr_id] = length;
      request_laddr[wr_id]  = wr == WR_READ ? FETCHED + works % 16 * SLOT : works * 37 % 32'h3000;
      raddr = wr == WR_READ ? works * 53 % 32'h3000 : TARGET + works % 16 * SLOT;
      if (wr == WR_READ) begin  // tells what the peer has there
        tell(1 - side, "memory");
        $fwrite(log[1-side], ",\"addr\":%0d,\"length\":%0d,\"wrote\":1,\"crc32\":%0d}\n", raddr, length, checksum(1 - side, raddr, length));
      end
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
      tell(side, "post_send");
      case (wr)
        WR_SEND:     $fwrite(log[side], ",\"opcode\":\"SEND\"");
        WR_SEND_IMM: $fwrite(log[side], ",\"opcode\":\"SEND_WITH_IMM\",\"imm\":%0d", cmd_imm);
        WR_WRITE:    $fwrite(log[side], ",\"opcode\":\"RDMA_WRITE\"");
        WR_WRITE_IMM: $fwrite(log[side], ",\"opcode\":\"RDMA_WRITE_WITH_IMM\",\"imm\":%0d", cmd_imm);
        default:     $fwrite(log[side], ",\"opcode\":\"RDMA_READ\"");
      endcase
      $fwrite(log[side], ",\"qpn\":%0d,\"wr_id\":%0d,\"flags\":%0d,\"laddr\":%0d,\"length\":%0d,\"lkey\":1", qpn_of(side, qp), wr_id, solicited ? 6 : 2,
              request_laddr[wr_id], length);
      if (wr != WR_SEND && wr != WR_SEND_IMM) $fwrite(log[side], ",\"raddr\":%0d,\"rkey\":%0d", raddr, rkey);
      if (wr != WR_READ) $fwrite(log[side], ",\"crc32\":%0d", checksum(side, request_laddr[wr_id], length));
      $fwrite(log[side], "}\n");
      command(side);
    end
  endtask

  // A request with the receive request that it needs.
  task work(input int side, input int qp, input logic [2:0] wr, input int length, input logic solicited);
    begin
      if (wr == WR_SEND || wr == WR_SEND_IMM || wr == WR_WRITE_IMM) post_recv(1 - side, qp, SLOT);
      post_send(side, qp, wr, length, solicited, RKEY);
    end
  endtask

  // Waits until everything is complete, or for so many microseconds.
  task drain(input int us);
    int i;
    begin
      i = 0;
      while (pending != 0 && i < us * 250) begin
        @(negedge clk);
        i = i + 1;
      end
      if (pending != 0) $display("%0t: %0d requests are not complete", $time, pending);
      pending = 0;  // what is still missing is not waited for again
      repeat (250) @(negedge clk);
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

  int side, i;
  int lengths[0:7];

  initial begin
    lengths[0] = 0;
    lengths[1] = 1;
    lengths[2] = 3;
    lengths[3] = MTU - 1;
    lengths[4] = MTU;
    lengths[5] = MTU + 1;
    lengths[6] = 2 * MTU;
    lengths[7] = 3 * MTU + 5;
    log[0] = $fopen("a.jsonl", "w");
    log[1] = $fopen("b.jsonl", "w");
    for (side = 0; side < 2; side = side + 1)
      $fwrite(log[side], "{\"ev\":\"device\",\"gid\":\"10.0.0.%0d\",\"clock\":\"capture\"}\n", side + 1);
    for (i = 0; i < 65536; i = i + 1) begin
      a.u_memory.mem[i] = 8'((i * 7) ^ (i >> 7));
      b.u_memory.mem[i] = 8'((i * 11) ^ (i >> 6) ^ 85);
    end
    repeat (10) @(negedge clk);
    resetn = 1;

    for (side = 0; side < 2; side = side + 1) begin
      tell(side, "reg_mr");
      $fwrite(log[side], ",\"addr\":0,\"length\":65536,\"lkey\":1,\"rkey\":%0d,\"access\":7}\n", RKEY);
      cmd_op     = CMD_REG_MR;
      cmd_laddr  = 0;
      cmd_length = 65536;
      cmd_rkey   = RKEY;
      command(side);
      // Queue pair 0: PSNs wrap. 4 and 5: few retries.
      for (i = 0; i < 6; i = i + 1)
        connect(side, i, side == 0 ? 32'hfffff8 + i : 32'hfffff3 + i, side == 0 ? 32'hfffff3 + i : 32'hfffff8 + i, 3, i == 4 ? 2 : 6, i == 5 ? 2 : 7);
    end

    // Every operation with every length, both ways at once.
    for (i = 0; i < 8; i = i + 1) begin
      for (side = 0; side < 2; side = side + 1) begin
        work(side, 0, WR_SEND, lengths[i], i[0]);
        work(side, 0, WR_WRITE, lengths[i], 0);
        work(side, 0, WR_READ, lengths[i], 0);
        work(side, 0, WR_SEND_IMM, lengths[i], !i[0]);
        work(side, 0, WR_WRITE_IMM, lengths[i], 1);
        work(side, 0, WR_READ, lengths[7-i], 0);
      end
      drain(300);
    end

    for (side = 0; side < 2; side = side + 1) begin
      // An ACK is lost: timeout, and a duplicate.
      lose(1 - side, 0, 1);
      work(side, 1, WR_SEND, 1000, 0);
      drain(300);
      // The only packet of a message is lost: timeout.
      lose(side, 0, 1);
      work(side, 1, WR_WRITE_IMM, 40, 1);
      drain(300);
      // A packet is lost in mid-message: sequence NAK.
      lose(side, 1, 1);
      work(side, 1, WR_SEND, 1000, 1);
      work(side, 1, WR_WRITE, 700, 0);
      work(side, 1, WR_SEND, 20, 0);
      drain(300);
      // READ responses are lost: one in the middle, the last.
      lose(1 - side, 1, 1);
      work(side, 1, WR_READ, 1000, 0);
      work(side, 1, WR_SEND, 4, 0);
      drain(300);
      lose(1 - side, 3, 1);
      work(side, 1, WR_READ, 1000, 0);
      drain(300);
      // The whole of a READ's responses.
      lose(1 - side, 0, 4);
      work(side, 1, WR_READ, 900, 0);
      drain(300);
      // No receive request: RNR NAK.
      post_send(side, 1, WR_SEND, 600, 0, RKEY);
      repeat (3750) @(negedge clk);
      post_recv(1 - side, 1, SLOT);
      drain(300);
      work(side, 1, WR_SEND, 77, 1);
      drain(300);
    end

    // What ends a queue pair: no access, too long, retries exhausted, RNR retries exhausted. Later requests are flushed.
    for (side = 0; side < 2; side = side + 1) begin
      if (side == 0) begin
        post_recv(1, 2, SLOT);
        post_send(0, 2, WR_WRITE, 300, 0, RKEY + 1);
        post_send(0, 2, WR_SEND, 30, 0, RKEY);
        drain(300);
        lose(0, 0, 6);
        post_send(0, 4, WR_SEND, 500, 0, RKEY);
        drain(300);
      end else begin
        post_recv(0, 3, 100);
        post_send(1, 3, WR_SEND, 300, 0, RKEY);
        post_send(1, 3, WR_SEND, 30, 0, RKEY);
        drain(300);
        post_send(1, 5, WR_SEND, 500, 0, RKEY);
        drain(300);
      end
    end

    // Nothing goes on any more: the clock stands still for a while. Then one more message, and the queue pairs are still there. That tells
    // silence from an end of the simulation.
    running = 0;
    #50000000;
    running = 1;
    work(1, 0, WR_SEND, 4, 0);
    drain(100);
    for (side = 0; side < 2; side = side + 1)
      for (i = 0; i < 6; i = i + 1) begin
        tell(side, "query_qp");
        $fwrite(log[side], ",\"qpn\":%0d,\"state\":%0d}\n", qpn_of(side, i), side == 0 ? a.u_responder.qp_state[i] : b.u_responder.qp_state[i]);
      end
    stop = 1;
    $fclose(log[0]);
    $fclose(log[1]);
    $display("%0t: %0d frames of a, %0d of b, %0d completions in error", $time, a_frames, b_frames, bad_status);
    $finish;
  end
endmodule
