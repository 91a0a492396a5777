package verbs

import (
	"fmt"
	"net/netip"

	"ibwitness/hcaagent/remote"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// gid is an entry of the port's table.
type gid struct {
	remote.GID
	nets []netip.Prefix // of the network interface whose address it is
}

// source returns the index of the entry that packets to an address come from: the one that is asked for or, where none is, one of RoCEv2 and of the address's family,
// of an interface that reaches the address where there is one.
func source(table []gid, asked wqe.GID, dest packet.Addr) (int, error) {
	if !asked.Addr.IsZero() {
		for i := range table {
			if table[i].GID.GID == asked {
				return table[i].Index, nil
			}
		}
		return 0, fmt.Errorf("verbs: source %v, RoCEv1 %t: the port's table of GIDs has no such entry", asked.Addr, asked.RoCEv1)
	}
	to := netip.AddrFrom16(dest.Bytes()).Unmap()
	found := -1
	for i := range table {
		g := &table[i]
		if g.RoCEv1 || g.Addr.IsIPv4() != dest.IsIPv4() {
			continue
		}
		for _, n := range g.nets {
			if n.Contains(to) {
				return g.Index, nil
			}
		}
		if found < 0 {
			found = g.Index
		}
	}
	if found < 0 {
		return 0, fmt.Errorf("verbs: no GID of the port can send to %v: give the network interface an address of its family", dest)
	}
	return found, nil
}

// own is the address that the queue pairs of a port are named by: on RoCE an IPv4 address where it has one.
func own(table []gid, lid uint16) packet.Addr {
	if lid != 0 {
		return packet.LIDAddr(lid)
	}
	var first packet.Addr
	for i := range table {
		if g := &table[i]; !g.RoCEv1 {
			if g.Addr.IsIPv4() {
				return g.Addr
			}
			if first.IsZero() {
				first = g.Addr
			}
		}
	}
	return first
}
