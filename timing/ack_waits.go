package timing

import (
	"cmp"
	"slices"
	"time"

	"ibwitness/wqe"
)

// AckWait is how long a SEND or WRITE waited for its ACK once its last packet was first sent.
type AckWait struct {
	At    int64 // when that was
	Took  time.Duration
	Bytes uint32
}

// waits are those among which a message is.
func (e *End) waits(m *Message) *AckWaits {
	if m.Retransmitted > 0 {
		return &e.Copied
	}
	return &e.Acks
}

// MostAckWaits is how many of them are kept of an end, which take 6 KiB.
const MostAckWaits = 1 << 8

// AckWaits are those of an end, each of one in so many messages, which doubles each time that there are too many. Its zero value is ready.
type AckWaits struct {
	List  []AckWait // in the order of the messages
	Every uint64    // in so many messages there is one; 0: there is none yet
	count uint64
}

// add takes a message of which an ACK has come: it counts where its last packet has asked for that, and where nothing else kept the responder from sending it.
func (w *AckWaits) add(m *Message) {
	if m.Op != wqe.Send && m.Op != wqe.Write || !m.asks || m.Answered < m.Sent {
		return
	}
	if w.Every = max(w.Every, 1); w.count%w.Every == 0 {
		w.List = append(w.List, AckWait{m.Sent, time.Duration(m.Answered - m.Sent), m.Length})
		w.thin()
	}
	w.count++
}

// Usual is how long they waited in the median; 0: there is none.
func (w *AckWaits) Usual() time.Duration {
	if len(w.List) == 0 {
		return 0
	}
	took := make([]time.Duration, len(w.List))
	for i := range w.List {
		took[i] = w.List[i].Took
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// thin drops each second one where there are too many.
func (w *AckWaits) thin() {
	for len(w.List) >= MostAckWaits {
		kept := w.List[:0]
		for i := 0; i < len(w.List); i += 2 {
			kept = append(kept, w.List[i])
		}
		w.List, w.Every = kept, 2*w.Every
	}
}

func (w *AckWaits) merge(o *AckWaits) {
	w.List = append(w.List, o.List...)
	slices.SortFunc(w.List, func(a, b AckWait) int { return cmp.Compare(a.At, b.At) })
	w.Every, w.count = max(w.Every, o.Every), w.count+o.count
	w.thin()
}
