// The requester of all queue pairs (9.7.3, 9.7.5, 9.9.2): sends the packets of posted requests, follows what the responses acknowledge, goes
// back after a NAK, an RNR NAK, a response that is missing (implied NAK) or a timeout, and completes requests in order. One READ of a
// queue pair is open at a time.
//
// Of each send queue, head is the oldest request that is not complete, current the one whose packet is next, fresh the first that has no PSNs
// yet, tail where the next is posted.
module requester
  import roce_pkg::*;
#(
    parameter int N_QP = 4,
    parameter int DEPTH = 16,
    parameter int CLK_NS = 4
) (
    input  logic        clk,
    input  logic        resetn,
    input  logic [ 3:0] bug,
    input  cmd_t        cmd,
    input  logic        cmd_valid,
    output logic        cmd_full,
    // responses
    input  logic        in_valid,
    input  rx_pkt_t     in,
    output logic        in_done,
    // payload of READ responses into memory
    output logic        copy_start,
    output logic [31:0] copy_addr,
    output logic [12:0] copy_len,
    input  logic        copy_done,
    // requests
    output logic        tx_valid,
    output tx_pkt_t     tx,
    input  logic        tx_done,
    // completions of send requests
    output logic        cqe_valid,
    output cqe_t        cqe,
    input  logic        cqe_ready,
    // the queue pair has failed here, or in the responder
    output logic        fail,
    output logic [ 7:0] fail_qp,
    input  logic        failed,
    input  logic [ 7:0] failed_qp
);
  localparam int Q = $clog2(N_QP);
  localparam int D = $clog2(DEPTH);
  localparam logic [42:0] TICK = 43'd4096 / 43'(CLK_NS);  // cycles in 4.096 us
  localparam logic [3:0] PICK = 0, START = 1, SEND = 2, STEP = 3, COPY = 4, COMPLETE = 5, AGAIN = 6, DONE = 7, FLUSH = 8, HANG = 9;

  // Attributes.
  logic [2:0] qp_state[0:N_QP-1];
  logic [2:0] mtu[0:N_QP-1];
  logic [4:0] timeout[0:N_QP-1];
  logic [2:0] retry_cnt[0:N_QP-1];
  logic [2:0] rnr_retry[0:N_QP-1];

  // The send queue of each queue pair.
  logic [D:0] head[0:N_QP-1];
  logic [D:0] current[0:N_QP-1];
  logic [D:0] fresh[0:N_QP-1];
  logic [D:0] tail[0:N_QP-1];
  logic [23:0] index[0:N_QP-1];       // packet of the current request
  logic [23:0] next_psn[0:N_QP-1];    // of the next request that is new
  logic [23:0] sent_psn[0:N_QP-1];    // after the latest packet that was sent
  logic [23:0] una[0:N_QP-1];         // oldest PSN that is not acknowledged
  logic [23:0] read_next[0:N_QP-1];   // response of the oldest READ that is next
  logic read_open[0:N_QP-1];
  logic [D:0] read_slot[0:N_QP-1];
  logic [2:0] retries[0:N_QP-1];      // left
  logic [2:0] rnr_retries[0:N_QP-1];  // left
  logic implied[0:N_QP-1];            // went back because of an implied NAK, and no progress since
  logic [42:0] timer[0:N_QP-1];       // cycles until the transport timer ends; 0: it does not run
  logic ended[0:N_QP-1];
  logic [27:0] wait_rnr[0:N_QP-1];    // cycles until requests may leave after an RNR NAK

  logic [3:0] state;
  logic [Q-1:0] q, scan;
  rx_pkt_t p;

  // The request that is looked at: the current one while sending, else the oldest.
  logic sends;
  cmd_t w;
  logic [23:0] first, count, new_count;
  logic [D:0] looked;
  logic [3:0] shift;
  logic [D:0] posted, held;
  logic post;
  assign sends     = state == START || state == SEND;
  assign looked    = sends ? current[q] : head[q];
  assign shift     = mtu_shift(mtu[q]);
  assign new_count = packets(w.length, shift);
  assign post      = cmd_valid && cmd.op == CMD_POST_SEND;
  assign posted    = tail[cmd.qp[Q-1:0]];
  assign held      = posted - head[cmd.qp[Q-1:0]];
  assign cmd_full  = held == (D + 1)'(DEPTH);
  send_queue #(.N_QP(N_QP), .DEPTH(DEPTH), .D(D), .Q(Q)) u_queue (
      .clk, .cmd, .post, .post_slot(posted[D-1:0]),
      .qp(q), .slot(looked[D-1:0]), .wqe(w), .first_psn(first), .count(count),
      .assign_psn(state == START && current[q] == fresh[q]), .new_psn(next_psn[q]), .new_count
  );

  // The packet to send.
  logic is_read, starts, ends, immediate;
  logic [31:0] done_before;
  logic [23:0] i;
  assign i           = index[q];
  assign is_read     = w.wr == WR_READ;
  assign immediate   = w.wr == WR_SEND_IMM || w.wr == WR_WRITE_IMM;
  assign starts      = i == 0;
  assign ends        = is_read || i == count - 1;
  assign done_before = {8'd0, i} << shift;

  // A duplicate of an earlier packet: what was sent before goes out again. Bug 3 takes its payload from the beginning of the message.
  logic [23:0] shifted[0:N_QP-1];  // where the last retransmission went back to, in packets of its message
  logic [31:0] payload_at;
  assign payload_at = bug == 3 ? {8'd0, i - shifted[q]} << shift : done_before;

  assign tx_valid = state == SEND;
  assign tx.qp = 8'(q);
  assign tx.psn = bug == 13 && first + i < first ? first + i + 1 : first + i;  // bug 13: 1 follows 0xFFFFFF
  assign tx.se = w.solicited && !is_read && w.wr != WR_WRITE && (ends || bug == 1);
  assign tx.ackreq = ends;
  assign tx.va = is_read ? w.raddr + {32'd0, done_before} : w.raddr;
  assign tx.rkey = w.rkey;
  assign tx.dmalen = is_read ? w.length - done_before : w.length;
  assign tx.syndrome = 0;
  assign tx.msn = 0;
  assign tx.imm = w.imm;
  assign tx.laddr = w.laddr + payload_at;
  assign tx.len = is_read ? 13'd0 : portion(w.length, {8'd0, i}, shift);
  // The opcodes of a SEND and of a WRITE are in the same order: First, Middle, Last, Last with immediate, Only, Only with immediate.
  logic [7:0] place;
  assign place     = ends ? (starts ? SEND_ONLY : SEND_LAST) + {7'd0, immediate} : starts ? SEND_FIRST : SEND_MIDDLE;
  assign tx.opcode = is_read ? READ_REQUEST : w.wr == WR_SEND || w.wr == WR_SEND_IMM ? place : WRITE_FIRST + place;

  // The response.
  logic is_nak, is_rnr, is_ack, reads, lost, valid_psn;
  logic [23:0] acked;       // the PSN up to which it acknowledges
  logic [23:0] off, reach;  // of that in the oldest request
  logic beyond, whole, begun;
  assign reads     = p.opcode != ACKNOWLEDGE;
  assign is_ack    = reads || p.syndrome[7:5] == 3'd0;
  assign is_rnr    = !reads && p.syndrome[7:5] == SYNDROME_RNR[7:5];
  assign is_nak    = !reads && p.syndrome[7:5] == 3'd3;
  assign lost  = is_nak && p.syndrome == SYNDROME_NAK_SEQUENCE;
  assign acked     = is_ack ? p.psn : p.psn - 1;
  assign reach     = sent_psn[q] - una[q];
  assign valid_psn = p.psn - una[q] < reach;  // of a packet that was sent and is not acknowledged
  assign off       = acked - first;
  assign begun     = head[q] != fresh[q];
  assign beyond    = begun && !off[23];
  assign whole     = beyond && off >= count - 1;

  // What the end of a response, or a timeout, leads to.
  logic [1:0] why;
  localparam logic [1:0] PROGRESS = 0, RNR = 1, LOST = 2, REFUSED = 3;
  logic responding;         // the state machine is busy with a response
  logic [4:0] status;

  assign in_done   = (state == DONE && responding) || (state == HANG && in_valid);
  assign copy_addr = w.laddr + ({8'd0, read_next[q]} << shift);
  assign copy_len  = p.len;
  assign fail_qp   = 8'(q);

  assign cqe_valid = (state == COMPLETE && (w.signalled || status != WC_SUCCESS)) || (state == FLUSH && head[q] != tail[q]);
  assign cqe.qp = 8'(q);
  assign cqe.wr_id = w.wr_id;
  assign cqe.status = state == FLUSH ? WC_WR_FLUSH_ERR : status;
  assign cqe.opcode = is_read ? WC_READ : w.wr == WR_SEND || w.wr == WR_SEND_IMM ? WC_SEND : WC_WRITE;
  assign cqe.byte_len = w.length;
  assign cqe.has_imm = 0;
  assign cqe.imm = 0;

  logic deaf[0:N_QP-1];  // bug 5: has ignored a NAK
  logic [23:0] again;    // its first bit: the packet was sent before
  assign again = first + i - sent_psn[q];
  integer k;

  always_ff @(posedge clk)
    if (!resetn) begin
      state      <= PICK;
      scan       <= 0;
      q          <= 0;
      copy_start <= 0;
      fail       <= 0;
      responding <= 0;
      for (k = 0; k < N_QP; k = k + 1) begin
        qp_state[k] <= QP_RESET;
        head[k]     <= 0;
        current[k]  <= 0;
        fresh[k]    <= 0;
        tail[k]     <= 0;
        timer[k]    <= 0;
        ended[k]    <= 0;
        deaf[k]     <= 0;
        wait_rnr[k] <= 0;
      end
    end else begin
      copy_start <= 0;
      fail       <= 0;
      for (k = 0; k < N_QP; k = k + 1) begin
        if (timer[k] != 0) timer[k] <= timer[k] - 1;
        if (timer[k] == 1) ended[k] <= 1;
        if (wait_rnr[k] != 0) wait_rnr[k] <= wait_rnr[k] - 1;
      end

      case (state)
        // Responses first; then one queue pair after the other.
        PICK: begin
          status <= WC_SUCCESS;
          why    <= PROGRESS;
          if (in_valid) begin
            p          <= in;
            q          <= in.qp[Q-1:0];
            responding <= 1;
            state      <= qp_state[in.qp[Q-1:0]] == QP_RTS ? STEP : DONE;
          end else begin
            responding <= 0;
            q          <= scan;
            scan       <= scan == Q'(N_QP - 1) ? 0 : scan + 1;
            if (qp_state[scan] == QP_ERR && head[scan] != tail[scan]) state <= FLUSH;
            else if (qp_state[scan] == QP_RTS && ended[scan]) begin
              ended[scan] <= 0;
              why         <= LOST;
              state       <= AGAIN;
            end else if (qp_state[scan] == QP_RTS && wait_rnr[scan] == 0 && current[scan] != tail[scan]) state <= START;
          end
        end

        // A request gets its PSNs with its first packet. A second READ waits for the first.
        START:
        if (is_read && read_open[q] && read_slot[q] != current[q]) state <= PICK;
        else begin
          state <= SEND;
          if (current[q] == fresh[q]) begin
            fresh[q]    <= fresh[q] + 1;
            next_psn[q] <= next_psn[q] + new_count;
            shifted[q]  <= 0;
          end
          if (is_read) begin
            if (!read_open[q]) read_next[q] <= 0;
            read_open[q] <= 1;
            read_slot[q] <= current[q];
          end
        end

        SEND:
        if (tx_done) begin
          state <= PICK;
          if (bug == 15 && !ends && again[23]) state <= HANG;  // in mid-message, while it retransmits
          if (ends) begin
            current[q] <= current[q] + 1;
            index[q]   <= 0;
            shifted[q] <= 0;
          end else index[q] <= i + 1;
          if (first + (is_read ? count : i + 1) - sent_psn[q] < 24'h800000) sent_psn[q] <= first + (is_read ? count : i + 1);
          // The timer runs from the newest packet that asks for an answer; bug 4: from the first packet of what is outstanding.
          if (timeout[q] != 0 && !deaf[q] && (bug == 4 ? timer[q] == 0 : ends)) begin
            timer[q] <= TICK << timeout[q];
            ended[q] <= 0;
          end
        end

        // What the response says of the oldest request.
        STEP: begin
          state <= AGAIN;
          why   <= is_rnr ? RNR : is_nak ? (lost ? LOST : REFUSED) : PROGRESS;
          if (!valid_psn || !(is_ack || is_rnr || is_nak)) state <= DONE;
          else if (beyond && is_read) begin
            if (reads && off < count && off == read_next[q]) begin
              copy_start <= 1;
              state      <= COPY;
            end else if (reads && off < read_next[q]) state <= DONE;
            else if (implied[q]) state <= DONE;
            else begin  // responses are missing: an implied NAK
              implied[q] <= 1;
              why        <= LOST;
            end
          end else if (whole) state <= COMPLETE;
          else if (beyond) begin
            if (reads) state <= DONE;
            else una[q] <= acked + 1;
          end
          if (beyond && !is_read && valid_psn && !reads) begin  // progress
            retries[q]     <= retry_cnt[q];
            rnr_retries[q] <= rnr_retry[q];
            implied[q]     <= 0;
          end
        end

        COPY:
        if (copy_done) begin
          una[q]         <= first + read_next[q] + 1;
          read_next[q]   <= read_next[q] + 1;
          retries[q]     <= retry_cnt[q];
          rnr_retries[q] <= rnr_retry[q];
          implied[q]     <= 0;
          state          <= read_next[q] == count - 1 ? COMPLETE : AGAIN;
        end

        // The oldest request is complete, with success or not. What the response acknowledges may go on in the next.
        COMPLETE:
        if (!cqe_valid || cqe_ready) begin
          head[q] <= head[q] + 1;
          una[q]  <= first + count;
          if (current[q] == head[q]) begin
            current[q] <= head[q] + 1;
            index[q]   <= 0;
          end
          if (is_read) read_open[q] <= 0;
          if (status == WC_SUCCESS) begin
            retries[q]     <= retry_cnt[q];
            rnr_retries[q] <= rnr_retry[q];
            implied[q]     <= 0;
            state          <= acked == first + count - 1 ? AGAIN : STEP;
            why            <= is_rnr ? RNR : is_nak ? (lost ? LOST : REFUSED) : PROGRESS;
          end else begin
            fail        <= 1;
            qp_state[q] <= QP_ERR;
            state       <= DONE;
          end
        end

        // Goes on after a response, or back to the oldest packet that is not acknowledged, which is one of the oldest request.
        AGAIN: begin
          state    <= DONE;
          timer[q] <= timeout[q] != 0 && una[q] != sent_psn[q] ? TICK << timeout[q] : 0;
          ended[q] <= 0;
          if (why != PROGRESS && begun) begin
            current[q] <= head[q];
            index[q]   <= una[q] - first;
            shifted[q] <= una[q] - first;
            timer[q]   <= 0;
          end
          if (bug == 5 && !reads && lost && responding) begin  // the NAK stops the timer for good, and nothing else happens
            state      <= DONE;
            deaf[q]    <= 1;
            current[q] <= current[q];
            index[q]   <= index[q];
            timer[q]   <= 0;
          end else case (why)
            LOST:
            if (!begun);
            else if (retries[q] == 0) begin
              status <= WC_RETRY_EXC_ERR;
              state  <= COMPLETE;
            end else retries[q] <= retries[q] - 1;
            RNR: begin
              if (bug != 12) wait_rnr[q] <= {8'd0, rnr_us(p.syndrome[4:0])} * 28'(1000 / CLK_NS);
              if (rnr_retries[q] == 0) begin
                status <= WC_RNR_RETRY_EXC_ERR;
                state  <= COMPLETE;
              end else if (rnr_retries[q] != 7) rnr_retries[q] <= rnr_retries[q] - 1;
            end
            REFUSED: begin
              status <= p.syndrome == SYNDROME_NAK_INVALID ? WC_REM_INV_REQ_ERR :
                        p.syndrome == SYNDROME_NAK_ACCESS ? WC_REM_ACCESS_ERR : WC_REM_OP_ERR;
              state  <= COMPLETE;
            end
            default: if (index[q] + first - una[q] >= 24'h800000 && current[q] == head[q] && begun) index[q] <= una[q] - first;
          endcase
        end

        FLUSH:
        if (head[q] == tail[q]) state <= DONE;
        else if (cqe_ready) begin
          head[q] <= head[q] + 1;
          if (current[q] == head[q]) current[q] <= head[q] + 1;
          if (fresh[q] == head[q]) fresh[q] <= head[q] + 1;
        end

        HANG: ;

        default: state <= PICK;  // DONE
      endcase

      if (failed && qp_state[failed_qp[Q-1:0]] != QP_RESET) qp_state[failed_qp[Q-1:0]] <= QP_ERR;
      if (post) tail[cmd.qp[Q-1:0]] <= posted + 1;
      if (cmd_valid && cmd.op == CMD_MODIFY_QP)
        case (cmd.attr)
          ATTR_STATE: begin
            qp_state[cmd.qp[Q-1:0]] <= cmd.value[2:0];
            if (cmd.value[2:0] == QP_RESET || cmd.value[2:0] == QP_INIT) begin
              head[cmd.qp[Q-1:0]]      <= 0;
              current[cmd.qp[Q-1:0]]   <= 0;
              fresh[cmd.qp[Q-1:0]]     <= 0;
              tail[cmd.qp[Q-1:0]]      <= 0;
              index[cmd.qp[Q-1:0]]     <= 0;
              read_open[cmd.qp[Q-1:0]] <= 0;
              implied[cmd.qp[Q-1:0]]   <= 0;
              timer[cmd.qp[Q-1:0]]     <= 0;
              ended[cmd.qp[Q-1:0]]     <= 0;
              wait_rnr[cmd.qp[Q-1:0]]  <= 0;
            end
          end
          ATTR_PATH_MTU: mtu[cmd.qp[Q-1:0]] <= cmd.value[2:0];
          ATTR_SQ_PSN: begin
            next_psn[cmd.qp[Q-1:0]] <= cmd.value[23:0];
            sent_psn[cmd.qp[Q-1:0]] <= cmd.value[23:0];
            una[cmd.qp[Q-1:0]]      <= cmd.value[23:0];
          end
          ATTR_TIMEOUT: timeout[cmd.qp[Q-1:0]] <= cmd.value[4:0];
          ATTR_RETRY_CNT: begin
            retry_cnt[cmd.qp[Q-1:0]] <= cmd.value[2:0];
            retries[cmd.qp[Q-1:0]]   <= cmd.value[2:0];
          end
          ATTR_RNR_RETRY: begin
            rnr_retry[cmd.qp[Q-1:0]]   <= cmd.value[2:0];
            rnr_retries[cmd.qp[Q-1:0]] <= cmd.value[2:0];
          end
          default: ;
        endcase
    end
endmodule
