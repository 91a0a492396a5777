package exercise

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"ibwitness/internal/yamlfile"
)

// stream takes a stream.
func (p *parser) stream(n *yaml.Node) Stream {
	s := Stream{Line: n.Line, Repeat: 1, Name: fmt.Sprintf("stream %d", len(p.script.Streams)+1)}
	var steps *yaml.Node
	p.to = nowhere
	p.Fields(n, "a stream", map[string]setter{
		"name": p.Text(&s.Name), "of": yamlfile.Choice(&p.Reader, &s.Partner, map[string]bool{"exerciser": false, "partner": true}), "at": p.Duration(&s.At),
		"gap": p.Duration(&s.Gap), "jitter": p.Duration(&s.Jitter), "rate": yamlfile.Number(&p.Reader, &s.Rate, 1000, 1e13), "repeat": p.repeat(&s.Repeat),
		"to": p.address(&p.to), "start": p.trigger(&s.Start), "stop": p.trigger(&s.Stop), "steps": func(n *yaml.Node) { steps = n },
	})
	if steps == nil || steps.Kind == yaml.SequenceNode && len(steps.Content) == 0 {
		p.Fail(n.Line, "%s has no steps: give steps: with a list of packets", s.Name)
		return s
	}
	sends := false
	p.List(steps, "steps", func(n *yaml.Node) {
		x := p.step(n, s.Partner)
		sends = sends || x.Packet != nil
		s.Steps = append(s.Steps, x)
	})
	if s.Repeat == 0 && !sends && !p.Failed() {
		p.Fail(n.Line, "%s has no packet and no end: give it one, or repeat: with a number", s.Name)
	}
	return s
}

// repeat takes how often the steps are done.
func (p *parser) repeat(to *uint64) setter {
	return func(n *yaml.Node) {
		if n.Value == "forever" {
			*to = 0
			return
		}
		yamlfile.Number(&p.Reader, to, 1, 1e9)(n)
	}
}

// kinds are the keys by which a step is told, of which it has one.
var kinds = []string{"op", "mad", "raw", "ipv6", "flow", "bytes", "wait", "pause", "link", "sink"}

// step takes a step.
func (p *parser) step(n *yaml.Node, partner bool) Step {
	s := Step{Line: n.Line}
	var found []string
	if n.Kind == yaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 {
			if slices.Contains(kinds, n.Content[i].Value) {
				found = append(found, n.Content[i].Value)
			}
		}
	}
	if len(found) != 1 {
		p.Fail(n.Line, "a step is told by one key of %s: this one has %d", strings.Join(kinds, ", "), len(found))
		return s
	}
	switch found[0] {
	case "wait":
		p.Fields(n, "a step", map[string]setter{"wait": p.trigger(&s.Wait), "timeout": p.Duration(&s.Timeout)})
	case "pause":
		p.Fields(n, "a step", map[string]setter{"pause": p.Duration(&s.Pause)})
	case "link":
		p.Fields(n, "a step", map[string]setter{"link": yamlfile.Choice(&p.Reader, &s.Link, map[string]LinkCommand{"down": LinkDown, "up": LinkUp})})
		p.onLink(n, "link")
	case "sink":
		p.Fields(n, "a step", map[string]setter{"sink": p.sinkChange(&s)})
		p.onLink(n, "sink")
	default:
		s.Packet = p.packet(n, found[0], partner)
	}
	return s
}

// onLink refuses a step that only a native link has.
func (p *parser) onLink(n *yaml.Node, what string) {
	if p.script.Link == nil {
		p.Fail(n.Line, "%s: only a native link has that: give link: in place of ethernet:", what)
	}
}

// sinkChange takes another capacity or drain of a sink.
func (p *parser) sinkChange(s *Step) setter {
	return func(n *yaml.Node) {
		c := &SinkChange{Sink: Sink{Capacity: defaultCapacity}}
		set := p.sink(&c.Sink)
		set["vl"] = yamlfile.Number(&p.Reader, &c.VL, 0, 14)
		p.Fields(n, "a sink", set)
		s.Sink = c
	}
}

// trigger takes what is waited for.
func (p *parser) trigger(to **Trigger) setter {
	return func(n *yaml.Node) {
		t := &Trigger{Line: n.Line, Count: 1}
		set := p.conditions(t)
		set["stream"] = p.Text(&t.Stream)
		set["count"] = yamlfile.Number(&p.Reader, &t.Count, 1, 1e9)
		p.Fields(n, "a trigger", set)
		switch {
		case t.Stream != "" && (len(t.matches) > 0 || t.Count > 1):
			p.Fail(n.Line, "stream: the end of a stream has no other conditions: remove them")
		case t.Stream == "" && len(t.matches) == 0 && !p.Failed():
			p.Fail(n.Line, "a trigger without a condition: give one of %s", strings.Join(slices.Sorted(maps.Keys(set)), ", "))
		}
		*to = t
	}
}
