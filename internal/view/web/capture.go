package web

import (
	"errors"
	"io"
	"slices"
	"sync"

	"ibwitness/fabricagent"
	"ibwitness/internal/view/ladder"
	"ibwitness/packet"
	"ibwitness/rule"
)

// Around finds the frames of the connection of a finding around what matters to it, in time order.
type Around interface {
	Around(f *rule.Finding) (ladder.Flow, []ladder.Frame, error)
}

// ErrNoFrames says that frames for a ladder are not to be had.
var ErrNoFrames = errors.New("web: the frames around this finding are not kept")

// Capture finds frames in the captures of a finished run, which it reads again.
type Capture struct {
	files []string
	model *Model

	mu     sync.Mutex
	ready  map[place]*around // what was found before, so many
	order  []place
	series bool // the histories of the connections are filled in
}

// place tells findings apart.
type place struct {
	tap, seq uint64
	frame    uint64
	rule     rule.ID
}

type around struct {
	flow   ladder.Flow
	frames []ladder.Frame
}

// mostReady is how many findings have their frames kept.
const mostReady = 1000

// NewCapture returns the frames of the files that a model's run has judged. They must be files that can be read again.
func NewCapture(m *Model, files []string) *Capture {
	return &Capture{files: files, model: m, ready: map[place]*around{}}
}

// Around finds frames.
func (c *Capture) Around(f *rule.Finding) (ladder.Flow, []ladder.Frame, error) {
	if f.Frame == 0 {
		return ladder.FlowOf(f), nil, ErrNoFrames
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.ready[placeOf(f)]; a != nil {
		return a.flow, a.frames, nil
	}
	if err := c.read([]*rule.Finding{f}); err != nil {
		return ladder.FlowOf(f), nil, err
	}
	a := c.ready[placeOf(f)]
	return a.flow, a.frames, nil
}

// Read reads the captures once, for the frames of some findings, and for the histories of connections.
func (c *Capture) Read(list []*rule.Finding) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read(list)
}

func placeOf(f *rule.Finding) place { return place{uint64(f.Tap), uint64(f.Seq), f.Frame, f.Rule} }

func (c *Capture) read(list []*rule.Finding) error {
	flows := make([]ladder.Flow, len(list))
	for i, f := range list {
		flows[i] = flow(ladder.FlowOf(f), c.model.done.run.Result.Connections)
	}
	col := ladder.NewCollector(list, flows)
	src, err := fabricagent.Open(c.files)
	if src == nil {
		return err
	}
	defer src.Close()
	if err := c.pass(src, col); err != nil {
		return err
	}
	c.series = true
	for i, f := range list {
		at := placeOf(f)
		if c.ready[at] == nil {
			c.order = append(c.order, at)
		}
		c.ready[at] = &around{flows[i], col.Frames(i)}
	}
	for len(c.order) > max(mostReady, len(list)) {
		delete(c.ready, c.order[0])
		c.order = slices.Delete(c.order, 0, 1)
	}
	return nil
}

// pass reads all frames. What is wrong with the files was told when they were verified.
func (c *Capture) pass(src fabricagent.Source, col *ladder.Collector) error {
	var p packet.Packet
	for {
		b, err := src.Next()
		if b == nil {
			if err == io.EOF || len(fabricagent.FileErrors(err)) > 0 {
				return nil
			}
			return err
		}
		c.model.mu.Lock()
		for i := range b.Frames {
			f := &b.Frames[i]
			p.Time, p.Frame, p.Tap, p.Way = f.Time, f.Number, f.Tap, f.Way
			if !fabricagent.Decode(f, &p).IsRDMA() {
				continue
			}
			col.Add(f, &p)
			if !c.series {
				c.model.add(f, &p)
			}
		}
		c.model.mu.Unlock()
		b.Release()
	}
}

// representatives picks findings whose frames are worth having at once: of each rule and accused endpoint the first, then the second and so on, the
// gravest kinds first.
func (m *Model) representatives(most int) (ids []uint64, list []*rule.Finding) {
	type key struct {
		rule    rule.ID
		accused rule.Endpoint
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for k := range m.stores {
		seen := map[key]int{}
		var ranks [][]*entry
		for at := m.stores[k].end(false); at != nil; at = at.Next() {
			e := entryOf(at)
			if e.Frame == 0 {
				continue
			}
			of := key{e.Rule, e.Accused}
			n := seen[of]
			seen[of]++
			if n == len(ranks) {
				ranks = append(ranks, nil)
			}
			ranks[n] = append(ranks[n], e)
		}
		room := most
		if kind(k) == event {
			room = min(most, mostEvents)
		}
		for _, rank := range ranks {
			for _, e := range rank {
				if room == 0 || len(ids) == most {
					break
				}
				room--
				f := *e.Finding
				ids, list = append(ids, e.ID), append(list, &f)
			}
		}
	}
	return ids, list
}

// mostEvents is how many events are picked at most.
const mostEvents = 50

// Prepare reads the captures once: for the histories of connections, and for the frames of those findings that are likely to be asked for.
func (c *Capture) Prepare() error {
	_, list := c.model.representatives(mostReady)
	return c.Read(list)
}
