package agent

import (
	"ibwitness/agent/internal/connection"
	"ibwitness/packet"
)

// Packets verifies packets whose ICRC has been checked.
func (t *Transport) Packets(packets []*packet.Packet) {
	if t.table.Few() {
		for _, p := range packets {
			t.packet(p)
		}
		return
	}
	t.table.Settle(len(packets))
	for i := range len(packets) + connection.Delay {
		c, from := t.table.Ahead(packets, i)
		k := i - connection.Delay
		if k < 0 || c != nil && !t.beside && t.usual(c, from, packets[k]) {
			continue
		}
		if c == nil || !t.known(c, from, packets[k]) {
			t.packet(packets[k])
		}
	}
}

// known verifies a sound packet of a connection that is known, and reports whether it did.
func (t *Transport) known(c *connection.Connection, from int, p *packet.Packet) bool {
	if t.beside {
		return t.usualBeside(c, from, p)
	}
	return t.usual(c, from, p) || t.sound(c, from, p)
}
