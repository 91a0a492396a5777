package mad

import (
	"encoding/binary"
	"fmt"

	"ibwitness/packet"
)

// ServiceID is what a REQ or SIDR_REQ wants to reach.
type ServiceID uint64

// IPProtocol is the IP protocol whose port space an RDMA IP service ID names.
type IPProtocol uint8

// The protocols of the RDMA IP CM service.
const (
	ProtocolTCP IPProtocol = 0x06
	ProtocolUDP IPProtocol = 0x11
)

// IP takes the service ID of the RDMA IP CM service apart: 0x0000000001, the protocol, the destination port (annex A11, rule
// CM-IP-001). ok is false for the service ID of another service.
func (s ServiceID) IP() (proto IPProtocol, port uint16, ok bool) {
	return IPProtocol(s >> 16), uint16(s), s>>24 == 1
}

func (s ServiceID) String() string {
	proto, port, ok := s.IP()
	switch {
	case ok && proto == ProtocolTCP:
		return fmt.Sprintf("TCP port %d", port)
	case ok && proto == ProtocolUDP:
		return fmt.Sprintf("UDP port %d", port)
	case ok:
		return fmt.Sprintf("IP protocol %d port %d", uint8(proto), port)
	}
	return fmt.Sprintf("service 0x%016x", uint64(s))
}

// IPHeaderSize is the size in bytes of the CMA header.
const IPHeaderSize = 36

// IPHeader is the CMA header with which the private data of a REQ (or SIDR_REQ) to the RDMA IP CM service begins (annex A11,
// rule CM-IP-002).
type IPHeader struct {
	Version         uint8       // major version in the upper four bits, minor in the lower
	IPVersion       uint8       // 4 bits: 4 or 6
	SourcePort      uint16      // of the active side
	SourceWord      packet.Addr // the 16 bytes of the source address as they are; Source is the address
	DestinationWord packet.Addr
	Reserved        uint8 // 4 bits
}

// Decode reads the header from the private data of a REQ or SIDR_REQ. The error wraps ErrShort.
func (h *IPHeader) Decode(private []byte) error {
	if len(private) < IPHeaderSize {
		return fmt.Errorf("mad: IP addressing: %w", ErrShort)
	}
	h.Version = private[0]
	h.IPVersion = private[1] >> 4
	h.Reserved = private[1] & 0xF
	h.SourcePort = binary.BigEndian.Uint16(private[2:])
	h.SourceWord = packet.GIDAddr(private[4:])
	h.DestinationWord = packet.GIDAddr(private[20:])
	return nil
}

// Encode writes the 36 bytes of the header. The error wraps ErrShort.
func (h *IPHeader) Encode(private []byte) error {
	if len(private) < IPHeaderSize {
		return fmt.Errorf("mad: IP addressing: %w", ErrShort)
	}
	private[0] = h.Version
	private[1] = h.IPVersion<<4 | h.Reserved&0xF
	binary.BigEndian.PutUint16(private[2:], h.SourcePort)
	putGID(private[4:], h.SourceWord)
	putGID(private[20:], h.DestinationWord)
	return nil
}

// Source returns the IP address of the active side.
func (h *IPHeader) Source() packet.Addr { return h.address(h.SourceWord) }

// Destination returns the IP address of the passive side.
func (h *IPHeader) Destination() packet.Addr { return h.address(h.DestinationWord) }

// address turns an IPv4 address, which is in the last four bytes, into the form that packets have.
func (h *IPHeader) address(a packet.Addr) packet.Addr {
	if h.IPVersion == 4 {
		return packet.Addr{Lo: 0xffff<<32 | a.Lo&0xffffffff}
	}
	return a
}
