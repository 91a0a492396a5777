package soft

import "ibwitness/packet"

// Faults of the requester that show in one packet.
var _ = faults(map[string]*Fault{
	"only-in-message":       {Text: "sends Only within a SEND", Rule: "RC-SEQ-001", match: fn(packet.SendMiddle), spoil: become(rc(packet.SendOnly))},
	"write-in-send":         {Text: "sends WRITE Middle within a SEND", Rule: "RC-SEQ-001", match: fn(packet.SendMiddle), spoil: become(rc(packet.WriteMiddle))},
	"wrong-opcode-last":     {Text: "ends a SEND with WRITE Last", Rule: "RC-SEQ-001", match: fn(packet.SendLast), spoil: become(rc(packet.WriteLast))},
	"send-in-write":         {Text: "sends SEND Middle within a WRITE", Rule: "RC-SEQ-002", match: fn(packet.WriteMiddle), spoil: become(rc(packet.SendMiddle))},
	"middle-of-nothing":     {Text: "sends SEND Middle while no message is open", Rule: "RC-SEQ-003", match: anySend, spoil: become(rc(packet.SendMiddle))},
	"last-of-nothing":       {Text: "sends WRITE Last while no message is open", Rule: "RC-SEQ-003", match: anyWrite, spoil: become(rc(packet.WriteLast))},
	"read-in-send":          {Text: "sends a READ request within a SEND", Rule: "RC-SEQ-004", match: fn(packet.SendMiddle), spoil: become(rc(packet.ReadRequest), func(p *packet.Packet) { p.DMALen = 16 })},
	"atomic-in-send":        {Text: "sends a FetchAdd within a SEND", Rule: "RC-SEQ-004", match: fn(packet.SendMiddle), spoil: become(rc(packet.FetchAdd))},
	"read-with-payload":     {Text: "sends a READ request with payload", Rule: "RC-SEQ-007", match: fn(packet.ReadRequest), spoil: resize(8)},
	"atomic-with-payload":   {Text: "sends a FetchAdd with payload", Rule: "RC-SEQ-007", match: fn(packet.FetchAdd), spoil: resize(4)},
	"pmtu-short-first":      {Text: "sends a First packet that is not full", Rule: "RC-LEN-001", match: fn(packet.SendFirst), spoil: resize(128)},
	"pmtu-short-middle":     {Text: "sends a Middle packet that is not full", Rule: "RC-LEN-001", match: fn(packet.SendMiddle), spoil: resize(252)},
	"pmtu-long-middle":      {Text: "sends a WRITE Middle longer than the path MTU", Rule: "RC-LEN-001", match: fn(packet.WriteMiddle), spoil: resize(512)},
	"last-empty":            {Text: "sends a Last packet without payload", Rule: "RC-LEN-002", match: fn(packet.SendLast), spoil: resize(0)},
	"last-long":             {Text: "sends a Last packet longer than the path MTU", Rule: "RC-LEN-002", match: fn(packet.SendLast), spoil: resize(260)},
	"only-long":             {Text: "sends an Only packet longer than the path MTU", Rule: "RC-LEN-003", match: anySend, spoil: resize(4100)},
	"dmalen-limit":          {Text: "asks for more than 2^31 bytes", Rule: "RC-LEN-004", match: fn(packet.ReadRequest), spoil: func(p *packet.Packet) { p.DMALen = 1<<31 + 1 }},
	"wrong-dmalen":          {Text: "announces a longer WRITE than it sends", Rule: "RC-LEN-005", match: anyWrite, spoil: func(p *packet.Packet) { p.DMALen += 4 }},
	"write-last-short":      {Text: "leaves out the end of a WRITE", Rule: "RC-LEN-005", match: fn(packet.WriteLast), spoil: func(p *packet.Packet) { resize(len(p.Payload) - 4)(p) }},
	"dmalen-zero":           {Text: "announces a WRITE of no bytes and sends some", Rule: "RC-LEN-005", match: anyWrite, spoil: func(p *packet.Packet) { p.DMALen = 0 }},
	"psn-ahead":             {Text: "skips a PSN", Rule: "RC-PSN-004", match: anySend, spoil: psn(1)},
	"psn-far":               {Text: "jumps far ahead in PSNs", Rule: "RC-PSN-004", match: anySend, spoil: psn(100000)},
	"psn-in-message":        {Text: "skips a PSN within a message", Rule: "RC-PSN-004", match: fn(packet.SendMiddle), spoil: psn(1)},
	"middle-not-sent":       {Text: "leaves a packet of a message out", Rule: "RC-PSN-004", match: fn(packet.SendMiddle), drop: true},
	"no-ackreq":             {Text: "asks for no acknowledgement", Rule: "RC-ACK-002", match: lastSends, always: true, spoil: func(p *packet.Packet) { p.AckReq = false }},
	"atomic-misaligned":     {Text: "sends an atomic to an address that is no multiple of 8", Rule: "RC-ATM-001", match: fn(packet.FetchAdd), spoil: func(p *packet.Packet) { p.VA += 4 }},
	"swap-misaligned":       {Text: "sends a CmpSwap to an odd address", Rule: "RC-ATM-001", match: fn(packet.CmpSwap), spoil: func(p *packet.Packet) { p.VA++ }},
	"fetch-add-compare":     {Text: "fills the compare field of a FetchAdd", Rule: "RC-ATM-002", match: fn(packet.FetchAdd), spoil: func(p *packet.Packet) { p.Compare = 1 }},
	"resend-needless":       {Text: "retransmits a request that was acknowledged", Rule: "RC-RTY-010", match: anySend, later: 2_000_000},
	"start-psn":             {Text: "begins with the PSN after the one that was agreed", Rule: "RC-PSN-001"},
	"only-as-first":         {Text: "sends a message that fits into one packet as First", Rule: "RC-SEQ-005", match: fullWrite, spoil: become(rc(packet.WriteFirst))},
	"psn-after-read":        {Text: "counts a READ of several packets as one PSN", Rule: "RC-PSN-003"},
	"psn-repeated":          {Text: "uses the PSN of the request before again", Rule: "RC-PSN-002"},
	"early-retry":           {Constant: true, Text: "retransmits before its timer can have expired", Rule: "RC-TMO-002", Needs: LostACK},
	"late-retry":            {Constant: true, Text: "retransmits only after eight times its timeout", Rule: "RC-TMO-002", Needs: LostACK},
	"retry-forever":         {Constant: true, Text: "retransmits more often than its retry count says", Rule: "RC-RTY-001", Needs: Silence},
	"timer-not-off":         {Constant: true, Text: "retransmits on timeout although its timeout is 0", Rule: "RC-TMO-001", Needs: TimerOff},
	"timer-goes-on":         {Text: "lets its timer go on when an ACK comes, and retransmits too early", Rule: "RC-TMO-003", Needs: SlowACK, always: true},
	"nak-not-counted":       {Constant: true, Text: "does not count the retries that NAKs ask for", Rule: "RC-RTY-003", Needs: LostAgain},
	"retry-late-psn":        {Text: "goes on after the PSN of a sequence NAK", Rule: "RC-RTY-005", Needs: LostRequest},
	"retry-skips":           {Text: "leaves a request out when it retransmits all", Rule: "RC-RTY-006", Needs: LostRequest},
	"retry-other-payload":   {Text: "retransmits a request with other data", Rule: "RC-RTY-004", Needs: LostRequest},
	"retry-other-immediate": {Text: "retransmits a request with other immediate data", Rule: "RC-RTY-004", Needs: LostRequest},
	"retry-other-key":       {Text: "retransmits a WRITE with another R_Key", Rule: "RC-RTY-004", Needs: LostRequest},
	"retry-read-key":        {Text: "retransmits a whole READ with another R_Key", Rule: "RC-RTY-007", Needs: Silence},
	"retry-atomic-operand":  {Text: "retransmits an atomic with another operand", Rule: "RC-RTY-009", Needs: LostACK},
	"retry-atomic-address":  {Text: "retransmits an atomic with another address", Rule: "RC-RTY-009", Needs: LostACK},
	"read-tail-address":     {Text: "asks for the tail of a READ at the address of its head", Rule: "RC-RTY-007", Needs: LostRead},
	"read-tail-length":      {Text: "asks for the tail of a READ with the length of the whole", Rule: "RC-RTY-007", Needs: LostRead},
	"read-tail-key":         {Text: "asks for the tail of a READ with another R_Key", Rule: "RC-RTY-007", Needs: LostRead},
	"request-after-fatal":   {Text: "goes on after a NAK that ended the connection", Rule: "RC-RTY-011", Needs: Refused},
	"resend-before-timer":   {Constant: true, Text: "retransmits before the RNR timer has expired", Rule: "RC-RNR-001", Needs: NotReady},
	"rnr-late-psn":          {Text: "goes on after the PSN of an RNR NAK", Rule: "RC-RNR-002", Needs: NotReady},
	"rnr-forever":           {Constant: true, Text: "takes more RNR NAKs than its RNR retry count says", Rule: "RC-RNR-003", Needs: NeverReady},
	"rnr-goes-on":           {Text: "sends new requests while it waits for the RNR timer", Rule: "RC-RNR-005", Needs: NotReadyLong},
	"too-many-reads":        {Constant: true, Text: "has more READs outstanding than its initiator depth", Rule: "RC-RDA-001", Needs: ManyReads},
	"credit-ignored":        {Constant: true, Text: "sends messages without a credit", Rule: "RC-CRD-001", Needs: Credits},
	"probe-whole":           {Constant: true, Text: "sends more than the first packet of a message without a credit", Rule: "RC-CRD-002", Needs: Credits},
	"key-given-up":          {Text: "writes with the R_Key that its SEND with Invalidate has given up", Rule: "RC-INV-001"},
})

// lastSends matches the packets that must ask for an acknowledgement.
func lastSends(p *packet.Packet) bool {
	return p.AckReq && fn(packet.SendOnly, packet.SendLast, packet.WriteOnly, packet.WriteLast, packet.SendOnlyImm, packet.SendLastImm, packet.WriteOnlyImm, packet.WriteLastImm)(p)
}

// fullWrite matches WRITEs of one packet that is full.
func fullWrite(p *packet.Packet) bool {
	return anyWrite(p) && len(p.Payload) >= 256 && len(p.Payload)&(len(p.Payload)-1) == 0
}

// pass has the requester leave out the next packet.
func (r *requester) pass() {
	if r.next >= len(r.queue) {
		return
	}
	if r.off++; r.off >= r.queue[r.next].packets {
		r.next, r.off = r.next+1, 0
	}
}

// sendFault changes a request packet before it is sent.
type sendFault struct {
	// shows reports whether the fault shows in a packet. retransmitted says that it was sent before.
	shows  func(w *work, p *packet.Packet, retransmitted bool) bool
	change func(q *queuePair, w *work, p *packet.Packet)
}

// sendFaults are the faults of single request packets, by name.
var sendFaults = map[string]sendFault{
	"retry-other-payload": {
		func(_ *work, p *packet.Packet, retransmitted bool) bool { return retransmitted && len(p.Payload) > 0 },
		func(_ *queuePair, _ *work, p *packet.Packet) { damage(p) },
	},
	"retry-other-immediate": {
		func(_ *work, p *packet.Packet, retransmitted bool) bool {
			return retransmitted && p.Info().Headers&packet.HasImmDt != 0
		},
		func(_ *queuePair, _ *work, p *packet.Packet) { p.Imm++ },
	},
	"retry-other-key": {
		func(_ *work, p *packet.Packet, retransmitted bool) bool {
			return retransmitted && fn(packet.WriteOnly, packet.WriteFirst)(p)
		},
		func(_ *queuePair, _ *work, p *packet.Packet) { p.RKey++ },
	},
	"retry-read-key": {
		func(w *work, p *packet.Packet, retransmitted bool) bool {
			return retransmitted && w.got == 0 && p.Opcode.Fn() == packet.ReadRequest
		},
		func(_ *queuePair, _ *work, p *packet.Packet) { p.RKey ^= 1 },
	},
	"retry-atomic-write-data": {retransmits(packet.AtomicWrite), func(_ *queuePair, _ *work, p *packet.Packet) { damage(p) }},
	"retry-flush-range":       {retransmits(packet.Flush), func(_ *queuePair, _ *work, p *packet.Packet) { p.DMALen-- }},
	"retry-atomic-operand":    {retransmits(packet.FetchAdd), func(_ *queuePair, _ *work, p *packet.Packet) { p.SwapAdd++ }},
	"retry-atomic-address":    {retransmits(packet.FetchAdd), func(_ *queuePair, _ *work, p *packet.Packet) { p.VA += 8 }},
	"read-tail-address":       {readTail, func(_ *queuePair, w *work, p *packet.Packet) { p.VA = w.RemoteVA }},
	"read-tail-length":        {readTail, func(_ *queuePair, w *work, p *packet.Packet) { p.DMALen = w.length }},
	"read-tail-key":           {readTail, func(_ *queuePair, _ *work, p *packet.Packet) { p.RKey ^= 1 }},
}

// retransmits reports of a packet whether it is a retransmitted one of an operation.
func retransmits(f packet.Fn) func(*work, *packet.Packet, bool) bool {
	return func(_ *work, p *packet.Packet, retransmitted bool) bool { return retransmitted && p.Opcode.Fn() == f }
}

// readTail reports whether a packet asks for the rest of a READ.
func readTail(w *work, p *packet.Packet, _ bool) bool {
	return p.Opcode.Fn() == packet.ReadRequest && w.got > 0
}

// failsToSend makes a fault show in a request before it is sent. retransmitted says that it was sent before. The result is true where it is not
// sent at all.
func (q *queuePair) failsToSend(w *work, p *packet.Packet, retransmitted bool) bool {
	h := q.h
	switch fault := h.opt.Fault; fault {
	case "":
	case "retry-skips":
		return retransmitted && p.PSN == q.req.skip && h.breaks("retry-skips")
	case "key-given-up":
		if anyWrite(p) && q.req.invKey != 0 && h.shows("key-given-up") {
			p.RKey = q.req.invKey
		}
	default:
		if f, ok := sendFaults[fault]; ok && f.shows(w, p, retransmitted) && h.shows(fault) {
			f.change(q, w, p)
		}
	}
	if p.Info().Headers&packet.HasIETH != 0 {
		q.req.invKey = p.InvRKey
	}
	return false
}
