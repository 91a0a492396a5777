package fabricagent

import "encoding/binary"

const (
	portUltraEthernet = 4793
	portESP           = 4500 // RFC 3948
	portPSP           = 1000

	espSize  = 8
	pspSize  = 16
	firstSPI = 256 // those below are reserved, and 0 marks IKE
)

// named tells what a UDP packet is that carries no RoCE which can be read: another RDMA transport, or one that encrypts. b holds at least its ports.
func named(b []byte) Outcome {
	from, to := binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	switch {
	case to == portUltraEthernet:
		return UltraEthernet
	case to == portPSP && isPSP(b):
		return PSP
	case (to == portESP || from == portESP) && isESP(b):
		return ESP
	}
	return NotRDMA
}

// isESP reports whether a UDP packet to or from the port of IKE carries ESP: neither the marker of IKE nor a packet of one byte that keeps a translation alive.
func isESP(b []byte) bool {
	return len(b) >= udpSize+espSize && binary.BigEndian.Uint32(b[udpSize:]) >= firstSPI
}

// isPSP reports whether a UDP packet has a header of PSP: at least 16 bytes long, of one of its four versions, with the bit that is always set.
func isPSP(b []byte) bool {
	const length, flags, always = 1, 3, 1
	return len(b) >= udpSize+pspSize && b[udpSize+length] >= pspSize/8-1 && b[udpSize+flags]&always != 0 && b[udpSize+flags]>>2&0xF <= 3
}
