// Makes a frame of a packet: Ethernet, IPv4, UDP, BTH, what headers its opcode has, payload, pad and ICRC; no FCS. Requester and responder
// take turns. Their packet is done when its last byte has left: timers that start then see what a tap sees.
module tx_framer
  import roce_pkg::*;
#(
    parameter int AW = 16,
    parameter int N_QP = 4,
    parameter logic [31:0] LOCAL_IP = 32'h0a000001
) (
    input  logic          clk,
    input  logic          resetn,
    input  logic [   3:0] bug,
    input  cmd_t          cmd,             // address vectors are kept here
    input  logic          cmd_valid,
    input  logic          req_valid,
    input  tx_pkt_t       req,
    output logic          req_done,
    input  logic          rsp_valid,
    input  tx_pkt_t       rsp,
    output logic          rsp_done,
    output logic [AW-1:0] mem_raddr,
    input  logic [   7:0] mem_rdata,
    output logic          valid,
    input  logic          ready,
    output logic [   7:0] data,
    output logic          last
);
  localparam int HEADER = 74;  // Ethernet to BTH, and up to 20 bytes more
  localparam logic [2:0] IDLE = 0, HEAD = 1, PAYLOAD = 2, PAD = 3, CRC = 4, DONE = 5;

  logic [23:0] dest_qpn[0:N_QP-1];
  logic [31:0] dest_ip[0:N_QP-1];

  logic [2:0] state;
  logic mine;                          // the packet is the responder's
  logic turn;                          // the responder is first
  logic choice;
  logic [HEADER*8-1:0] header;         // what is left of it, the next byte first
  logic [6:0] left;                    // bytes of it, or of the pad or ICRC
  logic [12:0] rest;                   // bytes of payload
  logic [31:0] addr;
  logic [15:0] ident;
  logic [31:0] crc;
  logic take;

  // The packet that is next, and its headers.
  tx_pkt_t p;
  logic [12:0] len;                    // of the packet that is being sent
  logic [1:0] pad;
  logic [15:0] ip_length;
  logic [31:0] peer;
  logic [159:0] ext;
  logic [19:0] sum;
  logic [16:0] folded;
  logic [15:0] checksum;

  assign choice    = rsp_valid && (turn || !req_valid);
  assign p         = choice ? rsp : req;
  assign peer      = dest_ip[p.qp[$clog2(N_QP)-1:0]];
  assign pad       = bug == 2 ? 2'd0 : 2'd0 - p.len[1:0];
  assign ip_length = 16'd44 + {11'd0, extended(p.opcode)} + {3'd0, p.len} + {14'd0, pad};
  assign ext       = has_reth(p.opcode) ? {p.va, p.rkey, p.dmalen, p.imm} :
                     has_aeth(p.opcode) ? {p.syndrome, p.msn, 128'd0} : {p.imm, 128'd0};
  // IPv4: version 4, no options, TOS 0, do not fragment, TTL 64, UDP.
  assign sum       = 20'h04500 + {4'd0, ip_length} + {4'd0, ident} + 20'h04000 + 20'h04011 + {4'd0, LOCAL_IP[31:16]} +
                     {4'd0, LOCAL_IP[15:0]} + {4'd0, peer[31:16]} + {4'd0, peer[15:0]};
  assign folded    = {1'b0, sum[15:0]} + {13'd0, sum[19:16]};
  assign checksum  = ~(folded[15:0] + {15'd0, folded[16]});

  assign valid     = state == HEAD || state == PAYLOAD || state == PAD || state == CRC;
  assign take      = valid && ready;
  assign last      = state == CRC && left == 1;
  assign req_done  = state == DONE && !mine;
  assign rsp_done  = state == DONE && mine;
  // The next byte of payload: reading takes a cycle. A memory of words whose lanes are wired in the wrong order is bug 10.
  assign mem_raddr = AW'(state == PAYLOAD && ready ? addr + 1 : addr) ^ (bug == 10 ? AW'(3) : AW'(0));

  assign data      = state == PAYLOAD ? mem_rdata : state == PAD ? 8'd0 : state == CRC ? crc[7:0] : header[HEADER*8-1-:8];

  logic [31:0] computed;
  logic [31:0] after;  // the CRC with the byte before the first of the ICRC
  logic [6:0] sent;
  icrc u_icrc (
      .clk,
      .clear(state == IDLE),
      .en(take && sent >= 7'd14 && state != CRC),
      .data,
      .crc(computed),
      .residue()
  );
  // Bug 9: the last word of a packet with little payload is missing in the ICRC.
  assign after = bug == 9 && len != 0 && len < 13'd4 ? computed ^ 32'h00010000 : computed;

  always_ff @(posedge clk)
    if (cmd_valid && cmd.op == CMD_MODIFY_QP) begin
      if (cmd.attr == ATTR_DEST_QPN) dest_qpn[cmd.qp[$clog2(N_QP)-1:0]] <= cmd.value[23:0];
      if (cmd.attr == ATTR_DEST_IP) dest_ip[cmd.qp[$clog2(N_QP)-1:0]] <= cmd.value;
    end

  always_ff @(posedge clk)
    if (!resetn) begin
      state <= IDLE;
      turn  <= 0;
      ident <= 0;
    end else begin
      if (take && sent != 7'd127) sent <= sent + 1;
      case (state)
        IDLE:
        if (req_valid || rsp_valid) begin
          state <= HEAD;
          sent  <= 0;
          mine  <= choice;
          turn  <= !choice;
          len   <= p.len;
          ident <= ident + 1;
          left  <= 7'd54 + {2'd0, extended(p.opcode)};
          rest  <= p.len;
          addr  <= p.laddr;
          header <= {
            16'h0200, peer, 16'h0200, LOCAL_IP, 16'h0800,
            16'h4500, ip_length, ident, 16'h4000, 16'h4011, checksum, LOCAL_IP, peer,
            16'hc000 + {8'd0, p.qp}, 16'd4791, ip_length - 16'd20, 16'd0,
            p.opcode, p.se, 1'b1, pad, 4'd0, 16'hffff, 8'd0, dest_qpn[p.qp[$clog2(N_QP)-1:0]], p.ackreq, 7'd0, p.psn,
            ext
          };
        end
        HEAD:
        if (take) begin
          header <= header << 8;
          left   <= left - 1;
          if (left == 1) begin
            state <= rest != 0 ? PAYLOAD : CRC;
            left  <= 4;
          end
        end
        PAYLOAD:
        if (take) begin
          addr <= addr + 1;
          rest <= rest - 1;
          if (rest == 1) begin
            state <= len[1:0] != 0 && bug != 2 ? PAD : CRC;
            left  <= len[1:0] != 0 && bug != 2 ? 7'd4 - {5'd0, len[1:0]} : 7'd4;
          end
        end
        PAD:
        if (take) begin
          left <= left - 1;
          if (left == 1) begin
            state <= CRC;
            left  <= 4;
          end
        end
        CRC:
        if (take) begin
          left <= left - 1;
          if (left == 1) state <= DONE;
        end
        default: state <= IDLE;  // DONE: whose packet it was takes the next one away
      endcase
    end

  // The ICRC is taken over when its first byte is due, and goes out low byte first.
  logic [31:0] shifted;
  assign crc = left == 4 ? after : shifted;
  always_ff @(posedge clk) if (take && state == CRC) shifted <= crc >> 8;
endmodule
