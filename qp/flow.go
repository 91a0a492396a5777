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
)

// Agrees reports whether a packet agrees with the flow of its sender, its encapsulation aside.
func (f *Flow) Agrees(p *packet.Packet) bool {
	return f.FlowLabel == p.FlowLabel && f.PKey == p.PKey && f.SrcPort == p.SrcPort && f.TClass == p.TClass>>2 &&
		f.MigReq == p.MigReq && f.SL == p.SL && f.GRH == (p.Has&packet.HasGRH != 0) && f.GIDs == FoldGIDs(p)
}

// FoldGIDs folds the GIDs of a GRH that follows an LRH, as Flow.GIDs has them; elsewhere they are the addresses by which the connection was found.
func FoldGIDs(p *packet.Packet) uint64 {
	if p.Has&(packet.HasGRH|packet.HasLRH) != packet.HasGRH|packet.HasLRH {
		return 0
	}
	return p.SGID.Hi ^ p.SGID.Lo<<1 ^ p.DGID.Hi<<2 ^ p.DGID.Lo<<3
}
