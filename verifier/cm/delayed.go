package cm

// maxDelayed is how many REJs after an MRA are kept.
const maxDelayed = 1 << 10

// Delayed is a REJ that ends an exchange in which an answer was to come later: an MRA had asked for more time.
type Delayed struct {
	Tap     uint16 // of the REJ
	Frame   uint64 // of the REJ
	At      int64  // time of the REJ, nanoseconds since the Unix epoch
	ByAsker bool   // of the exchange: who sent the REQ has sent the REJ
	OfREP   bool   // the MRA was to a REP, and its sender that of the REQ; else to the REQ
	MRA     uint64 // frame of the newest MRA
	Asked   int64  // time of the newest MRA
	Timeout int64  // for how long it asks, nanoseconds: service timeout
	Since   int64  // when what it was to was sent first; 0: that was not seen
}

// Late reports whether the answer had not come when the service timeout of the MRA was over.
func (d *Delayed) Late() bool { return d.At-d.Asked > d.Timeout }

// Delayed returns the REJs after an MRA: the first of them.
func (v *Verifier) Delayed() []Delayed { return v.delayed }

// noteDelayed notes REJ m of a side, which ends an exchange, where an MRA had asked for more time.
func (v *Verifier) noteDelayed(m *message, x *exchange, side int) {
	waits, s := passive, &x.req
	if x.rep.sent() {
		waits, s = active, &x.rep
	}
	k := x.mra[waits]
	if !k.happened() || m.Time < k.time || waits == active && x.rtu.happened() || len(v.delayed) == maxDelayed {
		return
	}
	v.delayed = append(v.delayed, Delayed{
		Tap: m.Tap, Frame: m.Frame, At: m.Time, ByAsker: side == active, OfREP: waits == active, MRA: k.frame, Asked: k.time, Timeout: x.mraTimeout[waits], Since: s.first,
	})
}
