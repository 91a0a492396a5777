package cm

import (
	"fmt"

	"ibwitness/mad"
	"ibwitness/packet"
	"ibwitness/rule"
)

// portSpaceIB is the protocol byte of Linux' own port space of InfiniBand service IDs.
const portSpaceIB mad.IPProtocol = 0x3F

// ipService judges a request for the RDMA IP CM service (annex A11; rules CM-IP-001 to -004); have is how many bytes of its private data
// were captured.
func (v *Verifier) ipService(m *message, id mad.ServiceID, private []byte, have int) {
	proto, port, ok := id.IP()
	if !ok || proto == portSpaceIB {
		return
	}
	v.judge(m, rule.CMIP001, proto != mad.ProtocolTCP && proto != mad.ProtocolUDP || port == 0, func() rule.Verdict {
		return rule.Verdict{Expected: "protocol 6 or 17 and a port in the service ID", Actual: fmt.Sprintf("protocol %d and port %d", proto, port)}
	})
	var h mad.IPHeader
	if have < mad.IPHeaderSize || h.Decode(private) != nil {
		return
	}
	known := h.Version == 0 && (h.IPVersion == 4 || h.IPVersion == 6)
	v.judge(m, rule.CMIP002, !known || h.Reserved != 0, func() rule.Verdict {
		return rule.Verdict{
			Expected: "version 0, IP version 4 or 6, and reserved bits 0",
			Actual:   fmt.Sprintf("version 0x%02x, IP version %d, reserved bits %d", h.Version, h.IPVersion, h.Reserved),
		}
	})
	if !known {
		return
	}
	if h.IPVersion == 4 {
		v.judge(m, rule.CMIP003, !ipv4Word(h.SourceWord) || !ipv4Word(h.DestinationWord), func() rule.Verdict {
			return rule.Verdict{Expected: "zeros before an IPv4 address", Actual: fmt.Sprintf("%v and %v", h.SourceWord, h.DestinationWord)}
		})
	}
	if !onIP(m.Packet) {
		return
	}
	source, destination := h.Source(), h.Destination()
	v.judge(m, rule.CMIP004, source != m.Src || destination != m.Dst, func() rule.Verdict {
		return rule.Verdict{Expected: fmt.Sprintf("the addresses of the packet, %v and %v", m.Src, m.Dst), Actual: fmt.Sprintf("%v and %v", source, destination)}
	})
}

// ipv4Word reports whether all bytes before the last four are 0.
func ipv4Word(a packet.Addr) bool { return a.Hi == 0 && a.Lo>>32 == 0 }
