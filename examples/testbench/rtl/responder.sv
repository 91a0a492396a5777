// The responder of all queue pairs (9.7.4, 9.7.5): takes requests in the order of their PSNs, carries them out, and answers. One packet at
// a time: while it is handled, a READ answered, nothing else is received.
module responder
  import roce_pkg::*;
#(
    parameter int N_QP = 4,
    parameter int DEPTH = 16
) (
    input  logic        clk,
    input  logic        resetn,
    input  logic [ 3:0] bug,
    input  cmd_t        cmd,
    input  logic        cmd_valid,
    output logic        cmd_full,
    // requests
    input  logic        in_valid,
    input  rx_pkt_t     in,
    output logic        in_done,
    // payload into memory
    output logic        copy_start,
    output logic [31:0] copy_addr,
    output logic [12:0] copy_len,
    input  logic        copy_done,
    // responses
    output logic        tx_valid,
    output tx_pkt_t     tx,
    input  logic        tx_done,
    // completions of receive requests
    output logic        cqe_valid,
    output cqe_t        cqe,
    input  logic        cqe_ready,
    // the queue pair has failed here, or in the requester
    output logic        fail,
    output logic [ 7:0] fail_qp,
    input  logic        failed,
    input  logic [ 7:0] failed_qp,
    // asynchronous event: access or invalid request, refused
    output logic        async_valid,
    output logic [ 7:0] async_qp,
    output logic        async_access
);
  localparam int Q = $clog2(N_QP);
  localparam logic [2:0] IDLE = 0, CHECK = 1, COPY = 2, COMPLETE = 3, ANSWER = 4, READ = 5, DONE = 6, FLUSH = 7;

  // Attributes, and what the responder of a queue pair knows.
  logic [2:0] qp_state[0:N_QP-1];
  logic [2:0] mtu[0:N_QP-1];
  logic [4:0] rnr_timer[0:N_QP-1];
  logic [23:0] epsn[0:N_QP-1];      // expected PSN
  logic [23:0] msn[0:N_QP-1];
  logic naked[0:N_QP-1];            // a sequence or RNR NAK for ePSN is out
  logic sending[0:N_QP-1];          // a SEND has begun
  logic writing[0:N_QP-1];          // a WRITE has begun
  logic [31:0] offset[0:N_QP-1];    // what has arrived of it
  logic [31:0] write_va[0:N_QP-1];
  logic [31:0] write_len[0:N_QP-1];

  // The region that peers may reach.
  logic [31:0] region_rkey, region_base, region_len;

  logic [2:0] state;
  logic [Q-1:0] q, scan;
  rx_pkt_t p;

  assign q = state == FLUSH ? scan : p.qp[Q-1:0];

  logic none, pop;
  logic [31:0] recv_wr_id, recv_addr, recv_len;
  receive_queue #(.N_QP(N_QP), .DEPTH(DEPTH)) u_queue (
      .clk, .resetn, .cmd, .cmd_valid,
      .full(cmd_full), .qp(8'(q)), .empty(none), .wr_id(recv_wr_id), .laddr(recv_addr), .length(recv_len), .pop
  );

  // What the packet is.
  logic is_send, is_write, is_read, first, final_, immediate, takes_recv;
  assign is_send    = p.opcode <= SEND_ONLY_IMM;
  assign is_write   = p.opcode >= WRITE_FIRST && p.opcode <= WRITE_ONLY_IMM;
  assign is_read    = p.opcode == READ_REQUEST;
  assign first      = p.opcode == SEND_FIRST || p.opcode == SEND_ONLY || p.opcode == SEND_ONLY_IMM || has_reth(p.opcode);
  assign final_     = !(p.opcode == SEND_FIRST || p.opcode == SEND_MIDDLE || p.opcode == WRITE_FIRST || p.opcode == WRITE_MIDDLE);
  assign immediate  = has_imm(p.opcode);
  assign takes_recv = is_send ? first : immediate;  // a SEND needs its receive request from its first packet on

  // Where it stands against what the queue pair expects.
  logic [23:0] diff, count;
  logic duplicate, ahead, known;
  logic [3:0] shift;
  assign shift     = mtu_shift(mtu[q]);
  assign diff      = p.psn - epsn[q];
  assign duplicate = diff[23];
  assign ahead     = !diff[23] && diff != 0;
  assign count     = is_read ? packets(p.dmalen, shift) : 24'd1;
  assign known     = qp_state[q] == QP_RTR || qp_state[q] == QP_RTS;

  // What may be wrong with it.
  logic [31:0] full, at, va, total;
  logic out_of_order, bad_length, no_access, too_long, reach;
  assign full = 32'd1 << shift;
  assign at = first ? 0 : offset[q];
  assign va = first ? p.va[31:0] : write_va[q];
  assign total = first ? p.dmalen : write_len[q];
  assign out_of_order = p.opcode > READ_REQUEST || (first ? sending[q] || writing[q] : is_send ? !sending[q] : !writing[q]);
  assign bad_length = is_read ? p.len != 0 || p.dmalen[31] :
                      (final_ ? {19'd0, p.len} > full || (!first && p.len == 0) : {19'd0, p.len} != full) ||
                      (is_write && (total[31] || (final_ ? at + {19'd0, p.len} != total : at + {19'd0, p.len} >= total)));
  assign too_long = is_send && at + {19'd0, p.len} > recv_len;
  assign reach = p.va[63:32] == 0 && p.va[31:0] >= region_base && p.va[31:0] - region_base <= region_len &&
                 p.dmalen <= region_len - (p.va[31:0] - region_base);
  assign no_access = has_reth(p.opcode) && p.dmalen != 0 && (p.rkey != region_rkey || !reach);

  // The answer.
  logic [7:0] syndrome;
  logic [23:0] answer_psn;
  logic answers;
  logic [4:0] recv_status;

  // The READ that is being answered.
  logic [31:0] read_len;
  logic [23:0] read_n, read_i;
  logic [31:0] read_at;
  assign read_at = p.va[31:0] + ({8'd0, read_i} << shift) + (bug == 8 && read_i != 0 ? 32'd4 : 32'd0);

  logic [5:0] requests;  // handled so far: bug 11 falls silent then
  logic [2:0] acks;      // bug 7: one of four acknowledges a PSN too many
  integer i;

  assign copy_addr = is_send ? recv_addr + at : va + at;
  assign copy_len = p.len;
  assign in_done = state == DONE;
  assign pop = (state == COMPLETE || state == FLUSH) && cqe_ready && cqe_valid;
  assign async_qp = 8'(q);
  assign fail_qp = 8'(q);

  assign cqe_valid = state == COMPLETE || (state == FLUSH && !none);
  assign cqe.qp = 8'(q);
  assign cqe.wr_id = recv_wr_id;
  assign cqe.status = state == FLUSH ? WC_WR_FLUSH_ERR : recv_status;
  assign cqe.opcode = is_write ? WC_RECV_WITH_IMM : WC_RECV;
  assign cqe.byte_len = is_write ? total : at + {19'd0, p.len};
  assign cqe.has_imm = immediate;
  assign cqe.imm = p.imm;

  assign tx_valid = state == ANSWER || state == READ;
  assign tx.qp = 8'(q);
  assign tx.opcode = state == ANSWER ? ACKNOWLEDGE :
                     read_n == 1 ? READ_ONLY : read_i == 0 ? READ_FIRST : read_i == read_n - 1 ? READ_LAST : READ_MIDDLE;
  assign tx.se = 0;
  assign tx.ackreq = 0;
  assign tx.psn = state == ANSWER ? answer_psn + (bug == 7 && acks[1:0] == 3 && syndrome == SYNDROME_ACK ? 24'd1 : 24'd0) : p.psn + read_i;
  assign tx.va = 0;
  assign tx.rkey = 0;
  assign tx.dmalen = 0;
  assign tx.syndrome = state == ANSWER ? syndrome : SYNDROME_ACK;
  assign tx.msn = msn[q];
  assign tx.imm = 0;
  assign tx.laddr = read_at;
  assign tx.len = state == ANSWER ? 13'd0 : portion(read_len, {8'd0, read_i}, shift);

  always_ff @(posedge clk)
    if (!resetn) begin
      state       <= IDLE;
      copy_start  <= 0;
      fail        <= 0;
      async_valid <= 0;
      scan        <= 0;
      requests    <= 0;
      acks        <= 0;
      for (i = 0; i < N_QP; i = i + 1) qp_state[i] <= QP_RESET;
    end else begin
      copy_start  <= 0;
      fail        <= 0;
      async_valid <= 0;
      case (state)
        IDLE: begin
          scan <= scan == Q'(N_QP - 1) ? 0 : scan + 1;
          if (in_valid) begin
            p     <= in;
            state <= CHECK;
          end else if (qp_state[scan] == QP_ERR) begin
            scan  <= scan;
            state <= FLUSH;
          end
        end

        CHECK: begin
          state       <= DONE;
          answer_psn  <= epsn[q];
          answers     <= 1;
          recv_status <= WC_SUCCESS;
          if (requests != 6'd63) requests <= requests + 1;
          if (!known || (bug == 11 && requests >= 6'd30));  // dropped
          else if (duplicate) begin
            answer_psn <= epsn[q] - 1;
            syndrome   <= SYNDROME_ACK;
            if (!is_read) begin
              if (p.ackreq) state <= ANSWER;
              if (bug == 6 && final_) msn[q] <= msn[q] + 1;
            end else if (!no_access && count <= 24'd0 - diff) begin
              read_i   <= 0;
              read_len <= bug == 14 && p.dmalen > 1 ? p.dmalen - 1 : p.dmalen;
              read_n   <= count;
              state    <= READ;
            end
          end else if (ahead) begin
            syndrome  <= SYNDROME_NAK_SEQUENCE;
            naked[q]  <= 1;
            if (!naked[q]) state <= ANSWER;
          end else if (out_of_order || bad_length || no_access) begin
            syndrome     <= out_of_order || bad_length ? SYNDROME_NAK_INVALID : SYNDROME_NAK_ACCESS;
            async_access <= !(out_of_order || bad_length);
            async_valid  <= 1;
            fail         <= 1;
            qp_state[q]  <= QP_ERR;
            state        <= ANSWER;
          end else if (takes_recv && none) begin
            syndrome <= SYNDROME_RNR | {3'd0, rnr_timer[q]};
            naked[q] <= 1;
            state    <= ANSWER;
          end else if (too_long) begin
            syndrome    <= SYNDROME_NAK_INVALID;
            recv_status <= WC_LOC_LEN_ERR;
            fail        <= 1;
            qp_state[q] <= QP_ERR;
            state       <= COMPLETE;
          end else begin
            syndrome <= SYNDROME_ACK;
            answers  <= p.ackreq;
            naked[q] <= 0;
            epsn[q]  <= epsn[q] + count;
            answer_psn <= p.psn;
            if (is_read) begin
              msn[q]   <= msn[q] + 1;
              read_i   <= 0;
              read_len <= p.dmalen;
              read_n   <= count;
              state    <= READ;
            end else begin
              if (first && is_write) begin
                write_va[q]  <= p.va[31:0];
                write_len[q] <= p.dmalen;
              end
              if (first) offset[q] <= 0;
              sending[q] <= is_send && !final_;
              writing[q] <= is_write && !final_;
              copy_start <= 1;
              state      <= COPY;
            end
          end
        end

        COPY:
        if (copy_done) begin
          if (final_) msn[q] <= msn[q] + 1;
          else offset[q] <= at + {19'd0, p.len};
          state <= final_ && (is_send || immediate) ? COMPLETE : answers ? ANSWER : DONE;
        end

        COMPLETE: if (cqe_ready) state <= answers ? ANSWER : DONE;

        ANSWER:
        if (tx_done) begin
          if (syndrome == SYNDROME_ACK) acks <= acks + 1;
          state <= DONE;
        end

        READ:
        if (tx_done) begin
          read_i <= read_i + 1;
          if (read_i == read_n - 1) state <= DONE;
        end

        FLUSH:
        if (none) begin
          scan  <= scan == Q'(N_QP - 1) ? 0 : scan + 1;
          state <= IDLE;
        end

        default: state <= IDLE;
      endcase

      if (failed && qp_state[failed_qp[Q-1:0]] != QP_RESET) qp_state[failed_qp[Q-1:0]] <= QP_ERR;
      if (cmd_valid && cmd.op == CMD_REG_MR) begin
        region_rkey <= cmd.rkey;
        region_base <= cmd.laddr;
        region_len  <= cmd.length;
      end
      if (cmd_valid && cmd.op == CMD_MODIFY_QP)
        case (cmd.attr)
          ATTR_STATE: begin
            qp_state[cmd.qp[Q-1:0]] <= cmd.value[2:0];
            if (cmd.value[2:0] == QP_RESET || cmd.value[2:0] == QP_INIT) begin
              msn[cmd.qp[Q-1:0]]     <= 0;
              naked[cmd.qp[Q-1:0]]   <= 0;
              sending[cmd.qp[Q-1:0]] <= 0;
              writing[cmd.qp[Q-1:0]] <= 0;
            end
          end
          ATTR_PATH_MTU:      mtu[cmd.qp[Q-1:0]] <= cmd.value[2:0];
          ATTR_RQ_PSN:        epsn[cmd.qp[Q-1:0]] <= cmd.value[23:0];
          ATTR_MIN_RNR_TIMER: rnr_timer[cmd.qp[Q-1:0]] <= cmd.value[4:0];
          default: ;
        endcase
    end
endmodule
