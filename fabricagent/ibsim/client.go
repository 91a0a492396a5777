package ibsim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"ibwitness/mad"
)

// Client is a program at a node of an ibsim or a Server. It is not for use by several goroutines at once.
type Client struct {
	number    uint32 // that the server has given
	node      string
	ctl, data *net.UnixConn
	out       *net.UnixAddr
	server    *net.UnixAddr
}

// serial tells the clients of a process apart: they name their sockets by the process ID, which is below 2^22, and it.
var serial atomic.Uint32

const (
	pidBits    = 22
	mostSerial = 1 << (31 - pidBits)

	controlTime = 5 * time.Second
)

// Connect attaches a client to the node of a server that is called host; an empty host means the server's choice. An empty name is that of the environment's
// IBSIM_SOCKNAME, or DefaultName. The error wraps ErrNoServer, ErrRefused or ErrTimeout.
func Connect(name, host string) (*Client, error) {
	name = socketName(name)
	c := &Client{out: nil, server: address(name, "ctl", -1)}
	var id int
	var err error
	for range mostSerial { // other containers on this network may have the same process ID
		id = os.Getpid()&(1<<pidBits-1) | int(serial.Add(1)-1)%mostSerial<<pidBits
		if c.ctl, err = net.ListenUnixgram("unixgram", address(name, "ctl", id)); err == nil {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("ibsim: bind a socket for %q: %w", name, err)
	}
	if c.data, err = net.ListenUnixgram("unixgram", address(name, "in", id)); err != nil {
		return nil, errors.Join(fmt.Errorf("ibsim: bind a socket for %q: %w", name, err), c.ctl.Close())
	}
	var m control
	binary.NativeEndian.PutUint32(m.data[:], uint32(id))
	copy(m.data[12:infoSize-1], host)
	m.kind, m.length = ctlConnect, infoSize
	if err := c.control(&m); err != nil {
		if errors.Is(err, ErrRefused) {
			err = fmt.Errorf("%w; it may not have a node %q, or ten clients already", err, host)
		}
		return nil, errors.Join(err, c.ctl.Close(), c.data.Close())
	}
	c.number, c.node = binary.NativeEndian.Uint32(m.data[:]), text(m.data[12:infoSize])
	c.out = address(name, "out", int(c.number))
	return c, nil
}

// Node is the name of the node that the client is attached to.
func (c *Client) Node() string { return c.node }

// Number is what the server writes into the upper 16 bits of the transaction IDs of the client's requests.
func (c *Client) Number() uint16 { return uint16(c.number) }

// control asks the server and writes its answer into m.
func (c *Client) control(m *control) error {
	m.client = c.number
	if _, err := c.ctl.WriteToUnix(m.encode(), c.server); err != nil {
		if gone(err) {
			return fmt.Errorf("%w: %q", ErrNoServer, c.server.Name[1:len(c.server.Name)-1])
		}
		return fmt.Errorf("ibsim: %w", err)
	}
	_ = c.ctl.SetReadDeadline(time.Now().Add(controlTime))
	b := make([]byte, ctlSize+1)
	size, _, err := c.ctl.ReadFromUnix(b)
	if err != nil {
		return failed(err)
	}
	kind := m.kind
	if err := m.decode(b[:size]); err != nil {
		return err
	}
	if m.kind != kind {
		return ErrRefused
	}
	return nil
}

// failed says what an error of a socket means.
func failed(err error) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return ErrTimeout
	case errors.Is(err, net.ErrClosed):
		return ErrClosed
	case gone(err):
		return ErrNoServer
	}
	return fmt.Errorf("ibsim: %w", err)
}

// SetIsSM says whether a subnet manager runs at the node: it then gets the requests that are for one.
func (c *Client) SetIsSM(is bool) error {
	m := control{kind: ctlSetIsSM, length: 4}
	if is {
		binary.NativeEndian.PutUint32(m.data[:], 1)
	}
	return c.control(&m)
}

// PortInfo returns PortInfo of the port to which the client is attached, 64 bytes (table T12).
func (c *Client) PortInfo() ([]byte, error) {
	m := control{kind: ctlGetPortInfo, length: 1}
	if err := c.control(&m); err != nil {
		return nil, err
	}
	return m.data[:], nil
}

// Send sends a MAD. The server writes the number of the client into the upper 16 bits of the transaction ID of a request.
func (c *Client) Send(d *Datagram) error {
	if _, err := c.data.WriteToUnix(d.encode(), c.out); err != nil {
		return failed(err)
	}
	return nil
}

// Receive returns the next MAD that comes before a deadline; with the zero time it waits for ever. A request that nothing answers comes back with Unanswered set. The
// error wraps ErrTimeout, ErrClosed or ErrDatagram.
func (c *Client) Receive(deadline time.Time) (d Datagram, err error) {
	if err := c.data.SetReadDeadline(deadline); err != nil {
		return d, failed(err)
	}
	b := make([]byte, datagramSize+1)
	size, _, err := c.data.ReadFromUnix(b)
	if err != nil {
		return d, failed(err)
	}
	return d, d.decode(b[:size])
}

// tidMask leaves out of a transaction ID what the server writes into it.
const tidMask = 1<<48 - 1

// Ask sends a request and returns its response; other MADs that come are dropped. The error wraps ErrNoAnswer too, where the server knows that there is none.
func (c *Client) Ask(d *Datagram, deadline time.Time) (Datagram, error) {
	h := d.header()
	if err := c.Send(d); err != nil {
		return Datagram{}, err
	}
	for {
		r, err := c.Receive(deadline)
		if err != nil {
			return Datagram{}, err
		}
		if a := r.header(); a.TID&tidMask != h.TID&tidMask || a.Class != h.Class || !r.Unanswered && !response(a.Method) {
			continue
		}
		if r.Unanswered {
			return Datagram{}, ErrNoAnswer
		}
		return r, nil
	}
}

// Directed makes a datagram of a subnet management request on a directed route: the ports out of which it leaves the node of the client and those after it, at most 63.
func Directed(s mad.SMP, path ...uint8) (d Datagram, err error) {
	if len(path) > mad.MaxHops {
		return d, fmt.Errorf("ibsim: a directed route of %d hops; give at most %d", len(path), mad.MaxHops)
	}
	s.BaseVersion, s.Class, s.ClassVersion = 1, mad.ClassSubnetDirected, 1
	s.DrSLID, s.DrDLID = mad.PermissiveLID, mad.PermissiveLID
	s.Initial = append([]byte{0}, path...)
	s.SetHops(0, len(path))
	d.DLID, d.SLID = mad.PermissiveLID, mad.PermissiveLID
	return d, s.Encode(d.MAD[:])
}

// Close detaches the client.
func (c *Client) Close() error {
	m := control{kind: ctlDisconnect}
	err := c.control(&m)
	if errors.Is(err, ErrNoServer) {
		err = nil
	}
	return errors.Join(err, c.ctl.Close(), c.data.Close())
}
