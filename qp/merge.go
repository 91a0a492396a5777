package qp

// Merge takes over what b knows.
func (a *Attr) Merge(b *Attr) {
	take := func(k Known) bool { return b.Known&k != 0 }
	a.SRQ, a.Cut = a.SRQ || b.SRQ, a.Cut || b.Cut
	if take(KnowsPMTU) {
		a.PMTU = b.PMTU
	}
	if take(KnowsSQPSN) {
		a.SQPSN = b.SQPSN
	}
	if take(KnowsRQPSN) {
		a.RQPSN = b.RQPSN
	}
	if take(KnowsTimeout) {
		a.Timeout = b.Timeout
	}
	if take(KnowsRetryCnt) {
		a.RetryCnt = b.RetryCnt
	}
	if take(KnowsRNRRetry) {
		a.RNRRetry = b.RNRRetry
	}
	if take(KnowsMinRNRTimer) {
		a.MinRNRTimer = b.MinRNRTimer
	}
	if take(KnowsMaxRdAtomic) {
		a.MaxRdAtomic = b.MaxRdAtomic
	}
	if take(KnowsMaxDestRdAtomic) {
		a.MaxDestRdAtomic = b.MaxDestRdAtomic
	}
	if take(KnowsPKey) {
		a.PKey, a.PKeyIndex = b.PKey, b.PKeyIndex
	}
	if take(KnowsQKey) {
		a.QKey = b.QKey
	}
	if take(KnowsAccess) {
		a.Access = b.Access
	}
	if take(KnowsMigState) {
		a.MigState = b.MigState
	}
	if take(KnowsTClass) {
		a.TClass = b.TClass
	}
	if take(KnowsHopLimit) {
		a.HopLimit = b.HopLimit
	}
	if take(KnowsSL) {
		a.SL = b.SL
	}
	if take(KnowsGRH) {
		a.GRH = b.GRH
	}
	if take(KnowsCredits) {
		a.Credits = b.Credits
	}
	if take(KnowsDestQPN) {
		a.DestQPN = b.DestQPN
	}
	if take(KnowsDestAddr) {
		a.DestAddr = b.DestAddr
	}
	if take(KnowsSourceAddr) {
		a.SourceAddr = b.SourceAddr
	}
	a.ByCM = a.ByCM&^b.Known | b.ByCM
	a.Known |= b.Known
}
