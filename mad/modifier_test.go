package mad

import "testing"

func TestModifierText(t *testing.T) {
	for _, c := range []struct {
		a    Attribute
		n    uint32
		want string
	}{
		{AttrSLtoVL, 0x0001, "modifier 0x00000001: input port 0, output port 1"},
		{AttrSLtoVL, 0x10003, "modifier 0x00010003: all input ports, output port 3"},
		{AttrSLtoVL, 0x30000, "modifier 0x00030000: all input ports, all output ports"},
		{AttrVLArbitration, 0x20005, "modifier 0x00020005: block 2 of port 5"},
		{AttrPKeyTable, 0x50002, "modifier 0x00050002: block 2 of port 5"},
		{AttrLinearForwarding, 2, "modifier 0x00000002: LIDs 128 to 191"},
		{AttrMulticastForwarding, 0x20000001, "modifier 0x20000001: block 1, ports 32 to 47"},
		{AttrGUIDInfo, 1, "modifier 0x00000001: block 1"},
		{AttrPortInfo, 3, "modifier 0x00000003: port 3"},
		{AttrNodeInfo, 3, "modifier 0x00000003"},
	} {
		if got := ModifierText(c.a, c.n); got != c.want {
			t.Errorf("%d, 0x%x: got %s, want %s", c.a, c.n, got, c.want)
		}
	}
}
