package mad

import "fmt"

// ModifierText writes the attribute modifier of a subnet management packet, with what it says of the attribute (table T11).
func ModifierText(a Attribute, n uint32) string {
	s := fmt.Sprintf("modifier 0x%08x", n)
	low, high := n&0xFFFF, n>>16
	switch a {
	case AttrSLtoVL:
		in, out := fmt.Sprintf("input port %d", n>>8&0xFF), fmt.Sprintf("output port %d", n&0xFF)
		if high&1 != 0 {
			in = "all input ports"
		}
		if high&2 != 0 {
			out = "all output ports"
		}
		return s + ": " + in + ", " + out
	case AttrVLArbitration:
		return s + fmt.Sprintf(": block %d of port %d", high, low)
	case AttrPKeyTable:
		return s + fmt.Sprintf(": block %d of port %d", low, high)
	case AttrLinearForwarding:
		return s + fmt.Sprintf(": LIDs %d to %d", 64*uint64(n), 64*uint64(n)+63)
	case AttrMulticastForwarding:
		return s + fmt.Sprintf(": block %d, ports %d to %d", n&0x1FF, 16*(n>>28), 16*(n>>28)+15)
	case AttrRandomForwarding, AttrGUIDInfo:
		return s + fmt.Sprintf(": block %d", n)
	case AttrPortInfo:
		return s + fmt.Sprintf(": port %d", n&0xFF)
	}
	return s
}
