package verifier_test

import (
	"ibwitness/mad"
	"ibwitness/packet"
)

// xrcMessage builds the REQ of an XRC initiator, or the REP of a target.
func xrcMessage(name string, src, dst end, get func(string, uint64) uint64, local uint64, psn packet.PSN) mad.Message {
	if name == "CM_XRC_REP" {
		return &mad.REP{
			Header: mad.CMHeader(mad.AttrREP, transaction), LocalCommID: commPassive, RemoteCommID: commActive, LocalEECN: uint32(get("eecn", uint64(src.qpn))),
			StartingPSN: psn, ResponderResources: uint8(get("dest_rd", 16)), SRQ: get("srq", 1) != 0, RNRRetryCount: uint8(get("rnr_retry", 7)),
		}
	}
	pmtu := uint8(1)
	for n := get("pmtu", 1024); pmtu < 5 && uint64(128)<<pmtu != n; pmtu++ {
	}
	return &mad.REQ{
		Header: mad.CMHeader(mad.AttrREQ, transaction), LocalCommID: commActive, ServiceID: 0x1060001, LocalQPN: src.qpn,
		Transport: mad.TransportExtended, ExtendedTransport: mad.ExtendedXRC, ResponderResources: uint8(get("dest_rd", 0)), InitiatorDepth: uint8(get("rd", 16)),
		StartingPSN: psn, RetryCount: uint8(get("retry", 0)), PKey: 0xFFFF, PathMTU: pmtu, RNRRetryCount: uint8(get("rnr_retry", 0)), SRQ: get("srq", 0) != 0,
		Primary: mad.Path{HopLimit: 64, SubnetLocal: local != 0, LocalAckTimeout: 14, LocalLID: uint16(src.n), RemoteLID: uint16(dst.n)},
	}
}
