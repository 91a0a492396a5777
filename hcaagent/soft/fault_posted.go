package soft

import (
	"slices"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// Faults that show between work requests or memory and the wire.
var _ = faults(map[string]*Fault{
	"read-other-address":    {Text: "reads from another address than was posted", Rule: "RC-LEN-010", Verbs: true, match: fn(packet.ReadRequest), spoil: func(p *packet.Packet) { p.VA += 8 }},
	"read-other-key":        {Text: "reads with another R_Key than was posted", Rule: "RC-LEN-010", Verbs: true, match: fn(packet.ReadRequest), spoil: func(p *packet.Packet) { p.RKey ^= 1 }},
	"read-other-length":     {Text: "reads less than was posted", Rule: "RC-LEN-010", Verbs: true, match: fn(packet.ReadRequest), spoil: func(p *packet.Packet) { p.DMALen -= 4 }},
	"write-other-key":       {Text: "writes with another R_Key than was posted", Rule: "RC-LEN-010", Verbs: true, match: anyWrite, spoil: func(p *packet.Packet) { p.RKey ^= 1 }},
	"atomic-other-address":  {Text: "works on another address than was posted", Rule: "RC-LEN-010", Verbs: true, match: fn(packet.FetchAdd, packet.CmpSwap), spoil: func(p *packet.Packet) { p.VA += 8 }},
	"atomic-other-key":      {Text: "sends an atomic with another R_Key than was posted", Rule: "RC-LEN-010", Verbs: true, match: fn(packet.FetchAdd, packet.CmpSwap), spoil: func(p *packet.Packet) { p.RKey ^= 1 }},
	"swap-other-operand":    {Text: "swaps in another number than was posted", Rule: "RC-LEN-010", Verbs: true, match: fn(packet.CmpSwap), spoil: func(p *packet.Packet) { p.SwapAdd++ }},
	"compare-other-operand": {Text: "compares with another number than was posted", Rule: "RC-LEN-010", Verbs: true, match: fn(packet.CmpSwap), spoil: func(p *packet.Packet) { p.Compare++ }},
	"operands-swapped":      {Text: "sends the two operands of a compare and swap in each other's place", Rule: "RC-ATM-003", Verbs: true, match: fn(packet.CmpSwap), spoil: func(p *packet.Packet) { p.SwapAdd, p.Compare = p.Compare, p.SwapAdd }},
	"invalidates-other":     {Text: "names another R_Key to invalidate than was posted", Rule: "RC-LEN-010", Verbs: true, match: fn(packet.SendOnlyInv), spoil: func(p *packet.Packet) { p.InvRKey += 0x100000 }},
	"write-immediate-other": {Text: "sends other immediate data with a WRITE than was posted", Rule: "RC-LEN-010", Verbs: true, match: fn(packet.WriteOnlyImm, packet.WriteLastImm), spoil: func(p *packet.Packet) { p.Imm++ }},
	"immediate-forgotten":   {Text: "sends no immediate data although the request has some", Rule: "RC-LEN-010", Verbs: true, match: fn(packet.SendLastImm), spoil: become(rc(packet.SendLast))},
	"immediate-added":       {Text: "sends immediate data although the request has none", Rule: "RC-LEN-010", Verbs: true, match: fn(packet.SendOnly), spoil: become(rc(packet.SendOnlyImm))},
	"invalidate-forgotten":  {Text: "sends a SEND without the invalidate that was posted", Rule: "RC-LEN-010", Verbs: true, match: fn(packet.SendOnlyInv), spoil: become(rc(packet.SendOnly))},
	"write-for-send":        {Text: "sends a WRITE of no bytes for a SEND", Rule: "RC-SEQ-006", Verbs: true, match: fn(packet.SendOnly), spoil: become(rc(packet.WriteOnly), resize(0), func(p *packet.Packet) { p.DMALen = 0 })},
	"read-for-atomic":       {Text: "sends a READ for an atomic", Rule: "RC-SEQ-006", Verbs: true, match: fn(packet.FetchAdd), spoil: become(rc(packet.ReadRequest), func(p *packet.Packet) { p.DMALen = 8 })},
	"add-for-swap":          {Text: "sends a fetch and add for a compare and swap", Rule: "RC-SEQ-006", Verbs: true, match: fn(packet.CmpSwap), spoil: become(rc(packet.FetchAdd))},
	"se-added":              {Text: "sets SE although the request does not ask for it", Rule: "BTH-012", Verbs: true, match: fn(packet.SendOnly), spoil: func(p *packet.Packet) { p.SE = true }},
	"uc-other-address":      {Text: "writes to another address than was posted, on UC", Rule: "RC-LEN-010", Service: packet.UC, Verbs: true, match: fn(packet.WriteOnly), spoil: func(p *packet.Packet) { p.VA += 8 }},
	"uc-other-data":         {Text: "sends other data than the gather list has, on UC", Rule: "CPL-MEM-003", Service: packet.UC, Verbs: true, match: loaded(fn(packet.SendOnly)), spoil: damage},
	"datagram-other-data":   {Text: "sends other data than the gather list has, in a datagram", Rule: "CPL-MEM-003", Service: packet.UD, Verbs: true, match: loaded(fn(packet.SendOnly)), spoil: damage},
	"datagram-other-qkey":   {Text: "sends a datagram with another Q_Key than was posted", Rule: "RC-LEN-010", Service: packet.UD, Verbs: true, match: fn(packet.SendOnly), spoil: func(p *packet.Packet) { p.QKey++ }},

	"segments-order":   {Text: "gathers the segments of a list in another order", Rule: "CPL-MEM-003", Verbs: true, Needs: Segments},
	"segment-twice":    {Text: "gathers the first segment of a list twice", Rule: "CPL-MEM-003", Verbs: true, Needs: Segments},
	"message-short":    {Text: "sends a byte less than the gather list has", Rule: "CPL-LEN-004", Verbs: true},
	"message-long":     {Text: "sends a byte more than the gather list has", Rule: "CPL-LEN-004", Verbs: true},
	"message-repeated": {Text: "sends a message once more as another one", Rule: "RC-SEQ-006", Verbs: true},

	"receive-not-stored": {Text: "does not store what it receives", Rule: "CPL-MEM-001", Verbs: true, Responder: true},
	"receive-misplaced":  {Text: "stores a packet that it receives a byte too far", Rule: "CPL-MEM-001", Verbs: true, Responder: true},
	"read-changed":       {Text: "changes a byte of what it reads", Rule: "CPL-MEM-001", Verbs: true},
	"read-not-stored":    {Text: "does not store a packet of what it reads", Rule: "CPL-MEM-001", Verbs: true},
	"read-misplaced":     {Text: "stores a packet that it reads a byte too far", Rule: "CPL-MEM-001", Verbs: true},
	"atomic-changed":     {Text: "stores another number than an atomic brings", Rule: "CPL-MEM-001", Verbs: true},
	"atomic-not-stored":  {Text: "does not store what an atomic brings", Rule: "CPL-MEM-001", Verbs: true},

	"atomic-completes-early":  {Text: "completes an atomic before its response", Rule: "CPL-STS-013", Verbs: true},
	"receive-completes-early": {Text: "completes a receive request with the first packet of its message", Rule: "CPL-STS-014", Verbs: true, Responder: true},
	"receive-without-message": {Text: "completes a receive request that no message has taken", Rule: "CPL-STS-014", Verbs: true, Responder: true},
	"rnr-gives-up-infinite":   {Text: "gives up on RNR NAKs although the RNR retry count is 7", Rule: "CPL-STS-007", Verbs: true, Needs: NotReady},
	"receive-nowhere":         {Text: "acknowledges a SEND that no receive request waits for", Rule: "RC-RSP-038", Verbs: true, Needs: NeverReady, Responder: true},

	"key-unknown":     {Constant: true, Text: "writes with an R_Key that is none", Rule: "CPL-MEM-005", Verbs: true, Needs: Refused, Responder: true},
	"beyond-region":   {Constant: true, Text: "reads beyond the end of a region", Rule: "CPL-MEM-005", Verbs: true, Needs: Beyond, Responder: true},
	"access-granted":  {Constant: true, Text: "writes to a region that may only be read", Rule: "CPL-MEM-005", Verbs: true, Needs: ReadOnly, Responder: true},
	"key-invalidated": {Constant: true, Text: "permits access with a key that was invalidated", Rule: "CPL-MEM-005", Verbs: true, Needs: GivenUp, Responder: true},
	"key-refused":     {Text: "refuses a WRITE that its key permits", Rule: "RC-RSP-024", Verbs: true, Responder: true},
})

// gather spoils the list of a message that is about to begin.
func (q *queuePair) gather(w *work) {
	parts := w.list.parts
	switch {
	case w.Op != wqe.OpSend:
	case len(parts) > 1 && q.h.breaks("segments-order"):
		w.list.parts = slices.Clone(parts)
		slices.Reverse(w.list.parts)
	case len(parts) > 1 && len(parts[1]) <= len(parts[0]) && q.h.breaks("segment-twice"):
		w.list.parts = slices.Clone(parts)
		w.list.parts[1] = parts[0][:len(parts[1])]
	case w.length > 1 && w.packets == 1 && q.h.breaks("message-short"):
		w.length--
	case len(parts) == 1 && w.packets == 1 && q.h.breaks("message-long"):
		w.length++
		w.list = list{[][]byte{append(slices.Clone(parts[0]), 0)}, uint64(w.length)}
	case q.h.breaks("message-repeated"):
		twin, request := *w, *w.SendRequest
		request.Flags &^= wqe.Signaled
		twin.SendRequest = &request
		q.req.queue = slices.Insert(q.req.queue, q.req.next+1, &twin)
	}
}

// store puts data that has arrived into memory, unless the fault is about that.
func (h *HCA) store(kind string, l *list, off uint64, data []byte) bool {
	switch {
	case h.fault.is == nil || len(data) < 2:
	case h.breaks(kind + "-changed"):
		data = slices.Clone(data)
		data[len(data)/2] ^= 1
	case h.breaks(kind + "-not-stored"):
		return true
	case h.breaks(kind + "-misplaced"):
		l.put(off+1, data[:len(data)-1])
		return true
	}
	return l.put(off, data)
}

// receivedEarly completes a receive request before its message is there.
func (q *queuePair) receivedEarly() {
	if t := q.rsp.taken; t != nil && !t.told && q.h.breaks("receive-completes-early") {
		q.finishReceive(t, cq.Completion{Op: cq.DoneRecv, ByteLen: q.rsp.got}, false, sum{})
		t.told = true
	}
}

// invent completes the oldest receive request, though no message came for it.
func (q *queuePair) invent() {
	if len(q.receives) > 0 && q.h.breaks("receive-without-message") {
		t := &receive{ReceiveRequest: q.receives[0]}
		q.receives = shift(q.receives)
		q.finishReceive(t, cq.Completion{Op: cq.DoneRecv, ByteLen: 77}, false, sum{})
	}
}

// trespass opens memory that the device must not open, where that is its fault.
func (h *HCA) trespass(rkey uint32, va, length uint64, access wqe.Access) ([]byte, bool) {
	name := ""
	switch r := h.keys[rkey>>8]; {
	case r == nil || r.RKey != rkey:
		name = "key-unknown"
	case !r.valid:
		name = "key-invalidated"
	case va < r.VA || va+length > r.VA+r.Length:
		name = "beyond-region"
	case r.Access&access != access:
		if name = "access-granted"; h.has("atomic-write-granted") {
			name = "atomic-write-granted"
		}
	}
	return make([]byte, length), h.has(name)
}
