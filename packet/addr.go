package packet

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
)

// Addr is the network address of an endpoint: a GID, an IP address (IPv4 in its mapped form, ::ffff:a.b.c.d)
// or a LID. Two words, big-endian, so that it compares and hashes fast.
type Addr struct{ Hi, Lo uint64 }

// lidPrefix marks a LID; as a GID it would be a multicast address that section 4.1.1 does not allow.
const lidPrefix = math.MaxUint64

// linkPrefix marks a port of a link, which is known before it has a LID.
const linkPrefix = math.MaxUint64 - 1

// LinkAddr names port 0 or 1 of the link with this number.
func LinkAddr(link uint16, port uint8) Addr {
	return Addr{linkPrefix, uint64(link)<<1 | uint64(port&1)}
}

// LIDAddr is the address of the port with this LID.
func LIDAddr(lid uint16) Addr { return Addr{lidPrefix, uint64(lid)} }

// IPv4Addr is the address of four bytes in network order.
func IPv4Addr(b []byte) Addr {
	return Addr{0, 0xffff<<32 | uint64(binary.BigEndian.Uint32(b))}
}

// GIDAddr is the address of the 16 bytes of a GID or an IPv6 address.
func GIDAddr(b []byte) Addr {
	return Addr{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

// ParseAddr reads an IPv4 or IPv6 address, a GID, or a LID as "lid:5" or "lid:0x5".
func ParseAddr(s string) (Addr, error) {
	if rest, ok := strings.CutPrefix(s, "lid:"); ok {
		n, err := strconv.ParseUint(rest, 0, 16)
		if err != nil {
			return Addr{}, fmt.Errorf("packet: %q is no LID: give lid:1 to lid:65535", s)
		}
		return LIDAddr(uint16(n)), nil
	}
	ip, err := netip.ParseAddr(s)
	if err != nil {
		return Addr{}, fmt.Errorf("packet: %q is no address: give an IP address, a GID or lid:NUMBER", s)
	}
	b := ip.WithZone("").As16()
	return GIDAddr(b[:]), nil
}

// LIDOf is the LID of an address for which IsLID holds.
func LIDOf(a Addr) uint16 { return uint16(a.Lo) }

// Compare orders addresses: less than 0 where a comes first.
func (a Addr) Compare(b Addr) int { return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo)) }

// IsZero reports whether the address is the unspecified one.
func (a Addr) IsZero() bool { return a == Addr{} }

// IsLID reports whether the address is a LID.
func (a Addr) IsLID() bool { return a.Hi == lidPrefix }

// IsIPv4 reports whether the address is an IPv4 address in mapped form.
func (a Addr) IsIPv4() bool { return a.Hi == 0 && a.Lo>>32 == 0xffff }

// IsMulticast reports whether the address is a multicast LID, GID or IP address.
func (a Addr) IsMulticast() bool {
	switch {
	case a.IsLID():
		return a.Lo >= 0xC000 && a.Lo < 0xFFFF
	case a.IsIPv4():
		return a.Lo>>28&0xF == 0xE
	}
	return a.Hi>>56 == 0xFF
}

// Bytes returns the 16 bytes of a GID or IP address.
func (a Addr) Bytes() (b [16]byte) {
	binary.BigEndian.PutUint64(b[:], a.Hi)
	binary.BigEndian.PutUint64(b[8:], a.Lo)
	return b
}

// String writes an IP address or GID in its usual form, a LID as "lid:5" and a port of a link as "link:1/A".
func (a Addr) String() string {
	switch a.Hi {
	case lidPrefix:
		return "lid:" + strconv.FormatUint(a.Lo, 10)
	case linkPrefix:
		return "link:" + strconv.FormatUint(a.Lo>>1, 10) + [...]string{"/A", "/B"}[a.Lo&1]
	}
	return netip.AddrFrom16(a.Bytes()).Unmap().String()
}
