package soft

import "ibwitness/packet"

var (
	anySend  = fn(packet.SendOnly)
	anyWrite = fn(packet.WriteOnly)
	isACK    = ackOf(packet.ACK)
)

// Faults in the headers that every packet has.
var _ = faults(map[string]*Fault{
	"tver":                 {Text: "sends a request with transport version 1", Rule: "BTH-002", match: anySend, spoil: func(p *packet.Packet) { p.TVer = 1 }},
	"tver-in-ack":          {Text: "sends an ACK with transport version 15", Rule: "BTH-002", Responder: true, match: isACK, spoil: func(p *packet.Packet) { p.TVer = 15 }},
	"reserved-opcode":      {Text: "sends a request with a reserved opcode", Rule: "BTH-003", match: anySend, spoil: become(0x15)},
	"reserved-answer":      {Text: "answers with a reserved opcode", Rule: "BTH-003", Responder: true, match: isACK, spoil: become(0x1B)},
	"uc-on-rc":             {Text: "sends a UC opcode to an RC queue pair", Rule: "BTH-004", match: anySend, spoil: become(uc(packet.SendOnly))},
	"ud-on-rc":             {Text: "sends a UD opcode to an RC queue pair", Rule: "BTH-004", match: anySend, spoil: become(ud(packet.SendOnly))},
	"xrc-on-rc":            {Text: "sends an XRC opcode to an RC queue pair", Rule: "BTH-004", match: anySend, spoil: become(packet.Op(packet.XRC, packet.SendOnly))},
	"no-pad":               {Text: "does not pad a payload to a multiple of four", Rule: "BTH-006", match: padded, spoil: func(p *packet.Packet) { p.PadCnt, p.Pad = 0, nil; p.FitLengths() }},
	"pad-in-middle":        {Text: "counts a byte of a SEND Middle as pad", Rule: "BTH-007", match: fn(packet.SendMiddle), spoil: func(p *packet.Packet) { p.PadCnt = 1 }},
	"pad-in-ack":           {Text: "sends an ACK with a pad count", Rule: "BTH-007", Responder: true, match: isACK, spoil: func(p *packet.Packet) { p.PadCnt = 2 }},
	"pad-not-zero":         {Text: "leaves old bytes in the pad", Rule: "BTH-008", match: padded, spoil: func(p *packet.Packet) { p.Pad = []byte{0xA5, 0xA5, 0xA5}[:len(p.Pad)] }},
	"reserved-ecn-bits":    {Text: "sets a reserved bit beside FECN and BECN", Rule: "BTH-009", match: anySend, spoil: func(p *packet.Packet) { p.Resv8a = 1 }},
	"reserved-ackreq-bits": {Text: "sets a reserved bit beside AckReq", Rule: "BTH-009", match: anySend, spoil: func(p *packet.Packet) { p.Resv7 = 0x40 }},
	"to-qp1":               {Text: "sends an RC request to QP 1", Rule: "BTH-010", match: anySend, spoil: func(p *packet.Packet) { p.DestQP = 1 }},
	"other-qp":             {Text: "sends a request to the QP beside its peer's", Rule: "BTH-011", match: anySend, spoil: func(p *packet.Packet) { p.DestQP++ }},
	"se-in-first":          {Text: "sets SE in a SEND First", Rule: "BTH-012", match: fn(packet.SendFirst), spoil: func(p *packet.Packet) { p.SE = true }},
	"se-in-write":          {Text: "sets SE in a WRITE without immediate data", Rule: "BTH-012", match: anyWrite, spoil: func(p *packet.Packet) { p.SE = true }},
	"se-in-read":           {Text: "sets SE in a READ request", Rule: "BTH-012", match: fn(packet.ReadRequest), spoil: func(p *packet.Packet) { p.SE = true }},
	"se-in-answer":         {Text: "sets SE in a READ response", Rule: "BTH-012", Responder: true, match: fn(packet.ReadRespMiddle), spoil: func(p *packet.Packet) { p.SE = true }},
	"migreq":               {Text: "changes MigReq in one packet", Rule: "BTH-013", match: anySend, spoil: func(p *packet.Packet) { p.MigReq = !p.MigReq }},
	"fecn":                 {Text: "sets FECN on RoCE", Rule: "BTH-016", match: anySend, spoil: func(p *packet.Packet) { p.FECN = true }},
	"becn":                 {Text: "sets BECN in an ACK", Rule: "BTH-016", Responder: true, match: isACK, spoil: func(p *packet.Packet) { p.BECN = true }},
	"too-short":            {Text: "sends a READ request without its RETH", Rule: "BTH-018", match: fn(packet.ReadRequest), spoil: cutShort},
	"pkey-zero":            {Text: "sends P_Key 0", Rule: "PKY-001", match: anySend, spoil: func(p *packet.Packet) { p.PKey = 0 }},
	"pkey-invalid-in-ack":  {Text: "sends P_Key 0x8000 in an ACK", Rule: "PKY-001", Responder: true, match: isACK, spoil: func(p *packet.Packet) { p.PKey = 0x8000 }},
	"pkey-other":           {Text: "sends another P_Key of its table", Rule: "PKY-004", match: anySend, spoil: func(p *packet.Packet) { p.PKey = 0x8001 }},
	"pkey-other-in-ack":    {Text: "answers with another P_Key of its table", Rule: "PKY-004", Responder: true, match: isACK, spoil: func(p *packet.Packet) { p.PKey = 0x8001 }},
	"ip-options":           {Text: "sends an IPv4 option", Rule: "ROC-V2-003", match: anySend, spoil: withOption},
	"dscp":                 {Text: "sends another traffic class than its address vector has", Rule: "ROC-V2-004", match: anySend, spoil: func(p *packet.Packet) { p.TClass = 26 << 2 }},
	"ecn-marked":           {Text: "marks its own packet as having met congestion", Rule: "ROC-V2-005", match: anySend, spoil: func(p *packet.Packet) { p.TClass |= 3 }},
	"ip-length":            {Text: "counts four bytes too many in the IPv4 total length", Rule: "ROC-V2-006", match: anySend, spoil: func(p *packet.Packet) { p.PayLen += 4 }},
	"may-fragment":         {Text: "lets the network fragment a packet", Rule: "ROC-V2-007", match: anySend, spoil: func(p *packet.Packet) { p.IPFrag = 0 }},
	"more-fragments":       {Text: "says that more fragments follow", Rule: "ROC-V2-008", match: anySend, spoil: func(p *packet.Packet) { p.IPFrag = 0x6000 }},
	"hop-limit":            {Text: "sends another hop limit than its address vector has", Rule: "ROC-V2-009", always: true, match: func(*packet.Packet) bool { return true }, spoil: func(p *packet.Packet) { p.HopLmt -= 3 }},
	"other-destination":    {Text: "sends a request to another address than its peer's", Rule: "ROC-V2-012", match: anySend, spoil: func(p *packet.Packet) { p.Dst.Lo ^= 0xF0 }},
	"dscp-ipv6":            {Text: "sends another IPv6 traffic class than its address vector has", Rule: "ROC-V2-013", Needs: IPv6, match: anySend, spoil: func(p *packet.Packet) { p.TClass = 26 << 2 }},
	"ipv6-length":          {Text: "counts four bytes too many in the IPv6 payload length", Rule: "ROC-V2-014", Needs: IPv6, match: anySend, spoil: func(p *packet.Packet) { p.PayLen += 4 }},
	"udp-length":           {Text: "counts four bytes too few in the UDP length", Rule: "ROC-V2-016", match: anySend, spoil: func(p *packet.Packet) { p.UDPLen -= 4 }},
	"udp-length-in-ack":    {Text: "counts eight bytes too many in the UDP length of an ACK", Rule: "ROC-V2-016", Responder: true, match: isACK, spoil: func(p *packet.Packet) { p.UDPLen += 8 }},
	"udp-checksum":         {Text: "sends a wrong UDP checksum", Rule: "ROC-V2-017", match: anySend, spoil: func(p *packet.Packet) { p.UDPSum = 0x1234 }},
	"source-port":          {Text: "changes its UDP source port for one packet", Rule: "ROC-V2-018", match: anySend, spoil: func(p *packet.Packet) { p.SrcPort ^= 1 }},
	"icrc":                 {Text: "sends a request with a wrong ICRC", Rule: "ROC-V2-019", match: anySend, raw: func(p *packet.Packet) { p.ICRC ^= 1 }},
	"icrc-in-answer":       {Text: "sends a READ response with a wrong ICRC", Rule: "ROC-V2-019", Responder: true, match: fn(packet.ReadRespMiddle), raw: func(p *packet.Packet) { p.ICRC ^= 1 << 31 }},
	"damaged":              {Text: "damages the payload and does not compute the ICRC for it", Rule: "ROC-V2-019", match: loaded(anySend), raw: damage},
	"roce1":                {Text: "sends one packet of a connection in RoCEv1", Rule: "ROC-V2-027", match: anySend, raw: func(p *packet.Packet) { p.Encap, p.Has = packet.RoCEv1, 0; p.Complete() }},
	"other-source":         {Text: "sends from an address that is not its own", Rule: "ROC-V2-029", match: anySend, spoil: func(p *packet.Packet) { p.Src.Lo ^= 0xF0 }},
	"multicast-source":     {Text: "sends from a multicast address", Rule: "NET-GRH-011", match: anySend, spoil: sourceIs(packet.IPv4Addr([]byte{239, 1, 1, 1}))},
	"zero-source":          {Text: "sends from the IPv6 address zero", Rule: "NET-GRH-011", Needs: IPv6, match: anySend, spoil: sourceIs(packet.Addr{})},
	"rc-to-multicast":      {Text: "sends an RC request to a multicast address", Rule: "UD-MC-004", match: anySend, spoil: func(p *packet.Packet) { p.Dst = packet.IPv4Addr([]byte{239, 1, 1, 1}) }},
})

// sourceIs gives a packet another source address, or in a GRH on a native link another source GID.
func sourceIs(a packet.Addr) func(p *packet.Packet) {
	return func(p *packet.Packet) {
		if p.Has&packet.HasLRH == 0 {
			p.Src = a
		} else if p.Has&packet.HasGRH != 0 {
			p.SGID = a
		}
	}
}

// padded matches packets with pad bytes.
func padded(p *packet.Packet) bool { return p.PadCnt > 0 }

// loaded matches those with payload.
func loaded(match func(*packet.Packet) bool) func(*packet.Packet) bool {
	return func(p *packet.Packet) bool { return len(p.Payload) > 0 && match(p) }
}

// damage changes a byte of the payload, which is a copy from then on: the memory stays.
func damage(p *packet.Packet) {
	p.Payload = append([]byte(nil), p.Payload...)
	p.Payload[len(p.Payload)/2] ^= 4
}

// withOption puts one word of options after the IPv4 header.
func withOption(p *packet.Packet) {
	p.IHL = 6
	p.Data = append(p.Append(nil)[:20:20], 1, 1, 1, 0)
	p.FitLengths()
}

// cutShort leaves the extension headers out.
func cutShort(p *packet.Packet) {
	p.Has &^= packet.HasExtensions
	p.FitLengths()
}
