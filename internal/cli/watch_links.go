package cli

import "ibwitness/fabricagent/live"

// links logs how the state of the interfaces changes.
type links struct {
	s     *session
	stats func() []live.Stats
	was   map[string]linkState
}

type linkState uint8

const (
	linkUp linkState = iota
	linkDown
	linkGone
)

func newLinks(s *session, stats func() []live.Stats) *links {
	return &links{s, stats, map[string]linkState{}}
}

// look logs what has changed.
func (l *links) look(int64) {
	for _, i := range l.stats() {
		now := linkUp
		switch {
		case i.Gone:
			now = linkGone
		case i.Down:
			now = linkDown
		}
		was := l.was[i.Interface]
		l.was[i.Interface] = now
		text := ""
		switch {
		case now == was:
			continue
		case now == linkGone:
			text = "the interface is gone; the others are captured from. When it is back it is captured from again"
		case was == linkGone:
			text = "the interface is back: what it carried meanwhile is missing"
		case now == linkDown:
			text = "the interface is down"
		default:
			text = "the interface is up again"
		}
		l.s.log.Warn().Str("interface", i.Interface).Msg(text)
	}
}
