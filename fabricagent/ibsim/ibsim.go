// Package ibsim speaks the protocol of ibsim, the simulator of InfiniBand fabrics: datagrams on abstract Unix sockets that libumad2sim brings in the place of
// libibumad. A Server offers a Fabric of nodes of package subnet/sma, so that a subnet manager and its tools run on it as on hardware; a Client drives the
// nodes of an ibsim, or of a Server.
//
// It is the engine's own, without a promise to others.
package ibsim

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"

	"ibwitness/mad"
)

// The errors of this package, wrapped with what was done.
var (
	ErrNoServer = errors.New("ibsim: nobody listens there; start ibsim or a Server with this name, or give the name of one that runs")
	ErrRefused  = errors.New("ibsim: the server refused it")
	ErrNoAnswer = errors.New("ibsim: nothing answers this request: no node is there, or it drops the request")
	ErrTimeout  = errors.New("ibsim: nothing came in time; look whether the server runs, or wait longer")
	ErrClosed   = errors.New("ibsim: it is closed")
	ErrDatagram = errors.New("ibsim: not a datagram of this protocol")
	ErrFabric   = errors.New("ibsim: the fabric cannot be so")
)

// DefaultName is the name of the sockets where the environment has no IBSIM_SOCKNAME.
const DefaultName = "sim"

// socketName is the name that the environment gives to sockets where the caller gives none.
func socketName(name string) string {
	if name == "" {
		name = os.Getenv("IBSIM_SOCKNAME")
	}
	if name == "" {
		name = DefaultName
	}
	return name
}

// address is an abstract address: its trailing NUL counts.
func address(base, kind string, id int) *net.UnixAddr {
	name := "@" + base + ":" + kind
	if id >= 0 {
		name += fmt.Sprint(id)
	}
	return &net.UnixAddr{Name: name + "\x00", Net: "unixgram"}
}

// answerTo is the address of who sent a datagram: Go cuts off its trailing NUL.
func answerTo(a *net.UnixAddr) *net.UnixAddr {
	return &net.UnixAddr{Name: strings.TrimRight(a.Name, "\x00") + "\x00", Net: "unixgram"}
}

func sameAddress(a, b *net.UnixAddr) bool {
	return a != nil && b != nil && strings.TrimRight(a.Name, "\x00") == strings.TrimRight(b.Name, "\x00")
}

// gone reports whether an error of a socket says that nobody has the other one.
func gone(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT)
}

// Types of control messages.
const (
	ctlRefused = iota
	ctlConnect
	ctlDisconnect
	ctlGetPort
	ctlGetVendor
	ctlGetGID
	ctlGetGUID
	ctlGetNodeInfo
	ctlGetPortInfo
	ctlSetIsSM
	ctlGetPKeys
)

const (
	ctlMagic    = 0xDEADBEEF
	ctlSize     = 80
	ctlDataSize = 64
	nodeIDSize  = 32
	infoSize    = 12 + nodeIDSize // of the data of CONNECT

	maxClients = 10
)

// control is a control message, in the byte order of the machine.
type control struct {
	client uint32
	kind   uint32
	length uint32
	data   [ctlDataSize]byte
}

func (c *control) encode() []byte {
	b := make([]byte, ctlSize)
	for i, v := range []uint32{ctlMagic, c.client, c.kind, c.length} {
		binary.NativeEndian.PutUint32(b[i*4:], v)
	}
	copy(b[16:], c.data[:])
	return b
}

func (c *control) decode(b []byte) error {
	if len(b) != ctlSize || binary.NativeEndian.Uint32(b) != ctlMagic {
		return fmt.Errorf("%w: control message of %d bytes", ErrDatagram, len(b))
	}
	c.client, c.kind, c.length = binary.NativeEndian.Uint32(b[4:]), binary.NativeEndian.Uint32(b[8:]), binary.NativeEndian.Uint32(b[12:])
	copy(c.data[:], b[16:])
	return nil
}

// text is a string that ends with the first NUL.
func text(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}

// Datagram is one MAD with what the network layer below it has.
type Datagram struct {
	DLID, SLID    uint16
	DestQP, SrcQP uint32
	SL            uint8  // service level, which the protocol of ibsim does not carry
	PKey          uint16 // of GMPs; 0: 0xFFFF. The protocol of ibsim does not carry it, either
	Unanswered    bool   // it is a request that has come back since nothing answers it
	Len           int    // bytes of the MAD that who sent it gave; the rest is 0. 0: all
	MAD           [mad.Size]byte
}

const (
	datagramSize = 32 + mad.Size
	timedOut     = 110 // ETIMEDOUT
)

func (d *Datagram) encode() []byte {
	b := make([]byte, datagramSize)
	binary.BigEndian.PutUint16(b, d.DLID)
	binary.BigEndian.PutUint16(b[4:], d.SLID)
	binary.BigEndian.PutUint32(b[8:], d.DestQP)
	binary.BigEndian.PutUint32(b[12:], d.SrcQP)
	if d.Unanswered {
		binary.BigEndian.PutUint32(b[16:], timedOut)
	}
	binary.BigEndian.PutUint64(b[24:], mad.Size)
	copy(b[32:], d.MAD[:])
	return b
}

func (d *Datagram) decode(b []byte) error {
	if len(b) != datagramSize {
		return fmt.Errorf("%w: %d bytes and not %d", ErrDatagram, len(b), datagramSize)
	}
	d.DLID, d.SLID = binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[4:])
	d.DestQP, d.SrcQP = binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])
	d.Unanswered = binary.BigEndian.Uint32(b[16:]) != 0
	copy(d.MAD[:], b[32:])
	if n := binary.BigEndian.Uint64(b[24:]); n > 0 && n < mad.Size { // libumad2sim leaves what it had there after it
		d.Len = int(n)
		clear(d.MAD[n:])
	}
	return nil
}

// header reads the header of the MAD.
func (d *Datagram) header() (h mad.Header) {
	_ = mad.DecodeHeader(d.MAD[:], &h)
	return h
}
