package soft

import (
	"errors"

	"ibwitness/cq"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Faults that show in the verbs events of the device.
var _ = faults(map[string]*Fault{
	"status-unknown":         {Text: "completes with a status that there is not", Rule: "CPL-STS-001", Verbs: true, which: sent, completion: change(func(e *cq.Completion) { e.Status = 40 })},
	"complete-before-ack":    {Text: "completes a SEND or WRITE before its ACK", Rule: "CPL-STS-012", Verbs: true},
	"read-completes-early":   {Text: "completes a READ before its response", Rule: "CPL-STS-013", Verbs: true},
	"completes-twice":        {Text: "completes a send request twice", Rule: "CPL-ORD-002", Verbs: true, which: sent, completion: twice},
	"receive-twice":          {Text: "completes a receive request twice", Rule: "CPL-ORD-002", Verbs: true, Responder: true, which: got, completion: twice},
	"sends-swapped":          {Text: "lets a later send request complete first", Rule: "CPL-ORD-001", Verbs: true, which: sent, completion: later},
	"receives-swapped":       {Text: "lets a later receive request complete first", Rule: "CPL-ORD-001", Verbs: true, Responder: true, Needs: Burst, which: got, completion: later},
	"unsignaled":             {Text: "completes a request that is not signalled", Rule: "CPL-SIG-001", Verbs: true, Needs: Unsignaled},
	"completion-lost":        {Text: "does not complete a signalled request", Rule: "CPL-ORD-001", Verbs: true, which: sent, completion: none},
	"byte-len":               {Text: "counts pad bytes as received", Rule: "CPL-LEN-001", Verbs: true, Responder: true, which: op(cq.DoneRecv), completion: change(func(e *cq.Completion) { e.ByteLen += 3 })},
	"byte-len-write":         {Text: "completes a WRITE with immediate with a wrong length", Rule: "CPL-LEN-002", Verbs: true, Responder: true, which: op(cq.DoneRecvWriteImm), completion: change(func(e *cq.Completion) { e.ByteLen = 0 })},
	"byte-len-read":          {Text: "completes a READ with a wrong length", Rule: "CPL-LEN-003", Verbs: true, which: op(cq.DoneRead), completion: change(func(e *cq.Completion) { e.ByteLen++ })},
	"immediate-swapped":      {Text: "hands out immediate data in the wrong byte order", Rule: "CPL-IMM-001", Verbs: true, Responder: true, which: with(cq.WithImm), completion: change(swapImm)},
	"immediate-flag":         {Text: "does not say that there is immediate data", Rule: "CPL-IMM-001", Verbs: true, Responder: true, which: with(cq.WithImm), completion: change(func(e *cq.Completion) { e.Flags, e.Imm = 0, 0 })},
	"invalidated-flag":       {Text: "does not say which R_Key a SEND invalidated", Rule: "CPL-INV-001", Verbs: true, Responder: true, which: with(cq.WithInv), completion: change(func(e *cq.Completion) { e.Flags, e.InvKey = 0, 0 })},
	"invalidated-key":        {Text: "says that a SEND invalidated another R_Key", Rule: "CPL-INV-001", Verbs: true, Responder: true, which: with(cq.WithInv), completion: change(func(e *cq.Completion) { e.InvKey ^= 0x100 })},
	"receive-opcode":         {Text: "completes a SEND as a WRITE with immediate data", Rule: "CPL-OPC-001", Verbs: true, Responder: true, which: op(cq.DoneRecv), completion: change(func(e *cq.Completion) { e.Op = cq.DoneRecvWriteImm })},
	"send-opcode":            {Text: "completes a WRITE as a SEND", Rule: "CPL-OPC-001", Verbs: true, which: op(cq.DoneWrite), completion: change(func(e *cq.Completion) { e.Op = cq.DoneSend })},
	"receive-damaged":        {Text: "damages what a SEND puts into memory", Rule: "CPL-MEM-001", Verbs: true, Responder: true},
	"send-other-data":        {Text: "sends other data than the gather list has", Rule: "CPL-MEM-003", Verbs: true, match: loaded(anySend), spoil: damage},
	"write-other-data":       {Text: "writes other data than the gather list has", Rule: "RC-LEN-009", Verbs: true, match: loaded(anyWrite), spoil: damage},
	"write-other-address":    {Text: "writes to another address than was posted", Rule: "RC-LEN-010", Verbs: true, match: anyWrite, spoil: func(p *packet.Packet) { p.VA += 64 }},
	"other-immediate":        {Text: "sends other immediate data than was posted", Rule: "RC-LEN-010", Verbs: true, match: fn(packet.SendLastImm), spoil: func(p *packet.Packet) { p.Imm++ }},
	"other-operand":          {Text: "adds another number than was posted", Rule: "RC-LEN-010", Verbs: true, match: fn(packet.FetchAdd), spoil: func(p *packet.Packet) { p.SwapAdd++ }},
	"se-forgotten":           {Text: "does not set SE although the request asks for it", Rule: "BTH-012", Verbs: true, match: func(p *packet.Packet) bool { return p.SE }, spoil: func(p *packet.Packet) { p.SE = false }},
	"requests-swapped":       {Text: "sends a later request first", Rule: "RC-SEQ-006", Verbs: true, Needs: Burst},
	"access-as-operational":  {Text: "completes with the status of another NAK", Rule: "CPL-STS-003", Verbs: true, Needs: Refused, which: failed, completion: change(func(e *cq.Completion) { e.Status = cq.RemOpErr })},
	"gives-up-early":         {Text: "gives up before its retries are used up", Rule: "CPL-STS-006", Verbs: true, Needs: Silence},
	"retry-not-reloaded":     {Constant: true, Text: "does not fill its retry counter again after progress", Rule: "RC-RTY-002", Verbs: true, Needs: LostThenSilent},
	"rnr-not-reloaded":       {Constant: true, Text: "does not fill its RNR retry counter again after progress", Rule: "RC-RNR-004", Verbs: true, Needs: NotReadyTwice},
	"rnr-gives-up-early":     {Text: "gives up before its RNR retries are used up", Rule: "CPL-STS-007", Verbs: true, Needs: NeverReady},
	"flushed-with-success":   {Text: "completes what it flushes with success", Rule: "CPL-ORD-004", Verbs: true, Needs: Refused, which: flushed, completion: change(func(e *cq.Completion) { e.Status = cq.Success })},
	"flushed-with-error":     {Text: "completes what it flushes with the first error again", Rule: "QPS-ERR-002", Verbs: true, Needs: Refused, which: flushed, completion: change(func(e *cq.Completion) { e.Status = cq.RemAccessErr })},
	"error-behind-flush":     {Text: "flushes before the request that failed completes", Rule: "CPL-ORD-003", Verbs: true, Needs: Refused, which: failed, completion: later},
	"illegal-transition":     {Text: "goes from INIT to RTS", Rule: "QPS-TRN-001", Verbs: true, Needs: Misuse},
	"transition-incomplete":  {Text: "goes to INIT without a P_Key", Rule: "QPS-TRN-002", Verbs: true, Needs: Misuse},
	"transition-superfluous": {Text: "takes a path MTU on the way to INIT", Rule: "QPS-TRN-003", Verbs: true, Needs: Misuse},
	"path-mtu-odd":           {Constant: true, Text: "takes a path MTU of 300 bytes", Rule: "QPS-ATT-001", Verbs: true, Needs: Misuse},
	"timer-code":             {Constant: true, Text: "takes a minimum RNR timer of 40", Rule: "QPS-ATT-003", Verbs: true, Needs: Misuse},
})

// put puts a completion into its queue.
type put func(e cq.Completion)

func change(f func(e *cq.Completion)) func(h *HCA, e cq.Completion, p put) {
	return func(_ *HCA, e cq.Completion, p put) {
		f(&e)
		p(e)
	}
}

func twice(_ *HCA, e cq.Completion, p put) { p(e); p(e) }

func none(*HCA, cq.Completion, put) {}

// later puts a completion after the next.
func later(h *HCA, e cq.Completion, p put) { h.fault.held = func() { p(e) } }

func op(o cq.CompletionOp) func(e *cq.Completion) bool {
	return func(e *cq.Completion) bool { return e.Status == cq.Success && e.Op == o }
}

func with(f cq.CompletionFlags) func(e *cq.Completion) bool {
	return func(e *cq.Completion) bool { return e.Flags&f != 0 }
}

func sent(e *cq.Completion) bool {
	return e.Status == cq.Success && e.Op < cq.DoneRecv
}

func got(e *cq.Completion) bool {
	return e.Status == cq.Success && e.Op >= cq.DoneRecv
}
func flushed(e *cq.Completion) bool { return e.Status == cq.WRFlushErr }

func failed(e *cq.Completion) bool {
	return e.Status != cq.Success && e.Status != cq.WRFlushErr
}

func swapImm(e *cq.Completion) {
	e.Imm = e.Imm<<24 | e.Imm<<8&0xFF0000 | e.Imm>>8&0xFF00 | e.Imm>>24
}

// early completes a request that has just been sent, before anything answers it. What completes it then is silent.
func (q *queuePair) early(w *work) {
	name := "complete-before-ack"
	if w.Op == wqe.OpRead {
		name = "read-completes-early"
	} else if w.Op == wqe.OpFetchAdd || w.Op == wqe.OpCmpSwap {
		name = "atomic-completes-early"
	} else if w.Op == wqe.OpFlush {
		name = "flush-completes-early"
	} else if w.responded() {
		return
	}
	if w.Flags&wqe.Signaled != 0 && !w.silent && q.h.breaks(name) {
		q.finishSend(w, cq.Success)
		w.silent = true
	}
}

// permits reports whether the device's fault lets an illegal transition pass.
func (h *HCA) permits(err error) bool {
	var te *qp.TransitionError
	if h.fault.is == nil || !errors.As(err, &te) {
		return false
	}
	switch {
	case !te.Exists:
		return h.breaks("illegal-transition")
	case te.Missing != 0:
		return h.breaks("transition-incomplete")
	}
	return h.breaks("transition-superfluous")
}
