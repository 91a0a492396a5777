package fabricagent

import (
	"fmt"
	"math"
	"slices"
	"sync"
)

// tapList is the taps of one run. The readers add to it while others look.
type tapList struct {
	mu   sync.Mutex
	taps []Tap // Invariant: a tap in it does not change, so that list need not copy
}

// add returns the index of a new tap, and false where there are more than a Frame can name.
func (l *tapList) add(t Tap) (uint16, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.taps) > math.MaxUint16 {
		return 0, false
	}
	l.taps = append(l.taps, t)
	return uint16(len(l.taps) - 1), true
}

// change calls f with a tap, to look at it or to change it.
func (l *tapList) change(tap uint16, f func(*Tap)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.taps[tap]
	if f(&t); t != l.taps[tap] {
		l.taps = slices.Clone(l.taps)
		l.taps[tap] = t
	}
}

func (l *tapList) list() []Tap {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clip(l.taps)
}

// maxPorts bounds how many taps one interface may split into; a corrupt file could name billions.
const maxPorts = 256

// ports splits one capture interface into taps: an `any` capture sees several network interfaces, an ERF capture several
// ports, and each is a place of its own. The first one seen takes the interface's own tap.
type ports struct {
	list    *tapList
	base    uint16
	label   string // the interface's own name
	last    uint64 // the key of lastTap
	lastTap uint16
	seen    map[uint64]uint16
	link    bool // ERF: link packets were among them, so that the taps are on links
}

// tap returns the tap of a port, named by kind and number.
func (p *ports) tap(link LinkType, kind string, number uint32) uint16 {
	key := uint64(link)<<32 | uint64(number)
	if key == p.last && p.seen != nil {
		return p.lastTap
	}
	t, ok := p.seen[key]
	if !ok {
		t = p.open(key, link, kind, number)
	}
	p.last, p.lastTap = key, t
	return t
}

func (p *ports) open(key uint64, link LinkType, kind string, number uint32) uint16 {
	if len(p.seen) >= maxPorts {
		return p.base
	}
	name := fmt.Sprintf("%s %d", kind, number)
	if p.label != "" {
		name = p.label + ", " + name
	}
	tap := p.base
	if len(p.seen) == 0 {
		p.seen = make(map[uint64]uint16)
		p.list.change(p.base, func(b *Tap) { b.Interface, b.Link = name, link })
	} else {
		var like Tap
		p.list.change(p.base, func(b *Tap) { like = *b })
		n, ok := p.list.add(Tap{File: like.File, Interface: name, Link: link, SnapLen: like.SnapLen, Speed: like.Speed})
		if !ok {
			return p.base
		}
		tap = n
	}
	p.seen[key] = tap
	return tap
}
