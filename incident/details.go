package incident

import "slices"

// spare are the labels of facts without which an incident is understood, or nearly so, those first that are missed least.
var spare = []string{
	"worst", "largest", "sent", "all", "host", "holes", "order", "numbers", "frames", "counted", "share", "goodput", "each", "first", "its end", "waits", "caused", "cables", "speed", "gave up", "before", "answered", "cost", "for",
	"command", "request", "then", "usual", "peer", "also", "others", "outage", "shares", "episodes", "longest", "held", "over time",
}

// Details splits the facts into those that an incident is understood by, and those that can be told after what to look at next, each in the order of Facts. The first are all for which there is room, as
// far as others can be spared.
func (i *Incident) Details(room func(explain []Fact) bool) (explain, details []Fact) {
	for spared := 0; ; spared++ {
		explain, details = nil, nil
		for _, f := range i.Facts {
			if slices.Contains(spare[:spared], f.Label) && (f.Label != "longest" || i.Kind == Paused) { // else it says which
				details = append(details, f)
			} else {
				explain = append(explain, f)
			}
		}
		if spared == len(spare) || room(explain) {
			return explain, details
		}
	}
}
