package fabricagent

import (
	"fmt"
	"strings"
)

// LinkType is the kind of bytes that a frame begins with, by the numbers of the pcap registry.
type LinkType uint16

// The link types that Decode understands, and LinkERF, whose records the readers unwrap into Ethernet, InfiniBand and
// raw IP frames. A frame that still has LinkERF is a record of another kind.
const (
	LinkEthernet   LinkType = 1
	LinkRawBSD     LinkType = 12
	LinkRawOpenBSD LinkType = 14
	LinkRaw        LinkType = 101
	LinkLinuxSLL   LinkType = 113
	LinkTap        LinkType = 158 // user-defined 11; here: a tap on an InfiniBand link, whose frames may be link packets (docs/link.md)
	LinkERF        LinkType = 197
	LinkIPv4       LinkType = 228
	LinkIPv6       LinkType = 229
	LinkInfiniBand LinkType = 247
	LinkLinuxSLL2  LinkType = 276
)

// linkNames holds the supported link types, in the order of their numbers, and some that users try.
var linkNames = []struct {
	link      LinkType
	name      string
	supported bool
}{
	{0, "BSD loopback", false},
	{LinkEthernet, "Ethernet", true},
	{LinkRawBSD, "raw IP", true},
	{LinkRawOpenBSD, "raw IP", true},
	{LinkRaw, "raw IP", true},
	{105, "IEEE 802.11", false},
	{108, "OpenBSD loopback", false},
	{LinkLinuxSLL, "Linux cooked", true},
	{127, "IEEE 802.11 radiotap", false},
	{147, "user-defined 0", false},
	{LinkTap, "InfiniBand link tap", true},
	{189, "Linux USB", false},
	{LinkERF, "ERF", true},
	{220, "Linux USB", false},
	{LinkIPv4, "raw IPv4", true},
	{LinkIPv6, "raw IPv6", true},
	{242, "IP over InfiniBand", false},
	{LinkInfiniBand, "InfiniBand", true},
	{253, "netlink", false},
	{LinkLinuxSLL2, "Linux cooked v2", true},
}

// Supported reports whether Decode understands frames of this link type.
func (l LinkType) Supported() bool {
	for _, n := range linkNames {
		if n.link == l {
			return n.supported
		}
	}
	return false
}

// String writes a name and the number: "Ethernet (1)".
func (l LinkType) String() string {
	for _, n := range linkNames {
		if n.link == l {
			return fmt.Sprintf("%s (%d)", n.name, uint16(l))
		}
	}
	return fmt.Sprintf("link type %d", uint16(l))
}

func supportedLinks() string {
	var s []string
	for _, n := range linkNames {
		if n.supported {
			s = append(s, n.link.String())
		}
	}
	return strings.Join(s, ", ")
}
