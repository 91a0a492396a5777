package soft_test

import (
	"ibwitness/mad"
	"ibwitness/packet"
)

// exchanged is what the first tap saw, after the exchange by which the second end has connected to the first: by CM, that tells the first
// one its timeout and both retry counts.
func (s *stage) exchanged() *capture {
	a, b := s.ends[0], s.ends[1]
	local, remote := b.qp.Addr, a.qp.Addr
	path := mad.Path{
		LocalAckTimeout: a.attr.Timeout, HopLimit: 64, LocalLID: mad.PermissiveLID, RemoteLID: mad.PermissiveLID, LocalGID: local, RemoteGID: remote,
	}
	pmtu := uint8(0)
	for uint32(128)<<pmtu != a.attr.PMTU {
		pmtu++
	}
	ids := [2]uint32{0x111, 0x222}
	c := &capture{near: s.link.taps[0].near}
	begin := s.link.taps[0].frames[0].Time
	for i, m := range []mad.Message{
		&mad.REQ{
			Header: mad.CMHeader(mad.AttrREQ, 5), LocalCommID: ids[0], ServiceID: 0x1000, LocalCAGUID: 0x902, LocalQPN: b.qp.QPN,
			ResponderResources: b.attr.MaxDestRdAtomic, InitiatorDepth: b.attr.MaxRdAtomic, RemoteCMTimeout: 20, LocalCMTimeout: 20,
			StartingPSN: a.attr.SQPSN, RetryCount: a.attr.RetryCnt, PKey: 0xFFFF, PathMTU: pmtu, RNRRetryCount: a.attr.RNRRetry, MaxCMRetries: 15, Primary: path,
		},
		&mad.REP{
			Header: mad.CMHeader(mad.AttrREP, 5), LocalCommID: ids[1], RemoteCommID: ids[0], LocalQPN: a.qp.QPN, StartingPSN: b.attr.SQPSN,
			ResponderResources: a.attr.MaxDestRdAtomic, InitiatorDepth: a.attr.MaxRdAtomic, RNRRetryCount: b.attr.RNRRetry, LocalCAGUID: 0x901,
		},
		&mad.RTU{Header: mad.CMHeader(mad.AttrRTU, 5), LocalCommID: ids[0], RemoteCommID: ids[1]},
	} {
		p := &packet.Packet{
			Encap: packet.RoCEv2IPv4, Opcode: packet.Op(packet.UD, packet.SendOnly), Src: local, Dst: remote, DestQP: 1, SrcQP: 1, QKey: 0x80010000,
			PKey: 0xFFFF, PSN: packet.PSN(i), SrcPort: 0xC001, MigReq: true, Payload: make([]byte, 256),
		}
		if i == 1 {
			p.Src, p.Dst = remote, local
		}
		if err := m.Encode(p.Payload); err != nil {
			s.t.Fatal(err)
		}
		p.Complete()
		c.add(begin-int64(30_000-10_000*i), p.AppendEthernet(nil, [6]byte{2, 0, 0, 0, 0, 2}, [6]byte{2, 0, 0, 0, 0, 1}))
	}
	for _, f := range s.link.taps[0].frames {
		c.add(f.Time, f.Data)
	}
	return c
}
