package soft

import "ibwitness/packet"

// Faults on UC and UD.
var _ = faults(map[string]*Fault{
	"uc-ack":             {Text: "sends an Acknowledge on UC", Rule: "UC-RSP-001", Service: packet.UC, match: anySend, spoil: become(uc(packet.Acknowledge))},
	"uc-read":            {Text: "sends a READ request on UC", Rule: "UC-OPC-001", Service: packet.UC, match: anySend, spoil: become(uc(packet.ReadRequest))},
	"uc-atomic":          {Text: "sends a FetchAdd on UC", Rule: "UC-OPC-001", Service: packet.UC, match: anySend, spoil: become(uc(packet.FetchAdd))},
	"uc-invalidate":      {Text: "sends SEND with Invalidate on UC", Rule: "UC-OPC-002", Service: packet.UC, match: anySend, spoil: become(uc(packet.SendOnlyInv))},
	"rc-on-uc":           {Text: "sends an RC opcode to a UC queue pair", Rule: "BTH-004", Service: packet.UC, match: anySend, spoil: become(rc(packet.SendOnly))},
	"uc-first-in-send":   {Text: "sends First within a SEND on UC", Rule: "UC-SEQ-001", Service: packet.UC, match: fn(packet.SendMiddle), spoil: become(uc(packet.SendFirst))},
	"uc-middle-alone":    {Text: "sends Middle on UC while no message is open", Rule: "UC-SEQ-001", Service: packet.UC, match: anySend, spoil: become(uc(packet.SendMiddle))},
	"uc-write-in-send":   {Text: "sends WRITE Middle within a SEND on UC", Rule: "UC-SEQ-001", Service: packet.UC, match: fn(packet.SendMiddle), spoil: become(uc(packet.WriteMiddle))},
	"uc-psn-ahead":       {Text: "skips a PSN on UC", Rule: "UC-PSN-001", Service: packet.UC, match: anySend, spoil: psn(5)},
	"uc-not-sent":        {Text: "leaves a packet out on UC", Rule: "UC-PSN-001", Service: packet.UC, match: fn(packet.SendMiddle), drop: true},
	"uc-twice":           {Text: "sends a packet twice on UC", Rule: "UC-PSN-002", Service: packet.UC, match: anySend, again: true},
	"uc-middle-short":    {Text: "sends a UC Middle that is not full", Rule: "UC-LEN-001", Service: packet.UC, match: fn(packet.SendMiddle), spoil: resize(252)},
	"uc-last-empty":      {Text: "sends a UC Last without payload", Rule: "UC-LEN-001", Service: packet.UC, match: fn(packet.SendLast), spoil: resize(0)},
	"uc-only-long":       {Text: "sends a UC Only longer than the path MTU", Rule: "UC-LEN-001", Service: packet.UC, match: anySend, spoil: resize(260)},
	"uc-dmalen":          {Text: "announces a longer UC WRITE than it sends", Rule: "UC-LEN-002", Service: packet.UC, match: anyWrite, spoil: func(p *packet.Packet) { p.DMALen += 4 }},
	"uc-write-short":     {Text: "leaves out the end of a UC WRITE", Rule: "UC-LEN-002", Service: packet.UC, match: fn(packet.WriteLast), spoil: func(p *packet.Packet) { resize(len(p.Payload) - 4)(p) }},
	"uc-only-as-first":   {Text: "begins a UC WRITE of one packet with First", Rule: "UC-LEN-003", Service: packet.UC, match: fn(packet.WriteFirst), spoil: func(p *packet.Packet) { p.DMALen = 200 }},
	"uc-ackreq":          {Text: "sets AckReq on UC", Rule: "BTH-015", Service: packet.UC, match: anySend, spoil: func(p *packet.Packet) { p.AckReq = true }},
	"uc-se-in-first":     {Text: "sets SE in a UC SEND First", Rule: "UC-SE-001", Service: packet.UC, match: fn(packet.SendFirst), spoil: func(p *packet.Packet) { p.SE = true }},
	"uc-migreq":          {Text: "changes MigReq in one packet on UC", Rule: "UC-MIG-001", Service: packet.UC, match: anySend, spoil: func(p *packet.Packet) { p.MigReq = !p.MigReq }},
	"uc-other-source":    {Text: "sends on UC from an address that is not its own", Rule: "UC-ADR-001", Service: packet.UC, match: anySend, spoil: func(p *packet.Packet) { p.Src.Lo ^= 0xF0 }},
	"ud-first":           {Text: "sends SEND First on UD", Rule: "UD-OPC-001", Service: packet.UD, match: anySend, spoil: become(ud(packet.SendFirst))},
	"ud-write":           {Text: "sends WRITE Only on UD", Rule: "UD-OPC-001", Service: packet.UD, match: anySend, spoil: become(ud(packet.WriteOnly))},
	"ud-reserved-byte":   {Text: "sets the reserved byte of the DETH", Rule: "UD-HDR-002", Service: packet.UD, match: anySend, spoil: func(p *packet.Packet) { p.DETHRes = 1 }},
	"ud-long":            {Text: "sends a datagram longer than any MTU", Rule: "UD-LEN-001", Service: packet.UD, match: anySend, spoil: resize(4100)},
	"ud-start-psn":       {Text: "begins on UD with another PSN than it was set up with", Rule: "UD-PSN-002", Service: packet.UD},
	"ud-psn-stands":      {Text: "sends all datagrams with one PSN", Rule: "UD-PSN-001", Service: packet.UD, match: anyDatagram, always: true, spoil: func(p *packet.Packet) { p.PSN = 0x1234 }},
	"ud-psn-down":        {Text: "counts the PSN of datagrams down", Rule: "UD-PSN-001", Service: packet.UD, match: anyDatagram, always: true, spoil: func(p *packet.Packet) { p.PSN = -p.PSN & packet.PSNMask }},
	"ud-ack":             {Text: "sends an Acknowledge on UD", Rule: "UD-ACK-001", Service: packet.UD, match: anySend, spoil: become(ud(packet.Acknowledge))},
	"ud-qkey":            {Text: "sends another Q_Key than the destination's", Rule: "UD-QKEY-001", Service: packet.UD, match: anySend, spoil: func(p *packet.Packet) { p.QKey ^= 1 }},
	"ud-gsi-qkey":        {Text: "sends to QP 1 with a Q_Key that is not its own", Rule: "UD-QKEY-003", Service: packet.UD, match: anySend, spoil: func(p *packet.Packet) { p.DestQP = 1 }},
	"ud-gsi-length":      {Text: "sends a short datagram to QP 1", Rule: "UD-QP1-001", Service: packet.UD, match: anySend, spoil: func(p *packet.Packet) { p.DestQP, p.QKey = 1, 0x80010000 }},
	"ud-qp0":             {Text: "sends to QP 0 on RoCE", Rule: "UD-QP1-002", Service: packet.UD, match: anySend, spoil: func(p *packet.Packet) { p.DestQP = 0 }},
	"ud-multicast-qp":    {Text: "sends to the multicast QP at a unicast address", Rule: "UD-MC-001", Service: packet.UD, match: anySend, spoil: func(p *packet.Packet) { p.DestQP = 0xFFFFFF }},
	"ud-multicast-group": {Text: "sends to a group, but not to its QP", Rule: "UD-MC-001", Service: packet.UD, match: anySend, spoil: func(p *packet.Packet) { p.Dst = packet.IPv4Addr([]byte{239, 1, 1, 1}) }},
	"ud-pkey":            {Text: "sends another P_Key than its queue pair has", Rule: "UD-PKY-001", Service: packet.UD, match: anySend, spoil: func(p *packet.Packet) { p.PKey = 0x8001 }},
	"ud-ackreq":          {Text: "sets AckReq on UD", Rule: "BTH-015", Service: packet.UD, match: anySend, spoil: func(p *packet.Packet) { p.AckReq = true }},
	"rc-on-ud":           {Text: "sends an RC opcode to a UD queue pair", Rule: "BTH-004", Service: packet.UD, match: anySend, spoil: become(rc(packet.SendOnly))},
})

// anyDatagram matches only datagrams: the fault changes all of them, and the device may have other queue pairs.
func anyDatagram(p *packet.Packet) bool { return anySend(p) && p.Opcode.Service() == packet.UD }
