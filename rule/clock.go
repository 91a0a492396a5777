package rule

// timed are the rules that hold a wait, or the order within a time of flight, against a limit.
var timed = [NumRules]bool{
	RCTMO002: true, RCTMO003: true, RCTMO004: true, RCRNR001: true, RCRNR002: true, RCRNR005: true, RCACK004: true, RCRTY005: true, RCRTY008: true, RCRTY010: true, RCRTY011: true,
	RCRSP002: true, RCRSP003: true, RCRSP005: true, RCRSP043: true, RDEEC003: true, CNGCNP007: true,
	CMSM004: true, CMSM005: true, CMSM009: true, CMSM010: true, CMSM011: true, CMSM012: true, CMSM014: true, CMSM015: true,
	SMPMK005: true, SMPPI011: true, MADTMO001: true, MADTMO002: true,
}

// clockSteps is why a wait is not proven.
const clockSteps = "a clock of the capture went back or leapt, or two clocks stamp its frames: what time passed is not certain"

// Timed reports whether a rule rests on how much time passed.
func (id ID) Timed() bool { return timed[id] }

// DoubtClock says that the clock of the capture cannot be trusted: of no rule that rests on time is anything proven, before or after.
func (r *Recorder) DoubtClock() {
	if r.clockless {
		return
	}
	r.clockless = true
	for i := range r.Findings {
		if timed[r.Findings[i].Rule] {
			r.Doubt(i, clockSteps)
		}
	}
}
