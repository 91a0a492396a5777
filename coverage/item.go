package coverage

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ibwitness/packet"
	"ibwitness/rule"
)

// Item is one thing that a run may show.
type Item struct {
	Name    string // "syndrome/rc/rnr-nak/12"; it stays the same, and its first part is the name of a group
	Group   string // "syndrome"
	Service string // "RC"; nothing for rules
	Kind    string // what it is one of: "RNR NAK timer code", or of rules their family
	Value   string // which one it is: "12"
	Text    string // "RC RNR NAK with timer code 12 (640µs)"
	Rule    rule.ID
	count   func(*Counts) uint64
}

// Groups names the groups of items, in their order.
func Groups() []string {
	return []string{GroupRule, GroupOpcode, GroupSyndrome, GroupWrap, GroupPMTU, GroupLength, GroupPad, GroupRecovery}
}

// The groups.
const (
	GroupRule     = "rule"
	GroupOpcode   = "opcode"
	GroupSyndrome = "syndrome"
	GroupWrap     = "wrap"
	GroupPMTU     = "pmtu"
	GroupLength   = "length"
	GroupPad      = "pad"
	GroupRecovery = "recovery"
)

// Count returns how often a run has shown the item. Of a rule it is how often the rule was exercised.
func (i *Item) Count(c *Counts, rules *[rule.NumRules]rule.Count) rule.Count {
	if i.Group == GroupRule {
		return rules[i.Rule]
	}
	return rule.Count{Exercised: i.count(c)}
}

// Hole says that the item was not shown.
func (i *Item) Hole() string {
	if i.Group == GroupRule {
		return i.Text + " was never exercised"
	}
	return i.Text + " was never seen"
}

// Items lists all items, group by group. The list is not to be changed.
func Items() []Item { return items() }

// Index returns the place of the item of a name in Items, or -1.
func Index(name string) int {
	if i, ok := byName()[name]; ok {
		return i
	}
	return -1
}

var items = sync.OnceValue(func() (list []Item) {
	for _, id := range rule.Rules() {
		row := id.Row()
		if row.Where == "" {
			continue // no check, so that no run can show it
		}
		at := strings.LastIndexByte(row.ID, '-')
		list = append(list, Item{Group: GroupRule, Name: row.ID, Kind: row.ID[:at], Value: row.ID[at+1:], Text: row.ID + " " + row.Name, Rule: id})
	}
	for _, group := range [][]Item{opcodes(), syndromes(), wraps(), pmtus(), lengths(), pads(), recoveries()} {
		list = append(list, group...)
	}
	for i := range list {
		k := &list[i]
		k.Name = k.Group + "/" + k.Name
	}
	return list
})

var byName = sync.OnceValue(func() map[string]int {
	m := map[string]int{}
	for i := range items() {
		m[items()[i].Name] = i
	}
	return m
})

// slug is a part of a name.
func slug(s string) string { return strings.ReplaceAll(strings.ToLower(s), " ", "-") }

// of names an item of a service.
func of(s packet.Service, parts ...string) string {
	for i := range parts {
		parts[i] = slug(parts[i])
	}
	return strings.Join(append([]string{slug(s.String())}, parts...), "/")
}

func opcodes() (list []Item) {
	for o := range 256 {
		o := packet.Opcode(o)
		if !o.Info().Defined {
			continue
		}
		s := o.Service()
		value := strings.TrimPrefix(o.String(), s.String()+" ")
		list = append(list, Item{
			Group: GroupOpcode, Name: of(s, value), Service: s.String(), Kind: "opcode", Value: value, Text: o.String(),
			count: func(c *Counts) uint64 { return c.Opcodes[o] },
		})
	}
	return list
}

// acknowledging are the services that acknowledge.
var acknowledging = []packet.Service{packet.RC, packet.RD, packet.XRC}

func syndromes() (list []Item) {
	for _, s := range acknowledging {
		add := func(kind, value, name, text string, which ...packet.Syndrome) {
			list = append(list, Item{
				Group: GroupSyndrome, Name: of(s, name), Service: s.String(), Kind: kind, Value: value, Text: s.String() + " " + text,
				count: func(c *Counts) (n uint64) {
					for _, w := range which {
						n += c.Syndromes[s][w]
					}
					return n
				},
			})
		}
		add("ACK", "without end-to-end credits", "ack/no-credits", "ACK without end-to-end credits (credit code 31)", packet.CreditInvalid)
		if s == packet.RC { // else credits are not given: annex A14, section 9.7.7.2
			for code := range packet.Syndrome(packet.CreditInvalid) {
				n, _ := code.Credits()
				add("ACK credit code", strconv.Itoa(int(code)), fmt.Sprintf("ack/credits-%d", code), fmt.Sprintf("ACK with credit code %d (%d credits)", code, n), code)
			}
		}
		for code := range packet.Syndrome(32) {
			add("RNR NAK timer code", strconv.Itoa(int(code)), fmt.Sprintf("rnr-nak/%d", code), fmt.Sprintf("RNR NAK with timer code %d (%v)", code, packet.RNRTimer(uint8(code))), 0x20|code)
		}
		for code := packet.NAKSequence; code <= packet.NAKInvalidRD; code++ {
			if code != packet.NAKInvalidRD || s == packet.RD {
				text := code.String()
				add("NAK", strings.TrimPrefix(text, "NAK "), "nak/"+strings.TrimPrefix(text, "NAK "), text, code)
			}
		}
		var reserved []packet.Syndrome
		for code := range 256 {
			if packet.Syndrome(code).Reserved() {
				reserved = append(reserved, packet.Syndrome(code))
			}
		}
		add("AETH", "reserved syndrome", "reserved", "AETH with a reserved syndrome", reserved...)
	}
	return list
}

func wraps() (list []Item) {
	for _, k := range []struct {
		wrap     Wrap
		name     string
		value    string
		text     string
		services []packet.Service
	}{
		{RequestWrap, "request-psn", "request PSN", "request PSN that wraps from 0xffffff to 0", []packet.Service{packet.RC, packet.UC, packet.RD, packet.UD, packet.XRC}},
		{ResponseWrap, "response-psn", "response PSN", "response PSN that wraps from 0xffffff to 0", []packet.Service{packet.RC, packet.XRC}},
		{SendWrap, "send", "PSN inside a SEND", "SEND of several packets with a PSN wrap inside it", []packet.Service{packet.RC, packet.UC, packet.XRC}},
		{WriteWrap, "rdma-write", "PSN inside an RDMA WRITE", "RDMA WRITE of several packets with a PSN wrap inside it", []packet.Service{packet.RC, packet.UC, packet.XRC}},
		{ReadWrap, "rdma-read", "PSN inside the response to an RDMA READ", "RDMA READ Request with a PSN wrap inside its response", []packet.Service{packet.RC, packet.XRC}},
		{MSNWrap, "msn", "MSN", "MSN that wraps from 0xffffff to 0", []packet.Service{packet.RC, packet.XRC}},
	} {
		for _, s := range k.services {
			list = append(list, Item{
				Group: GroupWrap, Name: of(s, k.name), Service: s.String(), Kind: "wrap", Value: k.value, Text: s.String() + " " + k.text,
				count: func(c *Counts) uint64 { return c.Wraps[s][k.wrap] },
			})
		}
	}
	return byService(list)
}

// byService orders items by their services, as opcodes are.
func byService(list []Item) []Item {
	order := func(i Item) int {
		return slices.IndexFunc([]packet.Service{packet.RC, packet.UC, packet.RD, packet.UD, packet.XRC}, func(s packet.Service) bool { return s.String() == i.Service })
	}
	slices.SortStableFunc(list, func(a, b Item) int { return order(a) - order(b) })
	return list
}

// carrying are the services whose messages have several packets, with the operations that they have.
var carrying = []struct {
	service packet.Service
	ops     []Op
}{
	{packet.RC, []Op{Send, Write, Read}}, {packet.UC, []Op{Send, Write}}, {packet.RD, []Op{Send, Write, Read}}, {packet.UD, []Op{Send}}, {packet.XRC, []Op{Send, Write, Read}},
}

func pmtus() (list []Item) {
	for _, k := range carrying {
		if k.service == packet.UD {
			continue // one packet a message
		}
		for i := range NumPMTUs {
			pmtu := strconv.Itoa(256 << i)
			list = append(list, Item{
				Group: GroupPMTU, Name: of(k.service, pmtu), Service: k.service.String(), Kind: "path MTU", Value: pmtu,
				Text: k.service.String() + " message of several packets with path MTU " + pmtu, count: func(c *Counts) uint64 { return c.PMTU[k.service][i] },
			})
		}
	}
	return list
}

func lengths() (list []Item) {
	names := [NumSizes]struct{ name, value, text string }{
		{"0", "0", "0 bytes"},
		{"1-3", "1 to 3", "1 to 3 bytes"},
		{"below-pmtu", "below PMTU-1", "4 bytes or more, and less than PMTU-1"},
		{"pmtu-1", "PMTU-1", "PMTU-1 bytes"},
		{"pmtu", "PMTU", "PMTU bytes"},
		{"pmtu+1", "PMTU+1", "PMTU+1 bytes"},
		{"full", "n PMTU", "several packets that are all full"},
		{"rest", "n PMTU and a rest", "several packets with a rest in the last"},
		{"large", "above 64 KiB", "more than 64 KiB"},
	}
	for _, k := range carrying {
		for _, op := range k.ops {
			for size := range NumSizes {
				if k.service == packet.UD && size > ExactlyPMTU {
					break
				}
				n := names[size]
				list = append(list, Item{
					Group: GroupLength, Name: of(k.service, op.String(), n.name), Service: k.service.String(), Kind: op.String() + " length", Value: n.value,
					Text: fmt.Sprintf("%v %v of %s", k.service, op, n.text), count: func(c *Counts) uint64 { return c.Lengths[k.service][op][size] },
				})
			}
		}
	}
	return list
}

func pads() (list []Item) {
	for _, k := range carrying {
		for _, op := range k.ops {
			for n := range 4 {
				what := op.String()
				if op == Read {
					what = "response to an RDMA READ"
				}
				list = append(list, Item{
					Group: GroupPad, Name: of(k.service, op.String(), strconv.Itoa(n)), Service: k.service.String(), Kind: op.String() + " pad count", Value: strconv.Itoa(n),
					Text: fmt.Sprintf("%v %s with pad count %d", k.service, what, n), count: func(c *Counts) uint64 { return c.Pads[k.service][op][n] },
				})
			}
		}
	}
	return list
}

func recoveries() (list []Item) {
	names := [NumPaths]struct{ name, value, text string }{
		SequenceNAK:       {"sequence-nak", "sequence NAK", "NAK PSN Sequence Error, go-back-N, acknowledged"},
		RNRNAK:            {"rnr-nak", "RNR NAK", "RNR NAK, wait, retransmission, acknowledged"},
		Timeout:           {"timeout", "timeout", "no response until the timer expires, retransmission, acknowledged"},
		DuplicateMessage:  {"duplicate-message", "duplicate SEND or RDMA WRITE", "ACK lost, duplicate SEND or RDMA WRITE, acknowledged again"},
		DuplicateRead:     {"duplicate-read", "duplicate RDMA READ", "duplicate RDMA READ Request, answered again"},
		PartialRead:       {"partial-read", "rest of an RDMA READ", "RDMA READ Request for the rest of the response, answered to its end"},
		ImpliedNAK:        {"implied-nak", "implied NAK", "response missing (implied NAK), request again, answered to its end"},
		DuplicateAtomic:   {"duplicate-atomic", "duplicate ATOMIC", "duplicate ATOMIC, answered again"},
		RetriesExhausted:  {"retries-exhausted", "retries exhausted", "retry_cnt retries without a response, then nothing more"},
		RNRExhausted:      {"rnr-retries-exhausted", "RNR retries exhausted", "rnr_retry retries, each with an RNR NAK, then nothing more"},
		InvalidRequest:    {"nak-invalid-request", "NAK Invalid Request", "NAK Invalid Request, then nothing more"},
		RemoteAccess:      {"nak-remote-access", "NAK Remote Access Error", "NAK Remote Access Error, then nothing more"},
		RemoteOperational: {"nak-remote-operational", "NAK Remote Operational Error", "NAK Remote Operational Error, then nothing more"},
		DroppedMessage:    {"message-dropped", "message dropped", "packet lost, its message dropped, the next message begins"},
		Resynchronised:    {"resync", "RESYNC", "RESYNC, acknowledged"},
	}
	reliable := []Path{
		SequenceNAK, RNRNAK, Timeout, DuplicateMessage, DuplicateRead, PartialRead, ImpliedNAK, DuplicateAtomic,
		RetriesExhausted, RNRExhausted, InvalidRequest, RemoteAccess, RemoteOperational,
	}
	for _, k := range []struct {
		service packet.Service
		paths   []Path
	}{
		{packet.RC, reliable}, {packet.UC, []Path{DroppedMessage}}, {packet.RD, []Path{SequenceNAK, RNRNAK, Timeout, Resynchronised}}, {packet.XRC, reliable},
	} {
		for _, path := range k.paths {
			n := names[path]
			list = append(list, Item{
				Group: GroupRecovery, Name: of(k.service, n.name), Service: k.service.String(), Kind: "recovery", Value: n.value, Text: k.service.String() + " recovery: " + n.text,
				count: func(c *Counts) uint64 { return c.Paths[k.service][path] },
			})
		}
	}
	return list
}
