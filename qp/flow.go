package qp

import "ibwitness/packet"

// What of a flow has been reported to change, each once a connection: the bits of Flow.Reported.
const (
	ReportedPath uint16 = 1 << iota
	ReportedPort
	ReportedMig
	ReportedPKey
	ReportedGRH
	ReportedLimited
	ReportedEncap
	ReportedGIDs
	ReportedSL
	ReportedECN

	// What is not reported, but so: the first packet, a request or a response, was not ECN-capable.
	FirstNotECT
	FirstNotECTResponse

	// The UDP source port has changed more than once.
	ReportedPorts

	// A request whose P_Key the table of the receiver does not have was answered.
	ReportedTaken

	// It has sent the P_Key of a full member.
	FullMember
)

// Agrees reports whether a packet agrees with the flow of its sender, its encapsulation aside.
func (d *Direction) Agrees(p *packet.Packet) bool {
	f := &d.Flow
	return f.FlowLabel == p.FlowLabel && f.PKey == p.PKey && f.SrcPort == p.SrcPort && f.TClass == p.TClass>>2 &&
		f.MigReq == p.MigReq && f.SL == p.SL && f.GRH == (p.Has&packet.HasGRH != 0) && d.GIDs() == FoldGIDs(p)
}

// GIDs are those of a GRH beside an LRH in all packets of the flow, folded.
func (d *Direction) GIDs() uint64 { return d.SQ.sender.gids }

// QKey is the Q_Key of a flow of datagrams, of which no flow label is kept.
func (f *Flow) QKey() uint32 { return f.FlowLabel }

// SetQKey sets it.
func (f *Flow) SetQKey(key uint32) { f.FlowLabel = key }

// ReportedQKey is another Q_Key than that of the flow, which was reported.
func (d *Direction) ReportedQKey() uint32 { return d.SQ.sender.qKey }

// ReportQKey notes one.
func (d *Direction) ReportQKey(key uint32) { d.sender().qKey = key }

// FoldGIDs folds the GIDs of a GRH that follows an LRH, as GIDs has them; elsewhere they are the addresses by which the connection was found.
func FoldGIDs(p *packet.Packet) uint64 {
	if p.Has&(packet.HasGRH|packet.HasLRH) != packet.HasGRH|packet.HasLRH {
		return 0
	}
	return p.SGID.Hi ^ p.SGID.Lo<<1 ^ p.DGID.Hi<<2 ^ p.DGID.Lo<<3
}
