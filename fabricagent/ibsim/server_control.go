package ibsim

import (
	"encoding/binary"
	"net"

	"ibwitness/mad"
	"ibwitness/subnet/sma"
)

// controls answers control messages, each from the socket that it came to.
func (s *Server) controls() {
	defer s.run.Done()
	b := make([]byte, ctlSize+1)
	for {
		size, from, err := s.ctl.ReadFromUnix(b)
		if err != nil {
			return // closed
		}
		var c control
		if from == nil || c.decode(b[:size]) != nil {
			continue
		}
		s.mu.Lock()
		if !s.control(&c) {
			c.kind, c.length = ctlRefused, 0
		}
		s.mu.Unlock()
		_, _ = s.ctl.WriteToUnix(c.encode(), answerTo(from)) // a client that is gone needs no answer
	}
}

// control carries out a control message and writes the result into it; false refuses it.
func (s *Server) control(c *control) bool {
	select {
	case <-s.stop:
		return false
	default:
	}
	if c.kind == ctlConnect {
		return s.connect(c)
	}
	if c.client >= maxClients || s.clients[c.client] == nil {
		return false
	}
	client := s.clients[c.client]
	node, number := client.at.Node, client.at.Port
	answer := func(b []byte) bool {
		c.length = uint32(copy(c.data[:], b))
		return true
	}
	switch c.kind {
	case ctlDisconnect:
		return s.detach(int(c.client)) == nil
	case ctlGetPort:
		lid, _ := node.LID(number)
		binary.NativeEndian.PutUint16(c.data[:], lid)
		c.data[2] = node.State(number)
		return true
	case ctlGetVendor:
		b := make([]byte, 24)
		info := node.NodeInfo(number)
		for i, name := range []string{"vendorID", "deviceID", "revision"} {
			binary.NativeEndian.PutUint32(b[i*4:], uint32(mad.LayoutNodeInfo.Field(name).Uint(info)))
		}
		return answer(b)
	case ctlGetGID:
		return answer(append(node.PortInfo(number)[8:16], node.NodeInfo(number)[20:28]...))
	case ctlGetGUID:
		return answer(node.NodeInfo(number)[12:20])
	case ctlGetNodeInfo:
		return answer(node.NodeInfo(number))
	case ctlGetPortInfo:
		if c.data[0] != 0 {
			number = c.data[0]
		}
		info := node.PortInfo(number)
		return info != nil && answer(info)
	case ctlSetIsSM:
		client.isSM = binary.NativeEndian.Uint32(c.data[:]) != 0
		s.announce(client.at)
		return true
	case ctlGetPKeys:
		b := make([]byte, ctlDataSize)
		keys := node.PKeys(number)
		for i, k := range keys[:min(len(keys), ctlDataSize/2)] {
			binary.BigEndian.PutUint16(b[i*2:], k)
		}
		return answer(b)
	}
	return false
}

// connect attaches a client: its data socket is bound already.
func (s *Server) connect(c *control) bool {
	id := binary.NativeEndian.Uint32(c.data[:])
	at, ok := s.fabric.host(text(c.data[12:infoSize]))
	if !ok {
		return false
	}
	i := -1
	for k := maxClients - 1; k >= 0; k-- {
		if s.clients[k] == nil {
			i = k
		} else if s.clients[k].id == id {
			_ = s.detach(k) // it was started again
			i = k
		}
	}
	if i < 0 {
		return false
	}
	conn, err := net.ListenUnixgram("unixgram", address(s.name, "out", i))
	if err != nil {
		return false
	}
	client := &attached{id: id, at: at, conn: conn, peer: address(s.name, "in", int(id)), isSM: binary.NativeEndian.Uint32(c.data[8:]) != 0}
	s.clients[i] = client
	s.run.Add(1)
	go s.requests(i, client)
	s.announce(at)
	binary.NativeEndian.PutUint32(c.data[:], uint32(i))
	clear(c.data[12:infoSize])
	copy(c.data[12:infoSize-1], at.Node.Config().Description)
	c.client, c.length = uint32(i), infoSize
	return true
}

// detach forgets a client.
func (s *Server) detach(i int) error {
	c := s.clients[i]
	s.clients[i] = nil
	s.announce(c.at)
	return c.conn.Close()
}

// announce tells a node whether a subnet manager runs at it.
func (s *Server) announce(at End) {
	var m *sma.SM
	if s.at(at, func(c *attached) bool { return c.isSM }) != nil {
		m = new(sma.SM)
	}
	at.Node.SetSM(s.now(), m)
}
