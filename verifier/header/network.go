package header

import (
	"ibwitness/packet"
	"ibwitness/rule"
)

// linkLocal is the GID prefix by which every port is known within its subnet.
const linkLocal = 0xFE80 << 48

// networkHeaders are the rules of family NET on the global route header.
var networkHeaders = []header{
	{rule.NETGRH002, rule.Sender, withGRH, func(p *packet.Packet) breach {
		return mismatch(p.Has&packet.HasGRH != 0 && p.IPVer != 6, "IPVer 6", "IPVer %d", p.IPVer)
	}, false, nil},
	{rule.NETGRH003, rule.Sender, withGRH, func(p *packet.Packet) breach {
		return mismatch(p.Has&packet.HasGRH != 0 && p.NxtHdr != 0x1B, "NxtHdr 0x1b", "NxtHdr 0x%02x", p.NxtHdr)
	}, false, nil},
	{rule.NETGRH004, rule.Sender, withGRH, func(p *packet.Packet) breach {
		return mismatch(p.Flaws&packet.FlawIPLength != 0, "PayLen of what follows the GRH, through the ICRC", "PayLen %d", p.PayLen)
	}, false, nil},
	{rule.NETGRH005, rule.Sender, onLink, func(p *packet.Packet) breach {
		bad := p.Has&(packet.HasGRH|packet.HasLRH) == packet.HasGRH|packet.HasLRH && p.LNH == 3 && int(p.PktLen)*4-8-40 != int(p.PayLen)
		return mismatch2(bad, "PktLen and PayLen that agree", "PktLen %d words, PayLen %d bytes", p.PktLen, p.PayLen)
	}, false, nil},
	{rule.NETGRH009, rule.Sender, of(packet.UD), func(p *packet.Packet) breach {
		bad := p.DestQP == packet.PSNMask && p.Dst.IsMulticast() && (p.Has&packet.HasLRH != 0 && p.Has&packet.HasGRH == 0 || p.Has&packet.HasGRH != 0 && p.DGID.Hi>>56 != 0xFF)
		return mismatch(bad, "a GRH with a DGID that begins with 0xff", "DGID %v", p.DGID)
	}, false, nil},
	{rule.NETGRH010, rule.Sender, withGRH, func(p *packet.Packet) breach {
		if p.Has&packet.HasGRH == 0 || p.DGID.IsMulticast() {
			return breach{}
		}
		bad := p.HopLmt <= 1 && p.SGID.Hi != p.DGID.Hi && p.SGID.Hi != linkLocal && p.DGID.Hi != linkLocal
		return mismatch3(bad, "a hop limit above 1 to another subnet", "hop limit %d from %v to %v", p.HopLmt, p.SGID, p.DGID)
	}, true, nil},
	{rule.NETGRH011, rule.Sender, all, func(p *packet.Packet) breach {
		if p.Has&(packet.HasGRH|packet.HasIPv4|packet.HasIPv6) == 0 {
			return breach{}
		}
		return mismatch(p.SGID.IsZero() || p.SGID.IsIPv4() && uint32(p.SGID.Lo) == 0 || p.SGID.IsMulticast(), "a unicast source address", "%v", p.SGID)
	}, false, has(srcLow.not(0), srcClass.unicast())},
	{rule.NETGRH012, rule.Sender, of(packet.UD), func(p *packet.Packet) breach {
		if p.Has&packet.HasGRH == 0 || p.DGID.Hi>>56 != 0xFF {
			return breach{}
		}
		flags, scope := p.DGID.Hi>>52&0xF, p.DGID.Hi>>48&0xF
		bad := flags > 1 || scope != 2 && scope != 5 && scope != 8 && scope != 0xE
		return mismatch(bad, "multicast flags 0 or 1 and scope 2, 5, 8 or E", "%v", p.DGID)
	}, false, nil},
}
