// A small RoCEv2 channel adapter: reliable connections over IPv4. README.md describes ports, commands and the planted bugs.
module roce_ca
  import roce_pkg::*;
#(
    parameter int W = 64,                             // data width of both streams, a multiple of 8
    parameter int BUG = 0,                            // 0: none
    parameter int N_QP = 4,                           // queue pairs, a power of two, 2 at least
    parameter int DEPTH = 16,                         // of each send and receive queue, a power of two
    parameter int AW = 16,                            // address bits of the memory
    parameter int CLK_NS = 4,                         // period of clk, for the timers
    parameter logic [31:0] LOCAL_IP = 32'h0a000001,
    parameter logic [23:0] QPN_BASE = 24'h000100      // QPN of the first queue pair
) (
    input  logic           clk,
    input  logic           resetn,
    // frames received and sent: Ethernet without preamble and FCS
    input  logic           rx_tvalid,
    output logic           rx_tready,
    input  logic [  W-1:0] rx_tdata,
    input  logic [W/8-1:0] rx_tkeep,
    input  logic           rx_tlast,
    input  logic           rx_tuser,
    output logic           tx_tvalid,
    input  logic           tx_tready,
    output logic [  W-1:0] tx_tdata,
    output logic [W/8-1:0] tx_tkeep,
    output logic           tx_tlast,
    output logic           tx_tuser,
    // commands of the consumer
    input  logic           cmd_valid,
    output logic           cmd_ready,
    input  logic [    2:0] cmd_op,
    input  logic [   23:0] cmd_qpn,
    input  logic [    3:0] cmd_attr,
    input  logic [   31:0] cmd_value,
    input  logic [    2:0] cmd_wr,
    input  logic           cmd_signalled,
    input  logic           cmd_solicited,
    input  logic [   31:0] cmd_wr_id,
    input  logic [   31:0] cmd_laddr,
    input  logic [   31:0] cmd_length,
    input  logic [   63:0] cmd_raddr,
    input  logic [   31:0] cmd_rkey,
    input  logic [   31:0] cmd_imm,
    // completions
    output logic           cqe_valid,
    input  logic           cqe_ready,
    output logic [   23:0] cqe_qpn,
    output logic [   31:0] cqe_wr_id,
    output logic [    4:0] cqe_status,
    output logic [    2:0] cqe_opcode,
    output logic [   31:0] cqe_byte_len,
    output logic           cqe_has_imm,
    output logic [   31:0] cqe_imm,
    // asynchronous events: a request was refused, and the queue pair is in error
    output logic           async_valid,
    output logic [   23:0] async_qpn,
    output logic           async_access                // 1: no access; 0: invalid request
);
  // Nothing here changes it: a testbench may, so that it is compiled once for all bugs.
  logic [3:0] bug = BUG[3:0];

  // Commands go to all modules; each keeps what it needs.
  cmd_t cmd;
  logic cmd_go, send_full, recv_full;
  assign cmd.op        = cmd_op;
  assign cmd.qp        = cmd_qpn[7:0] - QPN_BASE[7:0];
  assign cmd.attr      = cmd_op == CMD_CREATE_QP ? ATTR_STATE : cmd_attr;
  assign cmd.value     = cmd_op == CMD_CREATE_QP ? 32'd0 : cmd_value;
  assign cmd.wr        = cmd_wr;
  assign cmd.signalled = cmd_signalled;
  assign cmd.solicited = cmd_solicited;
  assign cmd.wr_id     = cmd_wr_id;
  assign cmd.laddr     = cmd_laddr;
  assign cmd.length    = cmd_length;
  assign cmd.raddr     = cmd_raddr;
  assign cmd.rkey      = cmd_rkey;
  assign cmd.imm       = cmd_imm;
  assign cmd_ready     = !(cmd_op == CMD_POST_SEND && send_full) && !(cmd_op == CMD_POST_RECV && recv_full);
  assign cmd_go        = cmd_valid && cmd_ready && (cmd_op == CMD_REG_MR || cmd_qpn - QPN_BASE < N_QP[23:0]);

  // Receive: lanes, bytes, packets; requests to the responder, responses to the requester.
  logic in_valid, in_ready, in_last, in_bad;
  logic [7:0] in_data;
  axis_to_bytes #(.W(W)) u_rx (
      .clk, .resetn, .tvalid(rx_tvalid), .tready(rx_tready), .tdata(rx_tdata), .tkeep(rx_tkeep), .tlast(rx_tlast), .tuser(rx_tuser),
      .valid(in_valid), .ready(in_ready), .data(in_data), .last(in_last), .bad(in_bad)
  );
  logic pkt_valid, to_requester, req_in_done, rsp_in_done;
  rx_pkt_t pkt;
  logic [12:0] buf_raddr;
  logic [7:0] buf_rdata;
  rx_parser #(.LOCAL_IP(LOCAL_IP), .QPN_BASE(QPN_BASE), .N_QP(N_QP)) u_parser (
      .clk, .resetn, .valid(in_valid), .ready(in_ready), .data(in_data), .last(in_last), .bad(in_bad),
      .pkt_valid, .pkt, .pkt_done(req_in_done || rsp_in_done), .buf_raddr, .buf_rdata
  );
  assign to_requester = is_response(pkt.opcode);

  // Payload into memory: one packet is handled at a time, so that one writer does for both.
  logic req_copy, rsp_copy, copy_done, mem_we;
  logic [31:0] req_copy_addr, rsp_copy_addr;
  logic [12:0] req_copy_len, rsp_copy_len;
  logic [AW-1:0] mem_waddr, mem_raddr;
  logic [7:0] mem_wdata, mem_rdata;
  rx_writer #(.AW(AW)) u_writer (
      .clk, .resetn, .start(req_copy || rsp_copy), .addr(req_copy ? req_copy_addr : rsp_copy_addr),
      .len(req_copy ? req_copy_len : rsp_copy_len), .done(copy_done), .buf_raddr, .buf_rdata, .mem_we, .mem_waddr, .mem_wdata
  );
  memory #(.AW(AW)) u_memory (
      .clk, .we(mem_we), .waddr(mem_waddr), .wdata(mem_wdata), .raddr(mem_raddr), .rdata(mem_rdata)
  );

  logic req_tx, rsp_tx, req_tx_done, rsp_tx_done;
  tx_pkt_t req_pkt, rsp_pkt;
  logic req_cqe_valid, rsp_cqe_valid, req_cqe_ready, rsp_cqe_ready;
  cqe_t req_cqe, rsp_cqe, cqe;
  logic req_fail, rsp_fail;
  logic [7:0] req_fail_qp, rsp_fail_qp, async_qp;

  requester #(.N_QP(N_QP), .DEPTH(DEPTH), .CLK_NS(CLK_NS)) u_requester (
      .clk, .resetn, .bug, .cmd, .cmd_valid(cmd_go), .cmd_full(send_full),
      .in_valid(pkt_valid && to_requester), .in(pkt), .in_done(req_in_done),
      .copy_start(req_copy), .copy_addr(req_copy_addr), .copy_len(req_copy_len), .copy_done,
      .tx_valid(req_tx), .tx(req_pkt), .tx_done(req_tx_done),
      .cqe_valid(req_cqe_valid), .cqe(req_cqe), .cqe_ready(req_cqe_ready),
      .fail(req_fail), .fail_qp(req_fail_qp), .failed(rsp_fail), .failed_qp(rsp_fail_qp)
  );
  responder #(.N_QP(N_QP), .DEPTH(DEPTH)) u_responder (
      .clk, .resetn, .bug, .cmd, .cmd_valid(cmd_go), .cmd_full(recv_full),
      .in_valid(pkt_valid && !to_requester), .in(pkt), .in_done(rsp_in_done),
      .copy_start(rsp_copy), .copy_addr(rsp_copy_addr), .copy_len(rsp_copy_len), .copy_done,
      .tx_valid(rsp_tx), .tx(rsp_pkt), .tx_done(rsp_tx_done),
      .cqe_valid(rsp_cqe_valid), .cqe(rsp_cqe), .cqe_ready(rsp_cqe_ready),
      .fail(rsp_fail), .fail_qp(rsp_fail_qp), .failed(req_fail), .failed_qp(req_fail_qp),
      .async_valid, .async_qp, .async_access
  );
  completion_queue u_completions (
      .clk, .resetn, .send_valid(req_cqe_valid), .send(req_cqe), .send_ready(req_cqe_ready),
      .recv_valid(rsp_cqe_valid), .recv(rsp_cqe), .recv_ready(rsp_cqe_ready),
      .valid(cqe_valid), .cqe, .ready(cqe_ready)
  );
  assign cqe_qpn      = QPN_BASE + {16'd0, cqe.qp};
  assign cqe_wr_id    = cqe.wr_id;
  assign cqe_status   = cqe.status;
  assign cqe_opcode   = cqe.opcode;
  assign cqe_byte_len = cqe.byte_len;
  assign cqe_has_imm  = cqe.has_imm;
  assign cqe_imm      = cqe.imm;
  assign async_qpn    = QPN_BASE + {16'd0, async_qp};

  // Transmit: packets, bytes, lanes.
  logic out_valid, out_ready, out_last;
  logic [7:0] out_data;
  tx_framer #(.AW(AW), .N_QP(N_QP), .LOCAL_IP(LOCAL_IP)) u_framer (
      .clk, .resetn, .bug, .cmd, .cmd_valid(cmd_go), .req_valid(req_tx), .req(req_pkt), .req_done(req_tx_done),
      .rsp_valid(rsp_tx), .rsp(rsp_pkt), .rsp_done(rsp_tx_done), .mem_raddr, .mem_rdata,
      .valid(out_valid), .ready(out_ready), .data(out_data), .last(out_last)
  );
  bytes_to_axis #(.W(W)) u_tx (
      .clk, .resetn, .valid(out_valid), .ready(out_ready), .data(out_data), .last(out_last),
      .tvalid(tx_tvalid), .tready(tx_tready), .tdata(tx_tdata), .tkeep(tx_tkeep), .tlast(tx_tlast)
  );
  assign tx_tuser = 0;
endmodule
