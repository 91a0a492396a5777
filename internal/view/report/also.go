package report

// Also is what is counted beside a verdict.
type Also struct {
	Warnings, Notes uint64
	Unproven        uint64 // of any severity
	Suspicions      uint64 // those of severity error, which the verdict NOT PROVEN is about
	Waived          uint64
	Events          uint64
	Open            uint64 // requests without a response
}

// Sentence says what a verdict has not said: "also 1 warning, 20 events and 4 requests without a response"; empty: nothing.
func (a *Also) Sentence(v Verdict) string {
	var parts []string
	if a.Warnings > 0 && v != Warned {
		parts = append(parts, count(a.Warnings, "warning"))
	}
	if a.Notes > 0 {
		parts = append(parts, count(a.Notes, "note"))
	}
	switch lesser := a.Unproven - a.Suspicions; {
	case v != NotProven && a.Unproven > 0:
		parts = append(parts, number(a.Unproven)+" not proven")
	case v == NotProven && lesser > 0:
		parts = append(parts, count(lesser, "suspicion")+" of lower severity")
	}
	if a.Waived > 0 {
		parts = append(parts, number(a.Waived)+" waived")
	}
	if a.Events > 0 {
		parts = append(parts, count(a.Events, "event"))
	}
	if a.Open > 0 && v != Open {
		parts = append(parts, count(a.Open, "request")+" without a response")
	}
	if len(parts) == 0 {
		return ""
	}
	return "also " + enumerate(parts)
}
