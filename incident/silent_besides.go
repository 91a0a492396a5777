package incident

import (
	"fmt"
	"slices"

	"ibwitness/packet"
)

// ofProgramsIn reports whether an incident is that no program of a host sent a message, within the times in which one of them had stopped.
func (i *Incident) ofProgramsIn(host packet.Addr, stops []processStop) bool {
	return i.programsOf == host && i.Begin >= stops[0].From && i.End <= stops[len(stops)-1].To+aftermath
}

// silentBesides has an incident of a program that had stopped tell of the other connections of its host, on which no message came meanwhile either.
func (i *Incident) silentBesides(o *Incident) {
	waited := slices.DeleteFunc(append([]packet.Addr{o.Local.Addr}, o.Also...), func(a packet.Addr) bool { return a.IsZero() || a == i.Peer.Addr })
	i.fact("likewise", fmt.Sprintf("no program of %v sent a message on its other busy connections meanwhile: %s waited, too", i.Peer.Addr, someOf(eachOnce(waited))))
	i.foundToo(o.Found)
	if o.Tap == i.Tap {
		i.show(o.Frames...)
	}
}
