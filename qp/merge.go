package qp

// Merge takes over what b knows.
func (a *Attr) Merge(b *Attr) {
	a.SRQ, a.Cut = a.SRQ || b.SRQ, a.Cut || b.Cut
	take(b, KnowsPMTU, &a.PMTU, b.PMTU)
	take(b, KnowsSQPSN, &a.SQPSN, b.SQPSN)
	take(b, KnowsRQPSN, &a.RQPSN, b.RQPSN)
	take(b, KnowsTimeout, &a.Timeout, b.Timeout)
	take(b, KnowsRetryCnt, &a.RetryCnt, b.RetryCnt)
	take(b, KnowsRNRRetry, &a.RNRRetry, b.RNRRetry)
	take(b, KnowsMinRNRTimer, &a.MinRNRTimer, b.MinRNRTimer)
	take(b, KnowsMaxRdAtomic, &a.MaxRdAtomic, b.MaxRdAtomic)
	take(b, KnowsMaxDestRdAtomic, &a.MaxDestRdAtomic, b.MaxDestRdAtomic)
	take(b, KnowsPKey, &a.PKey, b.PKey)
	take(b, KnowsPKey, &a.PKeyIndex, b.PKeyIndex)
	take(b, KnowsQKey, &a.QKey, b.QKey)
	take(b, KnowsAccess, &a.Access, b.Access)
	take(b, KnowsMigState, &a.MigState, b.MigState)
	take(b, KnowsTClass, &a.TClass, b.TClass)
	take(b, KnowsHopLimit, &a.HopLimit, b.HopLimit)
	take(b, KnowsSL, &a.SL, b.SL)
	take(b, KnowsGRH, &a.GRH, b.GRH)
	take(b, KnowsCredits, &a.Credits, b.Credits)
	take(b, KnowsDestQPN, &a.DestQPN, b.DestQPN)
	take(b, KnowsDestAddr, &a.DestAddr, b.DestAddr)
	take(b, KnowsSourceAddr, &a.SourceAddr, b.SourceAddr)
	a.ByCM = a.ByCM&^b.Known | b.ByCM
	a.Known |= b.Known
}

// take sets an attribute to the value that b has for it, where b knows that.
func take[T any](b *Attr, k Known, to *T, value T) {
	if b.Known&k != 0 {
		*to = value
	}
}
