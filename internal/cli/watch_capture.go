package cli

import "ibwitness/fabricagent/live"

// open opens the interfaces.
func (c *watchCommand) open() (live.Capture, error) {
	o := live.Options{Interfaces: c.Interface, Promiscuous: c.Promiscuous, Hardware: c.Hardware, Sockets: c.Sockets, Memory: c.Ring << 20}
	if c.Libpcap {
		return live.OpenLibpcap(o)
	}
	src, err := live.Open(o)
	if err != nil {
		return nil, err
	}
	return src, nil
}
