package rule

// ChangeKind is what has become of a finding.
type ChangeKind uint8

// The kinds. A finding is found once; what comes later may prove it, cast doubt on it, or explain it away.
const (
	Found ChangeKind = iota
	BecameProven
	BecameDoubted
	Withdrawn
)

func (k ChangeKind) String() string {
	return [...]string{"found", "proven", "doubted", "withdrawn"}[k]
}

// Change is an event in the life of a finding, and the finding as it is since then. Finding.Seq is the same in all changes of one finding.
type Change struct {
	Kind    ChangeKind
	Finding Finding
}

// changes are those since they were last asked for.
type changes struct {
	follow bool
	list   []Change
}

// Follow has the recorder note what becomes of its findings, for Changes.
func (r *Recorder) Follow() { r.changes.follow = true }

// Changes returns what has become of the findings since it was called before. What was found and withdrawn in between is not in it. The list
// is valid until the next finding.
func (r *Recorder) Changes() []Change {
	list := r.changes.list
	r.changes.list = list[:0]
	if len(list) < 2 {
		return list
	}
	out := list[:0]
	for i := range list {
		c := list[i]
		k := len(out) - 1
		for k >= 0 && out[k].Finding.Seq != c.Finding.Seq {
			k--
		}
		switch {
		case k < 0:
			out = append(out, c)
		case out[k].Kind == Found && c.Kind == Withdrawn:
			out = append(out[:k], out[k+1:]...)
		case out[k].Kind == Found:
			out[k].Finding = c.Finding
		default:
			out[k] = c
		}
	}
	return out
}

// changed notes what has become of a finding.
func (r *Recorder) changed(k ChangeKind, f *Finding) {
	if r.changes.follow && !f.Beyond {
		r.changes.list = append(r.changes.list, Change{k, *f})
	}
}
