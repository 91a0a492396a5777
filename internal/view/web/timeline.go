package web

// bins is how many parts of time the page shows findings by.
const bins = 120

// timeline counts findings by time. Where they come later than it reaches, its parts become longer or, in a run that goes on, older ones are left.
type timeline struct {
	counts [bins]byKind
	first  int64 // time at which counts[0] begins; 0: no finding yet
	step   int64 // nanoseconds of each part
	slide  bool
}

// cover has the timeline reach from a time to another.
func (t *timeline) cover(first, last int64) {
	t.first, t.step = first, max(1, (last-first)/bins+1)
}

// tail has the timeline show the newest time only, in parts of a length.
func (t *timeline) tail(step int64) { t.step, t.slide = step, true }

// reach moves the timeline so that a time is in it.
func (t *timeline) reach(now int64) {
	if !t.slide || t.step == 0 {
		return
	}
	begin := now - now%t.step - (bins-1)*t.step
	if t.first == 0 {
		t.first = begin
	}
	n := (begin - t.first) / t.step
	if n <= 0 {
		return
	}
	n = min(n, bins)
	copy(t.counts[:], t.counts[n:])
	clear(t.counts[bins-n:])
	t.first = begin
}

func (t *timeline) add(at int64, k kind) {
	t.reach(at)
	if t.step == 0 {
		return
	}
	if i := (at - t.first) / t.step; i >= 0 && i < bins {
		t.counts[i][k]++
	}
}

// timelineJSON is the counts by kind, oldest first.
type timelineJSON struct {
	Start  string                 `json:"start"`
	Step   int64                  `json:"step"` // nanoseconds
	Counts [numKinds][bins]uint64 `json:"counts"`
}

func (t *timeline) json() *timelineJSON {
	if t.first == 0 {
		return nil
	}
	j := &timelineJSON{Start: stamp(t.first), Step: t.step}
	for i := range t.counts {
		for k, n := range t.counts[i] {
			j.Counts[k][i] = n
		}
	}
	return j
}
