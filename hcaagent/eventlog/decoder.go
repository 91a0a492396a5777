package eventlog

import (
	"bytes"
	"errors"

	"ibwitness/cq"
	"ibwitness/packet"
)

// Decoder decodes lines of a log one by one, as a device that is simulated makes them.
type Decoder struct{ r *reader }

// NewDecoder returns a decoder of the lines of one device.
func NewDecoder(device packet.Addr) *Decoder {
	r := newReader("", bytes.NewReader(nil))
	r.log.Addr, r.timed = device, true
	return &Decoder{r}
}

// Decode returns the event of a line that came at a time, nanoseconds since the Unix epoch; its own time does not count. Of a remark the event is nil. The line is not kept.
func (d *Decoder) Decode(line []byte, now int64) (*cq.Event, error) {
	r := d.r
	r.n++
	r.now = now
	if len(r.log.Events) == cap(r.log.Events) {
		r.log.Events = make([]cq.Event, 0, portion)
	}
	line = bytes.TrimSpace(line)
	if bytes.IndexByte(line, '\n') >= 0 {
		return nil, errors.New("two lines: give one event at a time")
	}
	n := len(r.log.Events)
	if err := r.take(line); err != nil {
		return nil, err
	}
	if len(r.log.Events) == n {
		return nil, nil
	}
	r.address(r.log.Events[n:])
	return &r.log.Events[n], nil
}
