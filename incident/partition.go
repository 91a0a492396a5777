package incident

import (
	"fmt"
	"slices"

	"ibwitness/agent"
	"ibwitness/packet"
)

// fullMember is the bit of a P_Key that tells a full member from a limited one.
const fullMember = 0x8000

// mostKeys is from how many P_Keys on a host uses too many for them to say which belongs to whom.
const mostKeys = 4

// meet reports whether an end with one P_Key takes packets with another: of the same partition, and not from one limited member to another.
func meet(a, b uint16) bool { return a&^fullMember == b&^fullMember && (a|b)&fullMember != 0 }

// partitions says that the P_Key of end from of a connection, whose requests nothing answers, is none that the peer takes packets with, by those which it sends itself; "": it may be one.
func (t *teller) partitions(c *agent.Connection, from int) string {
	e, peer := &c.Ends[from], &c.Ends[1-from]
	if !e.Path.Known {
		return ""
	}
	var keys []uint16
	switch {
	case peer.Path.Known:
		keys = []uint16{peer.Path.PKey}
	case peer.Packets == 0:
		keys = t.unansweredKeys(c, from)
	}
	if len(keys) == 0 || len(keys) >= mostKeys || slices.ContainsFunc(keys, func(k uint16) bool { return meet(e.Path.PKey, k) }) {
		return ""
	}
	if len(keys) == 1 && keys[0] == e.Path.PKey {
		return fmt.Sprintf("packets of %v and of %v carry P_Key 0x%04x: limited members of a partition do not take packets of one another", e.Addr, peer.Addr, keys[0])
	}
	return fmt.Sprintf("packets of %v carry P_Key 0x%04x, those of %v carry %s", e.Addr, e.Path.PKey, peer.Addr, keyNames(keys))
}

// unansweredKeys are the P_Keys of what the peer of end from of a connection sends to its host on connections that are as one-sided as this one: one of them may be the way back.
func (t *teller) unansweredKeys(c *agent.Connection, from int) []uint16 {
	k := waysKey{way{c.Ends[1-from].Addr, c.Ends[from].Addr}, c.Service}
	if keys, known := t.keysOf[k]; known {
		return keys
	}
	var keys []uint16
	for _, d := range t.siblings(c) {
		for back := range d.Ends {
			e := &d.Ends[back]
			if e.Addr == k.from && d != c && e.Path.Known && d.Ends[1-back].Packets == 0 && len(keys) < mostKeys && !slices.Contains(keys, e.Path.PKey) {
				keys = append(keys, e.Path.PKey)
			}
		}
	}
	if t.keysOf == nil {
		t.keysOf = map[waysKey][]uint16{}
	}
	t.keysOf[k] = keys
	return keys
}

// explain puts what the P_Keys of both ends say first.
func (i *Incident) explain(partitions string) {
	i.Facts = slices.Insert(i.Facts, 0, Fact{"P_Key", partitions})
	i.FitsWith = slices.DeleteFunc(i.FitsWith, func(s string) bool { return s == otherPKey })
	i.FitsWith = slices.Insert(i.FitsWith, 0, "a P_Key that the two ends do not agree on: each drops what the other sends, and answers nothing")
	i.Next = slices.Insert(i.Next, 0, "the pkey_index of both queue pairs, and the tables of P_Keys of both ports (/sys/class/infiniband/*/ports/*/pkeys)")
}

// partition is the group of what both hosts send in vain as their P_Keys differ: it is one, whoever sends it.
func partition(i *Incident) group {
	p := pairBy(i.Local.Addr, i.Peer.Addr)
	return group{i.Kind, p.a, p.b, "P_Key"}
}

// pkeys says which P_Keys both ends of a connection send with, where they differ or one is that of a limited member; "": they do not. Those of a peer that has sent nothing on it are of
// its other connections.
func (t *teller) pkeys(c *agent.Connection, from int) string {
	e, peer := &c.Ends[from], &c.Ends[1-from]
	if !e.Path.Known {
		return ""
	}
	key := e.Path.PKey
	keys, where := []uint16{peer.Path.PKey}, ""
	if !peer.Path.Known {
		keys, where = t.keysFrom(peer.Addr), " on other connections"
	}
	usual := key&fullMember != 0 && !slices.ContainsFunc(keys, func(k uint16) bool { return k != key })
	if usual || len(keys) >= mostKeys {
		return ""
	}
	limited := ""
	if key&fullMember == 0 {
		limited = ", of a limited member: full members only take them"
	}
	s := fmt.Sprintf("packets of %v on this connection carry 0x%04x%s", e.Addr, key, limited)
	if len(keys) == 0 {
		return s + fmt.Sprintf("; %v has sent nothing that tells its own", peer.Addr)
	}
	return s + fmt.Sprintf("; those of %v%s %s", peer.Addr, where, keyNames(keys))
}

// otherKey says, of a connection whose requests from end from nothing answers, that they carry a P_Key which none of the others between the two hosts does that are answered; "": not so.
func (t *teller) otherKey(c *agent.Connection, from int) string {
	e := &c.Ends[from]
	if !e.Path.Known || c.Ends[1-from].Packets > 0 {
		return ""
	}
	var keys []uint16
	n := uint64(0)
	for _, d := range t.siblings(c) {
		a, b := &d.Ends[0], &d.Ends[1]
		if d == c || a.Packets == 0 || b.Packets == 0 || !a.Path.Known || !b.Path.Known || a.QPN <= 1 || b.QPN <= 1 {
			continue
		}
		for _, k := range []uint16{a.Path.PKey, b.Path.PKey} {
			if k == e.Path.PKey {
				return ""
			}
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
		n++
	}
	if n == 0 || len(keys) >= mostKeys {
		return ""
	}
	return fmt.Sprintf("0x%04x on this connection, and %s on %s between the same hosts, which carry packets both ways", e.Path.PKey, keyNames(keys), count(n, "other"))
}

// keyNames writes P_Keys as "0x8001 and 0xffff".
func keyNames(keys []uint16) string {
	var names []string
	for _, k := range keys {
		names = append(names, fmt.Sprintf("0x%04x", k))
	}
	return enumerate(names)
}

// keysFrom are the P_Keys of what a host sends, but for management. They are looked for once, of all hosts, as very many connections may never be answered.
func (t *teller) keysFrom(a packet.Addr) []uint16 {
	if t.pKeys == nil {
		t.pKeys = map[packet.Addr][]uint16{}
		for k := range t.run.Connections {
			for n := range t.run.Connections[k].Ends {
				e := &t.run.Connections[k].Ends[n]
				if keys := t.pKeys[e.Addr]; e.Path.Known && e.QPN > 1 && !slices.Contains(keys, e.Path.PKey) && len(keys) < mostKeys {
					t.pKeys[e.Addr] = append(keys, e.Path.PKey)
				}
			}
		}
	}
	return t.pKeys[a]
}
