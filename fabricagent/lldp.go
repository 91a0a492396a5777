package fabricagent

import "encoding/binary"

// Neighbor is what a frame of LLDP tells of the port that sent it.
type Neighbor struct {
	Station uint64 // the Ethernet address that sent it
	System  string // the name of its switch or host
	Port    string // the name of the port; "": it has none that can be read
}

// NeighborOf returns what a frame of LLDP tells; ok is false for all others, and where it does not name the system.
func NeighborOf(f *Frame) (n Neighbor, ok bool) {
	const (
		end, portID, systemName = 0, 2, 5

		byMAC, byAddress = 3, 4 // kinds of port ID that are no text
	)
	kind, b := afterEther(f)
	if kind != etherLLDP || f.Link != LinkEthernet {
		return Neighbor{}, false
	}
	n.Station = binary.BigEndian.Uint64(f.Data[4:]) & (1<<48 - 1)
	for len(b) >= 2 {
		t, size := b[0]>>1, int(binary.BigEndian.Uint16(b)&0x1FF)
		if b = b[2:]; t == end || size > len(b) {
			break
		}
		switch {
		case t == systemName:
			n.System = readable(b[:size])
		case t == portID && size > 1 && b[0] != byMAC && b[0] != byAddress:
			n.Port = readable(b[1:size])
		}
		b = b[size:]
	}
	return n, n.System != "" && n.Station != 0
}

// readable is a name that a frame gives; "": it is empty, long, or has other than printable ASCII characters.
func readable(b []byte) string {
	const most = 64
	for _, c := range b {
		if c <= ' ' || c > '~' {
			return ""
		}
	}
	if len(b) > most {
		return ""
	}
	return string(b)
}
