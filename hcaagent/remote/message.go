package remote

import (
	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// Parameters and results of calls, as JSON objects.
type (
	none struct{}

	hello struct{ Version int }
	// greeting answers it.
	greeting struct {
		Info   Info
		Limits qp.Limits
	}
	// clock is the time of the device's machine, in nanoseconds since the Unix epoch.
	clock struct{ Now int64 }

	createQP struct{ Init qp.InitAttr }
	modifyQP struct {
		QP   wqe.QP
		To   qp.State
		Attr qp.Attr
	}
	attrOf struct {
		Attr  qp.Attr
		State qp.State
	}
	ofQP struct {
		QP wqe.QP
		ID uint64 `json:",omitempty"`
	}
	postSend struct {
		QP      wqe.QP
		Request wqe.SendRequest
	}
	postReceive struct {
		QP      wqe.QP  `json:",omitzero"`
		SRQ     wqe.SRQ `json:",omitempty"`
		Request wqe.ReceiveRequest
	}

	ofCQ struct {
		CQ    wqe.CQ
		Depth int    `json:",omitempty"`
		Arm   cq.Arm `json:",omitempty"`
	}
	// poll takes up to Most completions out of each queue; where there are none it waits for the first.
	poll struct {
		CQs  []wqe.CQ
		Most int
		Wait int64 `json:",omitempty"` // nanoseconds
	}
	// polled are completions of a queue. Where Unknown, it is not known what their requests have put into memory.
	polled struct {
		CQ          wqe.CQ
		Unknown     bool `json:",omitempty"`
		Completions []hcaagent.Completed
	}

	ofSRQ struct {
		SRQ      wqe.SRQ  `json:",omitempty"`
		PD       wqe.PD   `json:",omitempty"`
		XRCD     wqe.XRCD `json:",omitempty"`
		Depth    int      `json:",omitempty"`
		Segments int      `json:",omitempty"`
		Limit    int      `json:",omitempty"`
	}
	ofXRCD struct{ XRCD wqe.XRCD }

	ofPD struct{ PD wqe.PD }
	keys struct {
		MR         wqe.MR `json:",omitempty"`
		MW         wqe.MW `json:",omitempty"`
		LKey, RKey uint32
	}
	ofMR struct{ MR wqe.MR }
	ofMW struct {
		MW   wqe.MW `json:",omitempty"`
		PD   wqe.PD `json:",omitempty"`
		Type int    `json:",omitempty"`
	}

	ofAH struct {
		AH     wqe.AH             `json:",omitempty"`
		PD     wqe.PD             `json:",omitempty"`
		Vector *wqe.AddressVector `json:",omitempty"`
	}
	ofGroup struct {
		QP    wqe.QP
		Group packet.Addr
	}

	ofMemory struct {
		Memory wqe.Memory
		Length int    `json:",omitempty"`
		Data   []byte `json:",omitempty"`
		// MemoryAccess only.
		QP     wqe.QP     `json:",omitzero"`
		Access wqe.Access `json:",omitempty"`
	}
	outstanding struct{ Sends, Receives int }
)

// reply is a result, with the number of the last event that was told before it.
type reply[R any] struct {
	Seq   uint64
	Value R
}

// events are a notification of the server: events that follow one another, the first of which has the number Seq.
type events struct {
	Seq    uint64
	Events []event
}

// event is one of them.
type event struct {
	Time  int64
	Kind  cq.EventKind
	Async cq.Async `json:",omitempty"`
	State qp.State `json:",omitempty"`
	QP    wqe.QP
	CQ    wqe.CQ  `json:",omitempty"`
	SRQ   wqe.SRQ `json:",omitempty"`
}
