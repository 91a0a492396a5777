// The invariant CRC of a RoCEv2 packet over IPv4, byte by byte from the IP header on (Annex A17.3.3). Eight bytes of ones stand for
// the LRH that RoCE does not have; fields that the network may change count as ones.
module icrc
  import roce_pkg::crc32_byte;
(
    input  logic        clk,
    input  logic        clear,     // before the first byte of a packet
    input  logic        en,
    input  logic [ 7:0] data,
    output logic [31:0] crc,       // what goes onto the wire, its low byte first
    output logic        residue    // the packet was right, if its last byte so far is that of its ICRC
);
  localparam logic [31:0] SEED = 32'hdebb20e3;     // CRC-32 of eight bytes of ones
  localparam logic [31:0] RESIDUE = 32'hdebb20e3;  // of any data and its CRC

  logic [31:0] state;
  logic [ 5:0] index;  // stays at 63 once past the headers
  logic        masked;

  // TOS, TTL and checksum of IPv4, the checksum of UDP, the byte of BTH that has FECN and BECN.
  assign masked = index == 6'd1 || index == 6'd8 || index == 6'd10 || index == 6'd11 || index == 6'd26 || index == 6'd27 || index == 6'd32;
  assign crc = ~state;
  assign residue = state == RESIDUE;

  always_ff @(posedge clk)
    if (clear) begin
      state <= SEED;
      index <= 0;
    end else if (en) begin
      state <= crc32_byte(state, masked ? 8'hff : data);
      if (index != 6'd63) index <= index + 1;
    end
endmodule
