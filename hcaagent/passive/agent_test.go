package passive

import (
	"errors"
	"testing"
	"time"

	"ibwitness/mad"
	"ibwitness/qp"
	"ibwitness/wqe"
)

// TestNeverInvented: what is not known is not told.
func TestNeverInvented(t *testing.T) {
	s := newScript(t, Options{})
	for _, change := range []func(*mad.REQ){
		func(m *mad.REQ) { m.Transport = mad.TransportRD },
		func(m *mad.REQ) { m.Transport, m.ExtendedTransport = mad.TransportExtended, 5 },
		func(m *mad.REQ) { m.LocalQPN = 1 },
	} {
		q := req()
		change(q)
		s.send(hostA, hostB, q)
		s.send(hostB, hostA, rep())
		s.want()
		s.agent = New(Options{})
	}
	s.send(hostA, hostB, req())
	r := rep()
	r.LocalQPN = 0
	s.send(hostB, hostA, r)
	s.want()

	q := req()
	q.PathMTU, q.Primary.LocalAckTimeout, q.LocalCommID, q.TID = 6, 0, 0xA7, 81
	r = rep()
	r.RemoteCommID, r.TID = 0xA7, 81
	s.send(hostA, hostB, q)
	s.send(hostB, hostA, r)
	if a := s.facts[0].Ends[1].Attr; a.Known&(qp.KnowsPMTU|qp.KnowsTimeout) != 0 {
		t.Errorf("%v", a.Known)
	}
	for _, err := range []error{
		errOf(s.agent.Completions(t.Context(), 0, nil)),
		errOf(s.agent.MemoryData(t.Context(), wqe.Memory{}, nil)),
		s.agent.MemoryAccess(t.Context(), wqe.QP{}, wqe.Memory{}, 0),
		errOf(s.agent.DataSegments(t.Context(), wqe.QP{}, 0)),
	} {
		var u *qp.UnknownError
		if !errors.Is(err, qp.ErrUnknown) || !errors.As(err, &u) {
			t.Errorf("%v", err)
		}
	}
}

func errOf[T any](_ T, err error) error { return err }

// TestBounds: memory stays within the limits, and what is lost is counted.
func TestBounds(t *testing.T) {
	s := newScript(t, Options{MaxPending: 3, MaxLive: 2, Hold: 5 * time.Second})
	for id := range uint32(10) {
		q := req()
		q.LocalCommID, q.TID, q.LocalQPN = id, uint64(id), 0x100+id
		s.send(hostA, hostB, q)
	}
	if st := s.agent.Stats(); st.Evicted != 7 {
		t.Errorf("%+v", st)
	}
	for id := range uint32(10) {
		q, r := req(), rep()
		q.LocalCommID, q.TID, q.LocalQPN = 100+id, 100+uint64(id), 0x200+id
		r.RemoteCommID, r.TID, r.LocalQPN, r.LocalCommID = 100+id, 100+uint64(id), 0x300+id, 200+id
		s.send(hostA, hostB, q)
		s.send(hostB, hostA, r)
	}
	s.knows(hostA, 0x207, false)
	s.knows(hostA, 0x208, true)
	s.send(hostA, hostB, dreq(108, 208, 0x308))
	s.send(hostA, hostB, dreq(109, 209, 0x309))
	if n := s.agent.lists[done].n; n != 2 {
		t.Errorf("%d finished exchanges", n)
	}
	s.now += int64(6 * time.Second)
	s.send(hostA, hostB, dreq(1<<20, 1<<21, 0x22))
	if n := s.agent.lists[done].n; n != 1 {
		t.Errorf("%d finished exchanges after the hold time", n)
	}
	if len(s.agent.byQP) != 0 || len(s.agent.byKey) != 1+int(s.agent.lists[waiting].n) || len(s.agent.slots) > 10 {
		t.Errorf("%d QPs, %d exchanges, %d slots", len(s.agent.byQP), len(s.agent.byKey), len(s.agent.slots))
	}
}
