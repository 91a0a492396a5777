package remote

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// SizeError says that a message is longer than one may be.
type SizeError struct{ Bytes int }

func (e *SizeError) Error() string {
	return fmt.Sprintf("remote: a message of %d bytes: at most %d are taken; give fewer data segments", e.Bytes, mostMessage)
}

// channel carries messages: each has its length before it, in 4 bytes.
type channel struct {
	net.Conn
	idle time.Duration // after which the other end is taken for gone, where it sends nothing; 0: never
	room chan struct{} // a place for each call in flight; nil: no bound
}

// Send sends a message. One that waits too long ends the connection.
func (c *channel) Send(message []byte) error {
	if len(message) > mostMessage {
		return &SizeError{len(message)}
	}
	if err := c.SetWriteDeadline(time.Now().Add(callTime)); err != nil {
		return err
	}
	b := make([]byte, 4, 4+len(message))
	binary.BigEndian.PutUint32(b, uint32(len(message)))
	if _, err := c.Write(append(b, message...)); err != nil {
		_ = c.Conn.Close()
		return err
	}
	return nil
}

// Recv receives a message.
func (c *channel) Recv() ([]byte, error) {
	if c.room != nil {
		select {
		case c.room <- struct{}{}:
		case <-time.After(c.idle):
			return nil, fmt.Errorf("remote: more than %d calls at once, none of which has been answered for %v", mostInFlight, c.idle)
		}
	}
	if c.idle > 0 {
		if err := c.SetReadDeadline(time.Now().Add(c.idle)); err != nil {
			return nil, err
		}
	}
	var head [4]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > mostMessage {
		return nil, &SizeError{int(n)}
	}
	message := make([]byte, n)
	if _, err := io.ReadFull(c, message); err != nil {
		return nil, err
	}
	if c.room != nil && n > 0 && message[0] == '[' {
		return nil, errors.New("remote: a batch of calls: send them one by one")
	}
	return message, nil
}
