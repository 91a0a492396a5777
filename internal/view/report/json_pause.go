package report

import (
	"net"

	"ibwitness/link"
)

// jsonPause is what a port asked of the other end of its link by pause frames, of one priority or of all traffic.
type jsonPause struct {
	Kind      string   `json:"kind"`
	From      string   `json:"from"`
	Hosts     []string `json:"hosts,omitempty"`
	Unowned   bool     `json:"unowned,omitempty"`
	Priority  *uint8   `json:"priority,omitempty"` // nil: of all traffic
	Tap       uint16   `json:"tap"`
	Time      string   `json:"time"`
	Frame     uint64   `json:"frame"`
	LastTime  string   `json:"last_time"`
	LastFrame uint64   `json:"last_frame"`
	Frames    uint64   `json:"frames"`
	Quanta    uint64   `json:"quanta"`
	Begun     uint64   `json:"begun"`
	Unresumed uint64   `json:"unresumed"`
	Held      bool     `json:"held,omitempty"`
	Speed     uint64   `json:"speed,omitempty"` // bit/s
	Least     float64  `json:"least"`           // seconds
	Most      float64  `json:"most"`
	Longest   float64  `json:"longest"`
}

func pauseLines(list []link.Paused) (lines []*jsonPause) {
	for i := range list {
		p := &list[i]
		line := &jsonPause{
			Kind: "pause", From: net.HardwareAddr(p.From[:]).String(), Tap: p.Tap, Time: stamp(p.Time), Frame: p.Frame, LastTime: stamp(p.LastTime), LastFrame: p.LastFrame,
			Frames: p.Frames, Quanta: p.Quanta, Begun: p.Begun, Unresumed: p.Unresumed, Held: p.Held, Unowned: p.Unowned, Speed: p.Speed,
			Least: p.Least.Seconds(), Most: p.Most.Seconds(), Longest: p.Longest.Seconds(),
		}
		for _, h := range p.Hosts {
			line.Hosts = append(line.Hosts, h.String())
		}
		if !p.All {
			line.Priority = &p.Priority
		}
		lines = append(lines, line)
	}
	return lines
}
