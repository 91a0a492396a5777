package qp

import "ibwitness/wqe"

// InitAttr is what a queue pair is created with (section 11.2.5.1).
type InitAttr struct {
	Type            Type
	PD              wqe.PD
	SendCQ, RecvCQ  wqe.CQ
	SRQ             wqe.SRQ  // in place of a receive queue; 0: none
	XRCD            wqe.XRCD // of an XRC target: its messages name shared receive queues of that domain
	MaxSend         int      // work requests that the send queue holds
	MaxReceive      int
	MaxSendSegments int // data segments of a send request
	MaxRecvSegments int
	MaxInline       int  // bytes
	SignalAll       bool // every send request makes a completion
}
