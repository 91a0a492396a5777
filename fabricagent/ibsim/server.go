package ibsim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"ibwitness/mad"
	"ibwitness/subnet/sma"
)

// Server offers a fabric to programs that run with libumad2sim, and to Clients.
type Server struct {
	name  string
	begun time.Time
	ctl   *net.UnixConn
	stop  chan struct{}
	run   sync.WaitGroup

	mu      sync.Mutex // guards what follows, and the fabric
	fabric  *Fabric
	clients [maxClients]*attached
	waiting []waiting
}

// waiting is a request of a client that another client is to answer.
type waiting struct {
	from *attached
	d    Datagram
	end  int64 // when it counts as unanswered
}

// patience is how long a client has for an answer: more than the 0.6 s after which opensm has retried three times.
const patience = int64(time.Second)

// attached is a client: its number is the upper 16 bits of the transaction IDs of its requests.
type attached struct {
	id   uint32 // by which the client names its sockets
	at   End
	isSM bool
	conn *net.UnixConn
	peer *net.UnixAddr
}

// tick is how often traps are looked for.
const tick = 50 * time.Millisecond

// Listen offers a fabric under a name; an empty one is that of the environment's IBSIM_SOCKNAME, or DefaultName. While it runs, Do is the way to the fabric. Close
// ends it.
func Listen(name string, f *Fabric) (*Server, error) {
	name = socketName(name)
	if len(f.nodes) == 0 {
		return nil, fmt.Errorf("%w: it has no node; add some", ErrFabric)
	}
	ctl, err := net.ListenUnixgram("unixgram", address(name, "ctl", -1))
	if err != nil {
		return nil, fmt.Errorf("ibsim: listen as %q, which another ibsim may have; give another name: %w", name, err)
	}
	s := &Server{name: name, begun: time.Now(), ctl: ctl, fabric: f, stop: make(chan struct{})}
	s.run.Add(2)
	go s.controls()
	go s.ticks()
	return s, nil
}

// Name is the name of the sockets: what clients need as IBSIM_SOCKNAME.
func (s *Server) Name() string { return s.name }

// now is the time since the server began, in nanoseconds.
func (s *Server) now() int64 { return int64(time.Since(s.begun)) }

// Do calls a function with the fabric, its time, and nothing else at it.
func (s *Server) Do(do func(now int64, f *Fabric)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(s.now(), s.fabric)
}

// Close ends the server. Its clients wait for ever, or until their deadlines.
func (s *Server) Close() error {
	s.mu.Lock()
	select {
	case <-s.stop:
		s.mu.Unlock()
		return ErrClosed
	default:
		close(s.stop)
	}
	err := s.ctl.Close()
	for i, c := range s.clients {
		if c != nil {
			err = errors.Join(err, s.detach(i))
		}
	}
	s.mu.Unlock()
	s.run.Wait()
	return err
}

// ticks sends the traps that are due.
func (s *Server) ticks() {
	defer s.run.Done()
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-t.C:
		}
		s.mu.Lock()
		for _, n := range s.fabric.nodes {
			s.trap(n)
		}
		s.expire()
		s.mu.Unlock()
	}
}

// expire gives back the requests that another client has not answered in time: programs have no timer of their own.
func (s *Server) expire() {
	now := s.now()
	for len(s.waiting) > 0 && s.waiting[0].end <= now {
		w := s.waiting[0]
		s.waiting = s.waiting[1:]
		s.unanswered(w.from, &w.d)
	}
}

// done notes the response of a client: who asked does not wait any more.
func (s *Server) done(d *Datagram) {
	h := d.header()
	s.waiting = slices.DeleteFunc(s.waiting, func(w waiting) bool { o := w.d.header(); return o.TID == h.TID && o.Class == h.Class })
}

// trap sends the traps of a node that are due.
func (s *Server) trap(n *sma.Node) {
	for {
		b, number := n.Trap(s.now())
		if b == nil {
			return
		}
		d := Datagram{}
		d.SLID, _ = n.LID(number)
		d.DLID, _ = n.Manager(number)
		copy(d.MAD[:], b)
		s.send(End{n, number}, &d)
	}
}

// requests takes the MADs of a client.
func (s *Server) requests(i int, c *attached) {
	defer s.run.Done()
	b := make([]byte, datagramSize+1)
	for {
		size, from, err := c.conn.ReadFromUnix(b)
		if err != nil {
			return // closed
		}
		var d Datagram
		if !sameAddress(from, c.peer) || d.decode(b[:size]) != nil {
			continue
		}
		s.mu.Lock()
		if s.clients[i] == c {
			s.request(i, c, &d)
		}
		s.mu.Unlock()
	}
}

// spoilt is where the bytes begin that libumad2sim spoils in the MADs that programs receive.
const spoilt = 224

// response reports whether a method answers another one.
func response(m mad.Method) bool { return m&0x80 != 0 || m == mad.TrapRepress }

// answered reports whether who sends a method waits for an answer.
func answered(m mad.Method) bool { return !response(m) && m != mad.Send && m != mad.Trap }

// request takes one MAD of a client.
func (s *Server) request(i int, c *attached, d *Datagram) {
	h := d.header()
	switch {
	case h.Method == mad.TrapRepress: // libumad2sim takes it for a request, and writes into the upper half of the transaction ID of the trap
		clear(d.MAD[8:12])
		clear(d.MAD[spoilt:]) // they are those of the trap, as the program has received it
	case response(h.Method):
		s.done(d)
		if h.Class == mad.ClassSubnetLID { // they are reserved, and those of the request, as the program has received it
			clear(d.MAD[spoilt:])
		}
	default:
		binary.BigEndian.PutUint16(d.MAD[8:], uint16(i))
	}
	if h.Class == mad.ClassSubnetDirected {
		if d.MAD[6] != 0 {
			s.unanswered(c, d)
			return
		}
		if response(h.Method) {
			d.MAD[6] = d.MAD[7] + 1
		}
	}
	if d.SLID == 0 {
		d.SLID, _ = c.at.Node.LID(c.at.Port)
	}
	kept := *d
	switch took := s.send(c.at, d); {
	case !answered(h.Method):
	case took == nobody:
		s.unanswered(c, &kept)
	case took == client:
		s.waiting = append(s.waiting, waiting{c, kept, s.now() + patience})
	}
	s.fabric.settle(s.now())
}

// unanswered gives a request back to its client.
func (s *Server) unanswered(c *attached, d *Datagram) {
	d.Unanswered = true
	s.write(c, d)
}

// taken is who took a MAD.
type taken int

const (
	nobody taken = iota // or a node that does not answer
	node
	client
)

// send carries a MAD and hands it to the client or the node that takes it.
func (s *Server) send(from End, d *Datagram) taken {
	at, ok := s.fabric.Carry(s.now(), from, d)
	if !ok {
		return nobody
	}
	if c := s.taker(at, d); c != nil {
		if mad.Class(d.MAD[1]) == mad.ClassSubnetDirected {
			d.MAD[6] = 0 // of this protocol
		}
		if !s.write(c, d) {
			return nobody
		}
		return client
	}
	b := at.Node.Receive(s.now(), at.Port, d.MAD[:])
	if b == nil {
		return nobody
	}
	r := Datagram{DLID: d.SLID, SLID: d.DLID, DestQP: d.SrcQP, SrcQP: d.DestQP, SL: d.SL, PKey: d.PKey}
	copy(r.MAD[:], b)
	if !response(r.header().Method) {
		return nobody
	}
	to, ok := s.fabric.Carry(s.now(), at, &r)
	if !ok {
		return nobody
	}
	if c := s.taker(to, &r); c != nil {
		s.write(c, &r)
	}
	return node
}

// taker is the client that takes a MAD which was delivered at a port, or nil where the node does.
func (s *Server) taker(at End, d *Datagram) *attached {
	h := d.header()
	if response(h.Method) && h.Method != mad.TrapRepress {
		if i := binary.BigEndian.Uint16(d.MAD[8:]); i < maxClients && s.clients[i] != nil && s.clients[i].at.Node == at.Node {
			return s.clients[i]
		}
		return nil
	}
	switch {
	case h.Class.Subnet() && (h.Attribute == mad.AttrSMInfo || h.Method == mad.Trap):
		return s.at(at, func(c *attached) bool { return c.isSM })
	case h.Class.Subnet() || h.Class == mad.ClassPerformance:
		return nil
	case h.Method == mad.Report:
		if c := s.at(at, func(c *attached) bool { return !c.isSM }); c != nil {
			return c
		}
	}
	if c := s.at(at, func(c *attached) bool { return c.isSM }); c != nil || h.Class == mad.ClassSubnetAdmin {
		return c
	}
	return s.at(at, func(*attached) bool { return true })
}

// at is the first client at a node that is so.
func (s *Server) at(at End, is func(*attached) bool) *attached {
	for _, c := range s.clients {
		if c != nil && c.at.Node == at.Node && is(c) {
			return c
		}
	}
	return nil
}

// write sends a datagram to a client and reports whether it is there; one that is not any more is detached.
func (s *Server) write(c *attached, d *Datagram) bool {
	_ = c.conn.SetWriteDeadline(time.Now().Add(time.Second))
	if _, err := c.conn.WriteToUnix(d.encode(), c.peer); err == nil || !gone(err) {
		return err == nil
	}
	for i, o := range s.clients {
		if o == c {
			_ = s.detach(i)
		}
	}
	return false
}
