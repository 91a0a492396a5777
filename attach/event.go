package attach

import (
	"errors"
	"fmt"
	"slices"

	"ibwitness/cq"
	"ibwitness/hcaagent/eventlog"
	"ibwitness/packet"
	"ibwitness/rule"
	"ibwitness/wqe"
)

// Event takes a verbs event of an HCA, a line of docs/events.md.
func (r *Run) Event(hca int, at uint64, line []byte) (int, error) {
	now, err := r.hca(hca, at)
	if err != nil {
		return 0, err
	}
	e, err := r.hcas[hca].Decode(line, now)
	if err != nil {
		return 0, fmt.Errorf("attach: event of %v: %w", r.devices[hca], err)
	}
	if e == nil {
		return 0, nil
	}
	return r.event(hca, e)
}

// hca checks HCA and time of a call.
func (r *Run) hca(hca int, at uint64) (int64, error) {
	if r.result != nil {
		return 0, ErrEnded
	}
	if uint(hca) >= uint(len(r.hcas)) {
		return 0, fmt.Errorf(`attach: there is no HCA %d: the configuration names %d as "hcas", counted from 0`, hca, len(r.hcas))
	}
	if r.hcas[hca] == nil {
		r.hcas[hca] = eventlog.NewDecoder(r.devices[hca])
		if r.unix {
			if err := r.name(hca); err != nil { // a log that tells of no event counts too
				return 0, err
			}
		}
	}
	return r.time(at)
}

// name tells the session of an HCA, unless it knows.
func (r *Run) name(hca int) error {
	if r.named[hca] {
		return nil
	}
	r.named[hca] = true
	return r.session.NameDevice(r.devices[hca], r.HCAs[hca].Name)
}

// event takes an event of an HCA.
func (r *Run) event(hca int, e *cq.Event) (int, error) {
	if err := r.name(hca); err != nil {
		return 0, err
	}
	if r.lines[hca]++; !r.unix {
		e.Line = 1 + r.lines[hca]
	}
	r.place(e)
	lost := r.rec.event(r.devices[hca], e)
	list, err := r.session.Event(e)
	return r.take(list), errors.Join(err, lost)
}

// reset takes the reset of a device, and has its log tell of it. Before anything has come there is nothing that could end.
func (r *Run) reset(device packet.Addr) ([]rule.Change, error) {
	if !slices.Contains(r.named, true) && !slices.ContainsFunc(r.taps, func(t tap) bool { return t.seen > 0 }) {
		return nil, nil
	}
	if hca := slices.Index(r.devices, device); hca >= 0 {
		r.lines[hca]++
	}
	e := cq.Event{Time: r.now, Kind: cq.EvReset, QP: wqe.QP{Addr: device}}
	r.place(&e)
	lost := r.rec.event(device, &e)
	list, err := r.session.Reset(device)
	return list, errors.Join(err, lost)
}

// place says where an event of a device, which comes now, is among the frames and events of its time. With Unix times nobody asks.
func (r *Run) place(e *cq.Event) {
	r.events++
	e.After, e.Order = 0, 0
	if n := r.numbers[""]; !r.unix && n != nil && r.frame.Time == r.now {
		e.After = *n
	}
	if last := &r.last; !r.unix && last.at == r.now && last.device != e.QP.Addr {
		e.Order = r.events
	}
	r.last.at, r.last.device = r.now, e.QP.Addr
}
