package fabricagent

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"time"
)

// start is the time of the first frame that the builders write.
var start = time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC).UnixNano()

// appender writes integers of a byte order after a buffer.
type appender struct {
	b     []byte
	order binary.ByteOrder
}

func (a *appender) u16(v ...uint16) *appender {
	for _, v := range v {
		a.b = append(a.b, 0, 0)
		a.order.PutUint16(a.b[len(a.b)-2:], v)
	}
	return a
}

func (a *appender) u32(v ...uint32) *appender {
	for _, v := range v {
		a.b = append(a.b, 0, 0, 0, 0)
		a.order.PutUint32(a.b[len(a.b)-4:], v)
	}
	return a
}

func (a *appender) u64(v uint64) *appender {
	a.b = append(a.b, make([]byte, 8)...)
	a.order.PutUint64(a.b[len(a.b)-8:], v)
	return a
}

func (a *appender) bytes(v []byte) *appender {
	a.b = append(a.b, v...)
	return a
}

// pcapFile builds a classic pcap.
type pcapFile struct {
	appender
	magic uint32
}

func newPcap(order binary.ByteOrder, magic, snap, link uint32) *pcapFile {
	p := &pcapFile{appender: appender{order: order}, magic: magic}
	p.u32(magic).u16(2, 4).u32(0, 0, snap, link)
	return p
}

func (p *pcapFile) frame(ns int64, wire int, data []byte) *pcapFile {
	return p.cooked(ns, wire, data, 0, 0)
}

// cooked is frame with the interface index and packet type of a kuznetzov record.
func (p *pcapFile) cooked(ns int64, wire int, data []byte, ifindex uint32, kind byte) *pcapFile {
	frac := uint32(ns % 1e9)
	if p.magic != magicNano {
		frac /= 1000
	}
	p.u32(uint32(ns/1e9), frac, uint32(len(data)), uint32(wire))
	if p.magic == magicKuznetzov {
		p.u32(ifindex).u16(0x0800).bytes([]byte{kind, 0})
	}
	p.bytes(data)
	return p
}

// ngFile builds a pcapng.
type ngFile struct{ appender }

func newNG(order binary.ByteOrder) *ngFile { return &ngFile{appender{order: order}} }

func (g *ngFile) block(kind uint32, body []byte) *ngFile {
	for len(body)%4 != 0 {
		body = append(body, 0)
	}
	n := uint32(12 + len(body))
	g.u32(kind, n).bytes(body).u32(n)
	return g
}

func (g *ngFile) with() *appender { return &appender{order: g.order} }

func (g *ngFile) section() *ngFile {
	return g.block(blockSection, g.with().u32(orderMagic).u16(1, 0).u64(1<<64-1).b)
}

// opt is an option of a pcapng block.
type opt struct {
	code  uint16
	value []byte
}

func (g *ngFile) options(a *appender, opts []opt) []byte {
	for len(a.b)%4 != 0 {
		a.b = append(a.b, 0)
	}
	for _, o := range opts {
		a.u16(o.code, uint16(len(o.value))).bytes(o.value)
		for len(a.b)%4 != 0 {
			a.b = append(a.b, 0)
		}
	}
	if len(opts) > 0 {
		a.u32(0)
	}
	return a.b
}

func (g *ngFile) iface(link LinkType, snap uint32, opts ...opt) *ngFile {
	return g.block(blockInterface, g.options(g.with().u16(uint16(link), 0).u32(snap), opts))
}

func (g *ngFile) enhanced(id uint32, ts uint64, wire int, data []byte, opts ...opt) *ngFile {
	a := g.with().u32(id, uint32(ts>>32), uint32(ts), uint32(len(data)), uint32(wire)).bytes(data)
	return g.block(blockEnhancedPacket, g.options(a, opts))
}

func (g *ngFile) obsolete(id, drops uint16, ts uint64, wire int, data []byte, opts ...opt) *ngFile {
	a := g.with().u16(id, drops).u32(uint32(ts>>32), uint32(ts), uint32(len(data)), uint32(wire)).bytes(data)
	return g.block(blockObsoletePacket, g.options(a, opts))
}

func (g *ngFile) simple(wire int, data []byte) *ngFile {
	return g.block(blockSimplePacket, g.with().u32(uint32(wire)).bytes(data).b)
}

func (g *ngFile) statistics(id uint32, opts ...opt) *ngFile {
	return g.block(blockStatistics, g.options(g.with().u32(id, 0, 0), opts))
}

func (g *ngFile) num32(v uint32) []byte { return g.with().u32(v).b }
func (g *ngFile) num64(v uint64) []byte { return g.with().u64(v).b }

// erfRecord builds an ERF record. Ethernet types get their two bytes of padding.
func erfRecord(kind, port uint8, ns int64, lost uint16, wire int, data []byte, extensions int) []byte {
	a := appender{order: binary.BigEndian}
	frac := uint64(ns%1e9) << 32 / 1e9
	a.b = binary.LittleEndian.AppendUint64(nil, uint64(ns/1e9)<<32|frac)
	body := data
	switch kind {
	case erfEthernet, erfColorEthernet, erfDSMColorEthernet, erfColorHashEthernet:
		body = append([]byte{0, 0}, data...)
	}
	if extensions > 0 {
		kind |= erfMore
	}
	size := erfHeader + erfExtension*extensions + len(body)
	pad := -size & 7
	a.bytes([]byte{kind, 4 | port}).u16(uint16(size+pad), lost, uint16(wire))
	for i := extensions; i > 0; i-- {
		e := make([]byte, erfExtension)
		e[0] = 3
		if i > 1 {
			e[0] |= erfMore
		}
		a.bytes(e)
	}
	return a.bytes(body).bytes(make([]byte, pad)).b
}

// payload is n bytes that differ from frame to frame.
func payload(seed, n int) []byte {
	r := rand.New(rand.NewPCG(uint64(seed), 7))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// readAll copies all frames of a source, and returns what Next said before io.EOF. It checks the sizes of the batches.
func readAll(t testing.TB, s Source) (frames []Frame, failed error) {
	t.Helper()
	part := false
	for {
		b, err := s.Next()
		switch {
		case err == io.EOF:
			return frames, failed
		case err != nil:
			if failed != nil {
				t.Fatalf("a second error: %v after %v", err, failed)
			}
			failed = err
			continue
		}
		if failed != nil || part || len(b.Frames) == 0 || len(b.Frames) > BatchSize {
			t.Fatalf("batch of %d frames, after a partial one: %v, after the error %v", len(b.Frames), part, failed)
		}
		part = len(b.Frames) < BatchSize
		for _, f := range b.Frames {
			f.Data = bytes.Clone(f.Data)
			if f.Data == nil {
				f.Data = []byte{}
			}
			frames = append(frames, f)
		}
		b.Release()
	}
}

// readBytes reads a capture from memory.
func readBytes(t testing.TB, file []byte) ([]Frame, []Tap, error) {
	t.Helper()
	s, err := OpenReader("mem", bytes.NewReader(file))
	if err != nil {
		return nil, nil, err
	}
	frames, err := readAll(t, s)
	taps := s.Taps()
	if e := s.Close(); e != nil {
		t.Fatal(e)
	}
	return frames, taps, err
}

// kindOf is the kind of a single FileError, 0 for none.
func kindOf(t testing.TB, err error) ErrKind {
	t.Helper()
	if err == nil {
		return 0
	}
	var fe *FileError
	if !errors.As(err, &fe) {
		t.Fatalf("not a FileError: %v", err)
	}
	return fe.Kind
}
