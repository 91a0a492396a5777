package incident

import (
	"fmt"
	"slices"

	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/verifier/cm"
)

// hungService is what a host asked of a service in vain after its RNR retries were used up on a connection for it.
type hungService struct {
	name          string         // of the service
	reqs, dreqs   uint64         // how many were sent
	first, last   int64          // when REQs were
	dreq          int64          // when the first DREQ was
	mra           *cm.Unanswered // a REQ for which only more time was asked; nil: there is none
	frames        []uint64
	others        uint64        // connections of the server on which it went on
	accepted      *rule.Finding // what its communication manager accepted of others meanwhile; nil: nothing
	withoutAnswer []*Incident   // of REQs and DREQs
}

// servicesHung has an incident of a receiver that was not ready until the retries were used up tell that its program seems to hang, where nothing answered REQs for the same service since, though its host went on: its
// adapter answers without the program, which posts receives and handles events of CM.
func (t *teller) servicesHung(list []Incident) []Incident {
	merged := map[*Incident]bool{}
	for n := range list {
		i := &list[n]
		if i.Kind != Exhausted || i.Certainty != Proven || i.Ongoing || i.Connections != 1 || !t.timed() || t.lossy() {
			continue
		}
		if h := t.hungService(i, list); h != nil {
			for _, o := range h.withoutAnswer {
				merged[o] = true
				i.foundToo(o.Found)
				i.End = max(i.End, o.End)
			}
			t.tellHung(i, h)
		}
	}
	return without(list, merged)
}

// hungService returns what was asked in vain of the service of the connection of an incident; nil: nothing was, it served others meanwhile, or more than it did not answer.
func (t *teller) hungService(i *Incident, list []Incident) *hungService {
	h := &hungService{name: t.serviceOf(i)}
	if h.name == "" || !t.askedInVain(i, h) || t.servesElse(i, h) {
		return nil
	}
	if h.others = t.goesOn(i, h); h.others == 0 {
		return nil
	}
	for n := range list {
		if o := &list[n]; o.Kind == Ignored && o.Local.Addr == i.Local.Addr && o.Peer.Addr == i.Peer.Addr && o.Begin >= i.Begin {
			h.withoutAnswer = append(h.withoutAnswer, o)
		}
	}
	return h
}

// servesElse reports whether the service of an incident has other connections open, as far as that is known, or accepted one since, so that its program may go on. It notes what was accepted of others.
func (t *teller) servesElse(i *Incident, h *hungService) bool {
	for _, f := range t.accepted(i.Peer.Addr) {
		switch {
		case f.Time < i.Begin:
		case f.Detail == h.name:
			return true
		case f.Time > h.first && h.accepted == nil:
			h.accepted = f
		}
	}
	return slices.ContainsFunc(t.openAt(i.Peer.Addr, h.name, h.first), func(f *rule.Finding) bool { return f.Peer.QPN != i.Peer.QPN })
}

// goesOn counts the connections on which the peer of an incident went on while its service was asked in vain.
func (t *teller) goesOn(i *Incident, h *hungService) (n uint64) {
	for k := range t.run.Connections {
		c := &t.run.Connections[k]
		if e := endOf(c, i.Peer.Addr); e != nil && c.Service != packet.UD && e.QPN != i.Peer.QPN && c.First < h.first && e.Last > h.last {
			n++
		}
	}
	return n
}

// serviceOf names the service for which CM made the connection of an incident, whose peer serves it; "": that is not known.
func (t *teller) serviceOf(i *Incident) (name string) {
	for _, f := range t.accepted(i.Peer.Addr) {
		if f.Accused.Addr == i.Local.Addr && f.Accused.QPN == i.Local.QPN && f.Peer.QPN == i.Peer.QPN && f.Time < i.Begin {
			name = f.Detail
		}
	}
	return name
}

// askedInVain takes the REQs and DREQs between the ends of an incident that nothing answered since it began, and reports whether there are two REQs or more, all for its service.
func (t *teller) askedInVain(i *Incident, h *hungService) bool {
	for n := range t.run.REQs {
		q := &t.run.REQs[n]
		if q.From != i.Local.Addr || q.To != i.Peer.Addr {
			continue
		}
		switch {
		case q.First < i.Begin || q.SIDR:
			return false
		case (q.Waits == cm.ForREP || q.Waits == cm.ForAccept) && fmt.Sprint(q.Service) == h.name:
			if h.reqs += uint64(q.Times); h.first == 0 || q.First < h.first {
				h.first = q.First
			}
			h.last = max(h.last, q.Last)
			if q.Waits == cm.ForAccept {
				h.mra = q
			}
		case q.Waits == cm.ForDREP:
			if h.dreqs += uint64(q.Times); h.dreq == 0 || q.First < h.dreq {
				h.dreq = q.First
			}
		default:
			return false
		}
		if q.Tap == i.Tap {
			h.frames = append(h.frames, q.Frame)
		}
	}
	return h.reqs > 1
}

// but says what came to the REQs all the same.
func (h *hungService) but() string {
	if h.mra == nil {
		return ""
	}
	return " but an MRA, which asks for more time"
}

// tellHung tells of a service that seems to hang.
func (t *teller) tellHung(i *Incident, h *hungService) {
	local, peer := i.Local.Addr, i.Peer.Addr
	i.show(h.frames...)
	asked := count(h.reqs, "REQ")
	if h.dreqs > 0 {
		asked += " and " + count(h.dreqs, "DREQ")
	}
	i.What = fmt.Sprintf("The program of %v that listens on %s seems to hang: %s; and nothing answered %s of %v since%s.", peer, h.name, i.What[:len(i.What)-1], asked, local, h.but())
	i.Facts = slices.DeleteFunc(i.Facts, func(f Fact) bool { return f.Label == "then" })
	then := fmt.Sprintf("%v asked for %s again (REQ) %s from %s to %s", local, h.name, times(h.reqs), t.offset(h.first), t.offset(h.last))
	if h.dreqs > 0 {
		then = fmt.Sprintf("%v asked to disconnect (DREQ) %s from %s on, and for %s again (REQ) %s from %s to %s", local, times(h.dreqs), t.offset(h.dreq), h.name, times(h.reqs), t.offset(h.first), t.offset(h.last))
	}
	i.fact("then", then+": nothing answered"+h.but())
	if h.mra != nil {
		i.fact("MRA", askedMore(t, h.mra)+": the communication manager has the REQ, and the program does not accept it")
		if h.mra.Tap == i.Tap {
			i.show(h.mra.MRAFrame)
		}
	}
	i.FitsWith = []string{fmt.Sprintf("a program that hangs or is stopped: it posts no receives and handles no events of CM, while the adapter of %v answers without it", peer)}
	meanwhile := fmt.Sprintf("%v went on on %s", peer, count(h.others, "other connection"))
	if f := h.accepted; f != nil {
		meanwhile += fmt.Sprintf(", and accepted a connection of %v for %s, in frame %d: its host, its communication manager and the way to it work", f.Accused.Addr, f.Detail, f.Frame)
		if f.Tap == i.Tap {
			i.show(f.Frame)
		}
	} else if h.mra == nil {
		i.FitsWith = append(i.FitsWith, "REQs that were lost each time, or their answers")
	}
	i.fact("meanwhile", meanwhile)
	i.Next = []string{
		fmt.Sprintf("on %v: what the threads of the program that listens on %s wait for (its stack, CPU, log, a debugger, its disks)", peer, h.name),
		"only then how many receives it keeps posted; a larger rnr_retry would have " + local.String() + " wait longer, and answer nothing",
	}
}
