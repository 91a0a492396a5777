package agent

import "ibwitness/packet"

// Packets verifies packets whose ICRC has been checked.
func (t *Transport) Packets(packets []*packet.Packet) {
	if t.table.few() {
		for _, p := range packets {
			t.packet(p)
		}
		return
	}
	t.table.settle(len(packets))
	for i := range len(packets) + behind {
		if k, c, from := t.table.Ahead(packets, i); k >= 0 && (c == nil || !t.usual(c, from, packets[k])) {
			t.packet(packets[k])
		}
	}
}
