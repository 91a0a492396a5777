package incident

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"ibwitness/packet"
)

// damagedHost is a host from which all packets come that were damaged, or to which all go, though others sent so much that this is no chance.
type damagedHost struct {
	addr  packet.Addr
	from  bool
	rest  uint64       // packets of which none comes from it, or goes to it: none was damaged
	hosts int          // other hosts that sent these, or were sent these
	alike string       // in place of these, of which there are few: which share was damaged on each of its ways, all alike
	ways  int          // so many
	sent  *judgedLoads // on these
}

// load is what is sent from a host, or to one.
type load struct{ packets, bytes uint64 }

// damagedHost returns the host that all of n damaged packets have in common, which are on some ways; nil: there is none, or not enough to tell of it was checked.
func (s *judgedLoads) damagedHost(ways []*onWay, n uint64) *damagedHost {
	if s == nil || len(ways) < 2 {
		return nil
	}
	for _, from := range []bool{true, false} {
		x := ways[0].side(from)
		if slices.ContainsFunc(ways, func(w *onWay) bool { return w.side(from) != x || s.ways[w.way].packets == 0 }) {
			continue
		}
		if h := s.damagedOnly(x, from, ways, n); h != nil {
			return h
		}
	}
	return nil
}

// headersOf is about how many bytes of headers a packet has: what is damaged may be any of them.
const headersOf = 60

func (l load) plus(o load) load { return load{l.packets + o.packets, l.bytes + o.bytes} }

// side is the host that a way begins at, or ends at.
func (w way) side(from bool) packet.Addr {
	if from {
		return w.from
	}
	return w.to
}

// damagedOnly returns the host that all damaged packets come from, or go to, where that is no chance, and no way of it on which many were sent had none damaged.
func (s *judgedLoads) damagedOnly(x packet.Addr, from bool, ways []*onWay, n uint64) *damagedHost {
	var of load
	var others []packet.Addr
	for w, l := range s.ways {
		if w.side(from) == x {
			of = of.plus(l)
			continue
		}
		if l.packets > 0 && !slices.Contains(others, w.side(from)) {
			others = append(others, w.side(from))
		}
	}
	if of.bytes == 0 || float64(n)*math.Log(float64(of.bytes)/float64(s.all.bytes)) > math.Log(hardlyChance) {
		return nil
	}
	for w, l := range s.ways {
		harmed := slices.ContainsFunc(ways, func(o *onWay) bool { return o.way == w })
		if w.side(from) == x && !harmed && n*l.bytes >= tellingMisses*of.bytes {
			return nil
		}
	}
	return &damagedHost{addr: x, from: from, rest: s.all.packets - of.packets, hosts: len(others)}
}

// tell has an incident of damage tell of the host. had is what happened to the packets, and ways all on which it did, the one with most of it first.
func (h *damagedHost) tell(i *Incident, had string, ways []*onWay) {
	word, whose := "to", "to"
	if h.from {
		word, whose, i.common = "from", "of", h.addr
	}
	alike := ""
	if h.alike != "" {
		alike = ", " + h.alike
	}
	i.What = fmt.Sprintf("%s, all of them %s %v%s: damaged before it; receivers drop them.", had, word, h.addr, alike)
	var list []string
	for k, w := range ways {
		if k > 0 {
			i.Also = append(i.Also, w.side(!h.from))
		}
		if k < portsShown {
			list = append(list, fmt.Sprintf("%s %v → %v", h.sent.of(w), w.from, w.to))
		}
	}
	if more := len(ways) - len(list); more > 0 {
		list = append(list, count(uint64(more), "more direction"))
	}
	i.fact("from, to", strings.Join(list, "; "))
	if h.alike != "" {
		return
	}
	i.fact("others", fmt.Sprintf("none of the %s %s %s was damaged", count(h.rest, "packet"), whose, count(uint64(h.hosts), "other host")))
}

// reasons puts first what fits, and what is to be looked at. oneBit says that it is no link, as flips.oneBit does.
func (h *damagedHost) reasons(i *Incident, oneBit bool) {
	fits, next := "what all packets to %v pass before the tap, and no others do", "the switch port and link towards %v, up to the tap"
	if h.from {
		fits, next = "what all packets of %v pass before the tap, and no others do: its adapter, or its link and switch port", "the adapter of %v (ECC and PCIe errors; whether it goes on with another adapter or slot), then its link and switch port"
	}
	if h.alike != "" {
		h.alikeReasons(i, oneBit)
		return
	}
	if oneBit {
		fits, next = strings.Replace(fits, "its link and switch port", "its switch", 1), strings.NewReplacer("its link and switch port", "its switch", "the switch port and link", "the switches").Replace(next)
	}
	i.FitsWith = slices.Insert(i.FitsWith, 0, fmt.Sprintf(fits, h.addr))
	i.Next = slices.Insert(i.Next, 0, fmt.Sprintf(next, h.addr))
}
