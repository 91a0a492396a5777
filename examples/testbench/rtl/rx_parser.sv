// Takes one frame after the other apart. What is no RoCEv2 packet for this device, is cut, or fails the ICRC is dropped without a word
// (9.6.1.1, CA17-23). Of the rest it offers the headers, with the payload in the packet buffer, and waits until the packet is done with.
module rx_parser
  import roce_pkg::*;
#(
    parameter logic [31:0] LOCAL_IP = 32'h0a000001,
    parameter logic [23:0] QPN_BASE = 24'h000100,
    parameter int N_QP = 4
) (
    input  logic        clk,
    input  logic        resetn,
    // bytes of frames from the destination MAC address on, without FCS
    input  logic        valid,
    output logic        ready,
    input  logic [ 7:0] data,
    input  logic        last,
    input  logic        bad,
    // a packet, until it is done
    output logic        pkt_valid,
    output rx_pkt_t     pkt,
    input  logic        pkt_done,
    // its payload
    input  logic [12:0] buf_raddr,
    output logic [ 7:0] buf_rdata
);
  localparam logic [13:0] ETHERNET = 14;
  localparam logic [13:0] HEADERS = 54;  // Ethernet, IPv4, UDP, BTH
  localparam logic [13:0] ICRC = 4;

  logic [7:0] buffer[0:8191];
  logic [13:0] n, length, header;  // byte of the frame, where the IP packet ends, where the payload begins
  logic [31:0] word;               // the last four bytes, the newest included
  logic [23:0] older;
  logic [1:0] pad;
  logic [23:0] qpn;
  logic [13:0] payload;
  logic take, ours, whole, right, covered, check;

  assign ready   = !pkt_valid && !check;
  assign take    = valid && ready;
  assign word    = {older, data};
  assign covered  = n >= ETHERNET && n < length;
  assign header  = HEADERS + {9'd0, extended(pkt.opcode)};
  assign payload = length - header - ICRC - {12'd0, pad};

  icrc u_icrc (
      .clk,
      .clear(n == 0),
      .en(take && covered),
      .data,
      .crc(),
      .residue(right)
  );

  always_ff @(posedge clk) begin
    buf_rdata <= buffer[buf_raddr];
    if (take && n >= header) buffer[n[12:0]-header[12:0]] <= data;
  end

  always_ff @(posedge clk)
    if (!resetn) begin
      n         <= 0;
      length    <= 14'h3fff;
      ours      <= 1;
      check     <= 0;
      pkt_valid <= 0;
    end else begin
      if (take) begin
        older <= {older[15:0], data};
        n <= last ? 0 : n + 1;
        case (n)
          14'd13: ours <= word[15:0] == 16'h0800;
          14'd14: if (data != 8'h45) ours <= 0;  // version 4, no options
          14'd17: length <= ETHERNET + word[13:0];
          14'd23: if (data != 8'd17) ours <= 0;
          14'd33: if (word != LOCAL_IP) ours <= 0;
          14'd37: if (word[15:0] != 16'd4791) ours <= 0;
          14'd39: if (word[13:0] + 14'd34 != length) ours <= 0;
          14'd42: begin
            pkt.opcode <= data;
            if (data[7:5] != 0) ours <= 0;
          end
          14'd43: begin
            pad <= data[5:4];
            if (data[3:0] != 0) ours <= 0;  // TVer
          end
          14'd45: if (word[14:0] != 15'h7fff) ours <= 0;  // the default partition
          14'd49: qpn <= word[23:0] - QPN_BASE;
          14'd50: pkt.ackreq <= data[7];
          14'd53: begin
            pkt.psn <= word[23:0];
            if (qpn >= N_QP[23:0]) ours <= 0;
            pkt.qp <= qpn[7:0];
          end
          14'd57: begin
            pkt.va[63:32] <= word;
            pkt.imm       <= word;
            pkt.syndrome  <= word[31:24];
          end
          14'd61: pkt.va[31:0] <= word;
          14'd65: pkt.rkey <= word;
          14'd69: pkt.dmalen <= word;
          14'd73: if (has_reth(pkt.opcode)) pkt.imm <= word;
          default: ;
        endcase
        if (last) begin
          check <= 1;
          whole <= n + 1 >= length && length >= header + ICRC && n >= 14'd57 && !bad;
        end
      end
      if (check) begin  // the CRC has taken the last byte
        check     <= 0;
        pkt_valid <= ours && whole && right && payload <= 14'd4096;
        pkt.len   <= payload[12:0];
        length    <= 14'h3fff;
        ours      <= 1;
      end
      if (pkt_done) pkt_valid <= 0;
    end
endmodule
