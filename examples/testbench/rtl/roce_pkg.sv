// Constants, records and arithmetic that the modules of the channel adapter share. Names are those of the InfiniBand Architecture.
`timescale 1ns / 1ns
package roce_pkg;

  // Opcodes of reliable connections (BTH byte 0; the upper three bits are 0).
  localparam logic [7:0] SEND_FIRST     = 8'h00;
  localparam logic [7:0] SEND_MIDDLE    = 8'h01;
  localparam logic [7:0] SEND_LAST      = 8'h02;
  localparam logic [7:0] SEND_LAST_IMM  = 8'h03;
  localparam logic [7:0] SEND_ONLY      = 8'h04;
  localparam logic [7:0] SEND_ONLY_IMM  = 8'h05;
  localparam logic [7:0] WRITE_FIRST    = 8'h06;
  localparam logic [7:0] WRITE_MIDDLE   = 8'h07;
  localparam logic [7:0] WRITE_LAST     = 8'h08;
  localparam logic [7:0] WRITE_LAST_IMM = 8'h09;
  localparam logic [7:0] WRITE_ONLY     = 8'h0a;
  localparam logic [7:0] WRITE_ONLY_IMM = 8'h0b;
  localparam logic [7:0] READ_REQUEST   = 8'h0c;
  localparam logic [7:0] READ_FIRST     = 8'h0d;
  localparam logic [7:0] READ_MIDDLE    = 8'h0e;
  localparam logic [7:0] READ_LAST      = 8'h0f;
  localparam logic [7:0] READ_ONLY      = 8'h10;
  localparam logic [7:0] ACKNOWLEDGE    = 8'h11;

  // Syndromes of the AETH: no end-to-end credits in an ACK; the code of a NAK in the low bits; an RNR NAK takes the timer code there.
  localparam logic [7:0] SYNDROME_ACK           = 8'h1f;
  localparam logic [7:0] SYNDROME_RNR           = 8'h20;
  localparam logic [7:0] SYNDROME_NAK_SEQUENCE  = 8'h60;
  localparam logic [7:0] SYNDROME_NAK_INVALID   = 8'h61;
  localparam logic [7:0] SYNDROME_NAK_ACCESS    = 8'h62;
  localparam logic [7:0] SYNDROME_NAK_OPERATION = 8'h63;

  // Commands of the consumer.
  localparam logic [2:0] CMD_CREATE_QP = 3'd0;
  localparam logic [2:0] CMD_MODIFY_QP = 3'd1;  // one attribute a command
  localparam logic [2:0] CMD_POST_SEND = 3'd2;
  localparam logic [2:0] CMD_POST_RECV = 3'd3;
  localparam logic [2:0] CMD_REG_MR    = 3'd4;  // the one region that peers may reach

  // Attributes of MODIFY_QP.
  localparam logic [3:0] ATTR_STATE         = 4'd0;
  localparam logic [3:0] ATTR_DEST_QPN      = 4'd1;
  localparam logic [3:0] ATTR_DEST_IP       = 4'd2;
  localparam logic [3:0] ATTR_PATH_MTU      = 4'd3;  // 1 to 5: 256 to 4096 bytes
  localparam logic [3:0] ATTR_RQ_PSN        = 4'd4;
  localparam logic [3:0] ATTR_SQ_PSN        = 4'd5;
  localparam logic [3:0] ATTR_TIMEOUT       = 4'd6;  // 4.096 us times two to its power, 0: no timer
  localparam logic [3:0] ATTR_RETRY_CNT     = 4'd7;
  localparam logic [3:0] ATTR_RNR_RETRY     = 4'd8;  // 7: without end
  localparam logic [3:0] ATTR_MIN_RNR_TIMER = 4'd9;

  // States of a queue pair, as enum ibv_qp_state numbers them.
  localparam logic [2:0] QP_RESET = 3'd0;
  localparam logic [2:0] QP_INIT  = 3'd1;
  localparam logic [2:0] QP_RTR   = 3'd2;
  localparam logic [2:0] QP_RTS   = 3'd3;
  localparam logic [2:0] QP_ERR   = 3'd6;

  // Operations of POST_SEND.
  localparam logic [2:0] WR_SEND      = 3'd0;
  localparam logic [2:0] WR_SEND_IMM  = 3'd1;
  localparam logic [2:0] WR_WRITE     = 3'd2;
  localparam logic [2:0] WR_WRITE_IMM = 3'd3;
  localparam logic [2:0] WR_READ      = 3'd4;

  // Operations of a completion.
  localparam logic [2:0] WC_SEND          = 3'd0;
  localparam logic [2:0] WC_WRITE         = 3'd1;
  localparam logic [2:0] WC_READ          = 3'd2;
  localparam logic [2:0] WC_RECV          = 3'd4;
  localparam logic [2:0] WC_RECV_WITH_IMM = 3'd5;

  // Statuses of a completion, as enum ibv_wc_status numbers them.
  localparam logic [4:0] WC_SUCCESS           = 5'd0;
  localparam logic [4:0] WC_LOC_LEN_ERR       = 5'd1;
  localparam logic [4:0] WC_WR_FLUSH_ERR      = 5'd5;
  localparam logic [4:0] WC_REM_INV_REQ_ERR   = 5'd9;
  localparam logic [4:0] WC_REM_ACCESS_ERR    = 5'd10;
  localparam logic [4:0] WC_REM_OP_ERR        = 5'd11;
  localparam logic [4:0] WC_RETRY_EXC_ERR     = 5'd12;
  localparam logic [4:0] WC_RNR_RETRY_EXC_ERR = 5'd13;

  // A command, its queue pair already an index.
  typedef struct packed {
    logic [2:0]  op;
    logic [7:0]  qp;
    logic [3:0]  attr;
    logic [31:0] value;
    logic [2:0]  wr;
    logic        signalled;
    logic        solicited;
    logic [31:0] wr_id;
    logic [31:0] laddr;
    logic [31:0] length;
    logic [63:0] raddr;
    logic [31:0] rkey;
    logic [31:0] imm;
  } cmd_t;

  // A packet to send; headers that its opcode does not have are ignored. laddr and len say where its payload lies in memory.
  typedef struct packed {
    logic [7:0]  qp;
    logic [7:0]  opcode;
    logic        se;
    logic        ackreq;
    logic [23:0] psn;
    logic [63:0] va;
    logic [31:0] rkey;
    logic [31:0] dmalen;
    logic [7:0]  syndrome;
    logic [23:0] msn;
    logic [31:0] imm;
    logic [31:0] laddr;
    logic [12:0] len;
  } tx_pkt_t;

  // A packet that has arrived whole, with a right ICRC, for a queue pair of this device. Its payload, len bytes, is in the packet buffer.
  typedef struct packed {
    logic [7:0]  qp;
    logic [7:0]  opcode;
    logic        ackreq;
    logic [23:0] psn;
    logic [63:0] va;
    logic [31:0] rkey;
    logic [31:0] dmalen;
    logic [7:0]  syndrome;
    logic [31:0] imm;
    logic [12:0] len;
  } rx_pkt_t;

  typedef struct packed {
    logic [7:0]  qp;
    logic [31:0] wr_id;
    logic [4:0]  status;
    logic [2:0]  opcode;
    logic [31:0] byte_len;
    logic        has_imm;
    logic [31:0] imm;
  } cqe_t;

  function automatic logic has_reth(input logic [7:0] op);
    has_reth = op == WRITE_FIRST || op == WRITE_ONLY || op == WRITE_ONLY_IMM || op == READ_REQUEST;
  endfunction

  function automatic logic has_aeth(input logic [7:0] op);
    has_aeth = op == READ_FIRST || op == READ_LAST || op == READ_ONLY || op == ACKNOWLEDGE;
  endfunction

  function automatic logic has_imm(input logic [7:0] op);
    has_imm = op == SEND_LAST_IMM || op == SEND_ONLY_IMM || op == WRITE_LAST_IMM || op == WRITE_ONLY_IMM;
  endfunction

  function automatic logic is_response(input logic [7:0] op);
    is_response = op >= READ_FIRST && op <= ACKNOWLEDGE;
  endfunction

  // Bytes of the extended headers between BTH and payload.
  function automatic logic [4:0] extended(input logic [7:0] op);
    extended = (has_reth(op) ? 5'd16 : 5'd0) + (has_aeth(op) ? 5'd4 : 5'd0) + (has_imm(op) ? 5'd4 : 5'd0);
  endfunction

  // Two to this power is the path MTU in bytes.
  function automatic logic [3:0] mtu_shift(input logic [2:0] code);
    mtu_shift = 4'd7 + {1'b0, code};
  endfunction

  // Packets that a message of len bytes takes: one at least.
  function automatic logic [23:0] packets(input logic [31:0] len, input logic [3:0] shift);
    logic [31:0] n;
    n = (len + (32'd1 << shift) - 32'd1) >> shift;
    packets = n == 0 ? 24'd1 : n[23:0];
  endfunction

  // Payload of packet i of a message of len bytes.
  function automatic logic [12:0] portion(input logic [31:0] len, input logic [31:0] i, input logic [3:0] shift);
    logic [31:0] rest;
    rest = len - (i << shift);
    portion = rest > (32'd1 << shift) ? 13'd1 << shift : rest[12:0];
  endfunction

  // The time that code in an RNR NAK asks to wait, in microseconds: 10, 20, 30, 40, 60, 80, 120...; code 0 is the longest.
  function automatic logic [19:0] rnr_us(input logic [4:0] code);
    logic [5:0] c;
    c = code == 0 ? 6'd32 : {1'b0, code};
    if (c == 1) rnr_us = 20'd10;
    else if (c[0]) rnr_us = 20'd30 << ((c - 6'd3) >> 1);
    else rnr_us = 20'd10 << (c >> 1);
  endfunction

  // One byte into a CRC-32, bits reflected.
  function automatic logic [31:0] crc32_byte(input logic [31:0] crc, input logic [7:0] data);
    integer i;
    crc32_byte = crc ^ {24'd0, data};
    for (i = 0; i < 8; i = i + 1) crc32_byte = (crc32_byte >> 1) ^ (crc32_byte[0] ? 32'hedb88320 : 32'd0);
  endfunction

endpackage
