// Command frames writes what a testbench of this folder plays: the frames of captures, and verbs events, as text.
//
//	go run ./examples/testbench/replay/frames --near 10.0.0.1 capture.pcap [log.jsonl] > replay.txt
//
// Each line is an event: its time in nanoseconds from the first one on, what it is (0: a verbs event, 1: a frame that reaches the device at --near, 2: one that leaves
// it), then for a frame how many bytes it has, and the bytes in hexadecimal; for a verbs event its JSON.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"

	"ibwitness/fabricagent"
	"ibwitness/packet"
)

// event is a line of what is played.
type event struct {
	time int64 // nanoseconds since the Unix epoch
	kind int
	text string
}

func main() {
	log.SetFlags(0)
	near := flag.String("near", "", "address of the device")
	flag.Parse()
	if err := run(os.Stdout, *near, flag.Args()); err != nil {
		log.Fatalf("frames: %v", err)
	}
}

func run(w io.Writer, near string, files []string) error {
	device, err := packet.ParseAddr(near)
	if err != nil {
		return fmt.Errorf("--near is %q: give the address of the device", near)
	}
	var events []event
	for _, name := range files {
		var list []event
		if strings.HasSuffix(name, ".jsonl") {
			list, err = verbs(name)
		} else {
			list, err = frames(name, device)
		}
		if err != nil {
			return err
		}
		events = append(events, list...)
	}
	slices.SortStableFunc(events, func(a, b event) int { return int(a.time - b.time) })
	b := bufio.NewWriter(w)
	for _, e := range events {
		fmt.Fprintf(b, "%d %d %s\n", e.time-events[0].time, e.kind, e.text)
	}
	return b.Flush()
}

// frames are those of a capture.
func frames(name string, device packet.Addr) (list []event, err error) {
	src, err := fabricagent.Open([]string{name})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	for {
		batch, err := src.Next()
		if err == io.EOF {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		for i := range batch.Frames {
			f := &batch.Frames[i]
			e := event{time: f.Time, kind: 1}
			if from, _, ok := fabricagent.Ends(f); ok && from == device {
				e.kind = 2
			}
			e.text = fmt.Sprintf("%d % x", len(f.Data), f.Data)
			list = append(list, e)
		}
		batch.Release()
	}
}

// verbs are those of a log, without remarks.
func verbs(name string) (list []event, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(text) {
		var e struct{ T int64 }
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if e.T != 0 {
			list = append(list, event{time: e.T, text: string(bytes.TrimSpace(line))})
		}
	}
	return list, nil
}
