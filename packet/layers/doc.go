// Package layers has the headers of InfiniBand and RoCE (specification tables of chapters 5, 7, 8, 9 and annexes A14, A16,
// A17, A19) as gopacket layers. Importing it, be it blank, registers UDP port 4791 (RoCEv2), EtherType 0x8915 (RoCEv1) and link
// type 247 (native InfiniBand), so that any program that uses gopacket decodes them; see the example.
//
// The layers come in the order of the wire, but for the trailers: gopacket goes from a layer to its payload, so a trailer comes
// before what it encloses. A RoCEv2 WRITE is Ethernet, IPv4, UDP, BTH, RETH, ICRC, Payload; a native one is
// LRH, VCRC, BTH, RETH, ICRC, Payload. ICRC holds the pad bytes too, and Payload is without them.
//
// Which extension header follows is known only from the opcode of the BTH. With gopacket.NewPacket nothing needs to be done. For
// gopacket.DecodingLayerParser the layers of one parser share that knowledge when they come from one Headers. A layer by itself, as
// in "var reth layers.RETH", takes it that no further extension header follows, and that there is no pad.
//
// ICRC and VCRC cannot be computed while gopacket serializes, from the inside to the outside: they cover the outer headers.
// Seal writes both into the finished bytes.
//
// Others may import it: its API is kept stable.
package layers
