package soft

import (
	"ibwitness/cq"
	"ibwitness/packet"
)

// completeFaulty is what a device with a fault of its completions makes of one.
func (h *HCA) completeFaulty(c *completionQueue, e cq.Completion, solicited bool, s sum) {
	if f := h.fault.is; f.which(&e) && h.due() {
		f.completion(h, e, func(e cq.Completion) { h.put(c, e, solicited, s) })
		return
	}
	h.put(c, e, solicited, s)
	if held := h.fault.held; held != nil {
		h.fault.held = nil
		held()
	}
}

// as gives a completion another operation, counts more or fewer bytes, and gives another status.
func as(o cq.CompletionOp) func(h *HCA, e cq.Completion, p put) {
	return change(func(e *cq.Completion) { e.Op = o })
}

func counts(n int) func(h *HCA, e cq.Completion, p put) {
	return change(func(e *cq.Completion) { e.ByteLen += uint32(n) })
}

func ends(s cq.Status) func(h *HCA, e cq.Completion, p put) {
	return change(func(e *cq.Completion) { e.Status = s })
}

func flags(set, clear cq.CompletionFlags) func(h *HCA, e cq.Completion, p put) {
	return change(func(e *cq.Completion) { e.Flags = e.Flags&^clear | set })
}

func status(s cq.Status) func(e *cq.Completion) bool {
	return func(e *cq.Completion) bool { return e.Status == s }
}

// plain matches receive completions of a SEND that brings only data.
func plain(e *cq.Completion) bool {
	return got(e) && e.Op == cq.DoneRecv && e.Flags&(cq.WithImm|cq.WithInv) == 0
}

// More faults of completions.
var _ = faults(map[string]*Fault{
	"read-opcode":               {Text: "completes a READ as a SEND", Rule: "CPL-OPC-001", Verbs: true, which: op(cq.DoneRead), completion: as(cq.DoneSend)},
	"atomic-opcode":             {Text: "completes a compare and swap as a fetch and add", Rule: "CPL-OPC-001", Verbs: true, which: op(cq.DoneCmpSwap), completion: as(cq.DoneFetchAdd)},
	"receive-write-opcode":      {Text: "completes a WRITE with immediate data as a SEND", Rule: "CPL-OPC-001", Verbs: true, Responder: true, which: op(cq.DoneRecvWriteImm), completion: as(cq.DoneRecv)},
	"byte-len-short":            {Text: "counts a byte too few as received", Rule: "CPL-LEN-001", Verbs: true, Responder: true, which: plain, completion: counts(-1)},
	"byte-len-read-short":       {Text: "counts only the last packet of a READ", Rule: "CPL-LEN-003", Verbs: true, which: op(cq.DoneRead), completion: counts(-128)},
	"byte-len-atomic":           {Text: "completes an atomic with a length of 4", Rule: "CPL-LEN-003", Verbs: true, which: op(cq.DoneFetchAdd), completion: counts(-4)},
	"byte-len-datagram":         {Text: "leaves the 40 bytes of the GRH out of the length of a datagram", Rule: "UD-GRH-004", Service: packet.UD, Verbs: true, Responder: true, which: got, completion: counts(-grhSize)},
	"no-grh-flag":               {Text: "does not say that a datagram has a GRH", Rule: "UD-GRH-002", Service: packet.UD, Verbs: true, Responder: true, which: got, completion: flags(0, cq.WithGRH)},
	"source-qp":                 {Text: "says that a datagram came from another queue pair", Rule: "UD-CQE-001", Service: packet.UD, Verbs: true, Responder: true, which: got, completion: change(func(e *cq.Completion) { e.SrcQP++ })},
	"immediate-changed":         {Text: "hands out other immediate data than came", Rule: "CPL-IMM-001", Verbs: true, Responder: true, which: with(cq.WithImm), completion: change(func(e *cq.Completion) { e.Imm++ })},
	"immediate-invented":        {Text: "hands out immediate data of a message that has none", Rule: "CPL-IMM-001", Verbs: true, Responder: true, which: plain, completion: flags(cq.WithImm, 0)},
	"invalidated-invented":      {Text: "says that a SEND without invalidate invalidated an R_Key", Rule: "CPL-INV-001", Verbs: true, Responder: true, which: plain, completion: flags(cq.WithInv, 0)},
	"completes-unposted":        {Text: "completes a request that was not posted", Rule: "CPL-ORD-002", Verbs: true, which: sent, completion: change(func(e *cq.Completion) { e.ID += 5000 })},
	"receives-unposted":         {Text: "completes a receive request that was not posted", Rule: "CPL-ORD-002", Verbs: true, Responder: true, which: got, completion: change(func(e *cq.Completion) { e.ID += 5000 })},
	"receive-completion-lost":   {Text: "does not complete a receive request", Rule: "CPL-ORD-001", Verbs: true, Responder: true, which: got, completion: none},
	"signal-all-lost":           {Text: "does not complete a request of a queue pair that signals all", Rule: "CPL-SIG-003", Verbs: true, Needs: SignalAll, which: sent, completion: none},
	"last-completion-lost":      {Text: "never completes the last signalled request", Rule: "CPL-STS-016", Verbs: true, Needs: Sparse, which: sent, completion: none},
	"receive-status-unknown":    {Text: "completes a receive request with a status that there is not", Rule: "CPL-STS-001", Verbs: true, Responder: true, which: got, completion: ends(22)},
	"invalid-as-access":         {Text: "completes what a NAK Invalid Request refuses with REM_ACCESS_ERR", Rule: "CPL-STS-002", Verbs: true, Needs: TooLong, which: failed, completion: ends(cq.RemAccessErr)},
	"operational-as-invalid":    {Text: "completes what a NAK Remote Operational Error refuses with REM_INV_REQ_ERR", Rule: "CPL-STS-004", Verbs: true, Needs: BadReceive, which: failed, completion: ends(cq.RemInvReqErr)},
	"invalid-as-success":        {Text: "completes what a NAK Invalid Request refuses with success", Rule: "CPL-STS-002", Verbs: true, Needs: TooLong, which: failed, completion: ends(cq.Success)},
	"access-as-success":         {Text: "completes what a NAK Remote Access Error refuses with success", Rule: "CPL-STS-003", Verbs: true, Needs: Refused, which: failed, completion: ends(cq.Success)},
	"operational-as-success":    {Text: "completes what a NAK Remote Operational Error refuses with success", Rule: "CPL-STS-004", Verbs: true, Needs: BadReceive, which: failed, completion: ends(cq.Success)},
	"access-as-flush":           {Text: "flushes what a NAK Remote Access Error refuses", Rule: "CPL-STS-003", Verbs: true, Needs: Refused, which: failed, completion: ends(cq.WRFlushErr)},
	"operational-error-for-ack": {Text: "completes with REM_OP_ERR what was acknowledged", Rule: "CPL-STS-004", Verbs: true, which: sent, completion: ends(cq.RemOpErr)},
	"access-error-for-ack":      {Text: "completes with REM_ACCESS_ERR what was acknowledged", Rule: "CPL-STS-003", Verbs: true, which: sent, completion: ends(cq.RemAccessErr)},
	"invalid-error-for-ack":     {Text: "completes with REM_INV_REQ_ERR what was acknowledged", Rule: "CPL-STS-002", Verbs: true, which: sent, completion: ends(cq.RemInvReqErr)},
	"ghost-ack-taken":           {Text: "takes an ACK of what was acknowledged before for one of the oldest request", Rule: "CPL-STS-012", Verbs: true, Needs: LateDuplicate},
	"retry-error-for-ack":       {Text: "completes with RETRY_EXC_ERR what was acknowledged", Rule: "CPL-STS-006", Verbs: true, which: sent, completion: ends(cq.RetryExcErr)},
	"rnr-error-for-ack":         {Text: "completes with RNR_RETRY_EXC_ERR what was acknowledged, with an RNR retry count of 7", Rule: "CPL-STS-007", Verbs: true, which: sent, completion: ends(cq.RNRRetryExcErr)},
	"retry-as-rnr":              {Text: "completes with RNR_RETRY_EXC_ERR when its retries are used up", Rule: "CPL-STS-007", Verbs: true, Needs: Silence, which: failed, completion: ends(cq.RNRRetryExcErr)},
	"retry-as-timeout":          {Text: "completes with RESP_TIMEOUT_ERR when its retries are used up", Rule: "CPL-STS-006", Verbs: true, Needs: Silence, which: failed, completion: ends(cq.RespTimeoutErr)},
	"rnr-as-retry":              {Text: "completes with RETRY_EXC_ERR when its RNR retries are used up", Rule: "CPL-STS-007", Verbs: true, Needs: NeverReady, which: failed, completion: ends(cq.RetryExcErr)},
	"success-behind-error":      {Text: "completes a request with success after one that it gave up", Rule: "CPL-ORD-004", Verbs: true, Needs: Silence, which: status(cq.WRFlushErr), completion: ends(cq.Success)},
	"error-completes-twice":     {Text: "completes a request that has failed twice", Rule: "CPL-ORD-002", Verbs: true, Needs: Silence, which: failed, completion: twice},
	"error-completion-lost":     {Text: "does not complete the request that has failed", Rule: "CPL-ORD-001", Verbs: true, Needs: Silence, which: failed, completion: none},
	"flush-lost":                {Text: "does not flush a request", Rule: "QPS-ERR-002", Verbs: true, Needs: Refused, which: flushed, completion: none},
	"receive-flush-lost":        {Text: "does not flush a receive request", Rule: "QPS-ERR-002", Verbs: true, Responder: true, Needs: Refused, which: flushed, completion: none},
	"flush-twice":               {Text: "flushes a request twice", Rule: "CPL-ORD-002", Verbs: true, Needs: Refused, which: flushed, completion: twice},
	"uc-remote-error":           {Text: "completes a UC request with REM_OP_ERR", Rule: "UC-CPL-001", Service: packet.UC, Verbs: true, which: sent, completion: ends(cq.RemOpErr)},
	"other-qp":                  {Text: "names a queue pair that it does not have in a completion", Rule: "CPL-QP-001", Verbs: true, which: sent, completion: change(func(e *cq.Completion) { e.QP.QPN ^= 0x40000 })},
	"receive-other-qp":          {Text: "names the sender's queue pair in a receive completion", Rule: "CPL-QP-001", Verbs: true, Responder: true, which: got, completion: change(func(e *cq.Completion) { e.QP.QPN ^= 0x80000 })},
})
