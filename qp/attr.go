package qp

import (
	"strings"

	"ibwitness/packet"
	"ibwitness/wqe"
)

// Attr is a set of queue pair attributes. Known says which are known: what an agent does not know is not judged.
type Attr struct {
	Known         Known
	ByCM          Known  // of Known, what only the messages of CM say, and the application can have set otherwise on its QP
	Cut           bool   // CM gave some of it in a packet that the snap length cut, whose ICRC could not be judged
	Receives      uint16 // KiB of the receives for RPC over RDMA that its end announced in the private data of CM (RFC 8797); 0: that is not known
	AskedRdAtomic uint8  // what the REQ of CM asked for as MaxRdAtomic; 0: that is not known

	Service         packet.Service
	PMTU            uint32      // bytes: 256, 512, 1024, 2048 or 4096
	SQPSN           packet.PSN  // PSN of the first request that this QP sends
	RQPSN           packet.PSN  // PSN of the first request that it expects
	DestQPN         uint32      // QPN of the peer
	DestAddr        packet.Addr // address of the peer
	Timeout         uint8       // local ACK timeout code, 4.096 µs · 2^code; 0 disables the timer
	RetryCnt        uint8       // 0 … 7
	RNRRetry        uint8       // 0 … 7; 7 is without limit
	MinRNRTimer     uint8       // RNR timer code (table T4) that this QP puts in its RNR NAKs
	MaxRdAtomic     uint8       // READ and ATOMIC requests that this QP may have outstanding (initiator depth)
	MaxDestRdAtomic uint8       // those that it keeps resources for as a responder (responder resources)
	PKey            uint16
	PKeyIndex       uint16 // of the P_Key in the port's table, where PKey is 0
	QKey            uint32
	Access          wqe.Access
	MigState        MigState
	TClass          uint8 // of the address vector
	HopLimit        uint8
	SL              uint8
	GRH             bool // the address vector is global
	Credits         bool // the responder of this QP generates end-to-end credits
	SRQ             bool // the responder of this QP receives from a shared receive queue; false: that is not known

	Port      uint8
	CurState  State       // the state that the caller believes the QP to be in
	AltAddr   packet.Addr // address of the peer on the alternate path
	RateLimit uint32      // kbit/s, raw packet QPs
	SQDNotify bool        // ask for an event when the send queue has drained

	SourceAddr packet.Addr // the GID, of the port's table, that its packets come from
	RoCEv1     bool        // on Ethernet, with SourceAddr: the type of that GID
	DestGID    packet.Addr // with GRH, on a native link: the GID of the peer
	FlowLabel  uint32      // with GRH: of the address vector

	unsure Known // which have changed at a time that is not certain, see Change
}

// Start returns the PSN of the first request, if it is known. a may be nil.
func (a *Attr) Start() (packet.PSN, bool) {
	if a == nil || !a.Has(KnowsSQPSN) {
		return 0, false
	}
	return a.SQPSN, true
}

// Known is a set of attributes.
type Known uint32

// The attributes that Attr.Known names.
const (
	KnowsPMTU Known = 1 << iota
	KnowsSQPSN
	KnowsRQPSN
	KnowsDestQPN
	KnowsDestAddr
	KnowsTimeout
	KnowsRetryCnt
	KnowsRNRRetry
	KnowsMinRNRTimer
	KnowsMaxRdAtomic
	KnowsMaxDestRdAtomic
	KnowsPKey
	KnowsQKey
	KnowsAccess
	KnowsMigState
	KnowsTClass
	KnowsHopLimit
	KnowsSL
	KnowsGRH
	KnowsCredits
	KnowsPort
	KnowsCurState
	KnowsAltPath
	KnowsRateLimit
	KnowsSQDNotify
	KnowsSourceAddr
)

var knownNames = [...]string{
	"path MTU", "SQ PSN", "RQ PSN", "destination QPN", "address vector", "ACK timeout", "retry count", "RNR retry", "minimum RNR timer",
	"initiator depth", "responder resources", "P_Key", "Q_Key", "access flags", "path migration state", "traffic class", "hop limit",
	"SL", "GRH", "end-to-end credits", "port", "current state", "alternate path", "rate limit", "SQD notification",
	"source GID",
}

func (k Known) String() string {
	var names []string
	for i, name := range knownNames {
		if k>>i&1 != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Has reports whether all of k is known.
func (a *Attr) Has(k Known) bool { return a.Known&k == k }

// MigState is the path migration state of a QP (section 17.2.8).
type MigState uint8

// The states.
const (
	Migrated MigState = iota
	Rearm
	Armed
)

// Update takes over what b knows.
func (a *Attr) Update(b *Attr) {
	a.SRQ, a.Cut = a.SRQ || b.SRQ, a.Cut || b.Cut
	if b.Receives > 0 {
		a.Receives = b.Receives
	}
	if b.AskedRdAtomic > 0 {
		a.AskedRdAtomic = b.AskedRdAtomic
	}
	update(b, KnowsPMTU, &a.PMTU, b.PMTU)
	update(b, KnowsSQPSN, &a.SQPSN, b.SQPSN)
	update(b, KnowsRQPSN, &a.RQPSN, b.RQPSN)
	update(b, KnowsTimeout, &a.Timeout, b.Timeout)
	update(b, KnowsRetryCnt, &a.RetryCnt, b.RetryCnt)
	update(b, KnowsRNRRetry, &a.RNRRetry, b.RNRRetry)
	update(b, KnowsMinRNRTimer, &a.MinRNRTimer, b.MinRNRTimer)
	update(b, KnowsMaxRdAtomic, &a.MaxRdAtomic, b.MaxRdAtomic)
	update(b, KnowsMaxDestRdAtomic, &a.MaxDestRdAtomic, b.MaxDestRdAtomic)
	update(b, KnowsPKey, &a.PKey, b.PKey)
	update(b, KnowsPKey, &a.PKeyIndex, b.PKeyIndex)
	update(b, KnowsQKey, &a.QKey, b.QKey)
	update(b, KnowsAccess, &a.Access, b.Access)
	update(b, KnowsMigState, &a.MigState, b.MigState)
	update(b, KnowsTClass, &a.TClass, b.TClass)
	update(b, KnowsHopLimit, &a.HopLimit, b.HopLimit)
	update(b, KnowsSL, &a.SL, b.SL)
	update(b, KnowsGRH, &a.GRH, b.GRH)
	update(b, KnowsCredits, &a.Credits, b.Credits)
	update(b, KnowsDestQPN, &a.DestQPN, b.DestQPN)
	update(b, KnowsDestAddr, &a.DestAddr, b.DestAddr)
	update(b, KnowsSourceAddr, &a.SourceAddr, b.SourceAddr)
	update(b, KnowsSourceAddr, &a.RoCEv1, b.RoCEv1)
	update(b, KnowsGRH, &a.DestGID, b.DestGID)
	update(b, KnowsGRH, &a.FlowLabel, b.FlowLabel)
	a.ByCM = a.ByCM&^b.Known | b.ByCM
	a.Known |= b.Known
}

// connecting are the attributes that a connection is made with. They stay as they are while it lasts.
const connecting = KnowsPMTU | KnowsSQPSN | KnowsRQPSN | KnowsDestQPN | KnowsDestAddr

// Change takes over what b knows of a queue pair at work, where it is not certain which of its packets came before that: of what differs neither value is known any more.
func (a *Attr) Change(b *Attr) {
	given := *b
	for k := Known(1); k != 0; k <<= 1 {
		if a.Known&b.Known&k == 0 {
			continue
		}
		one, changed := *b, *a
		one.Known, one.ByCM, one.SRQ, one.Cut = k, a.ByCM&k, false, false
		if changed.Update(&one); changed == *a {
			continue
		}
		if given.Known &^= k; k&connecting == 0 {
			a.unsure |= k
		}
	}
	a.Update(&given)
	a.Known &^= a.unsure
}

// update sets an attribute to the value that b has for it, where b knows that.
func update[T any](b *Attr, k Known, to *T, value T) {
	if b.Known&k != 0 {
		*to = value
	}
}
