package cli

import (
	"strconv"
	"testing"

	"ibwitness/internal/traffic"
	"ibwitness/internal/veth"
)

// TestMemory: connections beyond what the memory can hold are forgotten, and counted, and the process stays below its ceiling.
func TestMemory(t *testing.T) {
	if raced {
		t.Skip("the race detector needs memory of its own: make unit runs this without it")
	}
	if !veth.Network(t) {
		return
	}
	const ceiling, connections = 190, 20_000
	p := start(t, "watch", "-i", "right", "--promiscuous", "--listen", "127.0.0.1:9846", "--memory", strconv.Itoa(ceiling), "--recorder", "8")
	p.logs("watching")
	raw := traffic.Capture(traffic.Small(connections), 3*connections)
	b := raw[24:]
	n := 0
	veth.Flood(t, "left", 10_000, func() []byte {
		if len(b) < 16 {
			return nil
		}
		n++
		size := int(b[8]) | int(b[9])<<8 | int(b[10])<<16
		f := b[16 : 16+size]
		b = b[16+size:]
		return f
	})
	p.arrive("127.0.0.1:9846", n)
	p.settled("127.0.0.1:9846")
	u := used(t)
	t.Logf("%d connections of %d are followed in %d MiB", u.connections, connections, u.bytes>>20)
	if u.connections > connections*9/10 || u.connections < connections/10 {
		t.Error("too many, or too few")
	}
	if u.bytes > ceiling<<20 {
		t.Error("that is too much")
	}
}
