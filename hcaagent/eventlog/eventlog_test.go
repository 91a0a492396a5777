package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ibwitness/cq"
	"ibwitness/hcaagent"
	"ibwitness/packet"
	"ibwitness/wqe"
)

// recorded are the logs of soft-RoCE runs: those of the repository, and all of them where the captures are here.
func recorded(t testing.TB) []string {
	dir := os.Getenv("IBWITNESS_CAPTURES")
	if dir == "" {
		dir = "../../../shared/captures"
	}
	files, err := filepath.Glob("../../internal/testkit/planted/testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no logs in internal/testkit/planted/testdata: %v", err)
	}
	more, err := filepath.Glob(filepath.Join(dir, "rxe", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return append(files, more...)
}

// TestRecorded reads what a soft-RoCE test program wrote, writes it again and reads that.
func TestRecorded(t *testing.T) {
	files := recorded(t)
	for _, name := range files {
		log, err := ReadFile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if log.Addr.IsZero() || log.Cut || len(log.Events) < 10 {
			t.Errorf("%s: address %v, cut %v, %d events", name, log.Addr, log.Cut, len(log.Events))
		}
		same(t, log)
	}
}

// same writes a log, reads it and compares.
func same(t testing.TB, log *hcaagent.Log) {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, log.Addr, log.Exact)
	if err != nil {
		t.Fatal(err)
	}
	for i := range log.Events {
		if err := w.Write(&log.Events[i]); err != nil {
			t.Fatal(err)
		}
	}
	again, err := Read(log.Name, &b)
	if err != nil {
		t.Fatal(err)
	}
	if again.Addr != log.Addr || again.Exact != log.Exact || len(again.Events) != len(log.Events) {
		t.Fatalf("%s: %v %d events, were %v %d", log.Name, again.Addr, len(again.Events), log.Addr, len(log.Events))
	}
	for i := range log.Events {
		x, y := log.Events[i], again.Events[i]
		x.Line, y.Line = 0, 0
		x, y = plain(x), plain(y)
		if !reflect.DeepEqual(x, y) {
			a, _ := json.Marshal(x)
			b, _ := json.Marshal(y)
			t.Fatalf("%s: event %d\n%s\nis\n%s", log.Name, i, a, b)
		}
	}
}

// plain leaves out what a completion with an error does not say.
func plain(e cq.Event) cq.Event {
	if e.Completion != nil && e.Completion.Status != cq.Success {
		c := e.Completion
		e.Completion = &cq.Completion{ID: c.ID, QP: c.QP, Status: c.Status}
	}
	if e.Completion != nil {
		c := *e.Completion
		e.QP.QPN = c.QP.QPN
	}
	return e
}

func TestErrors(t *testing.T) {
	const good = `{"ev":"device","gid":"10.0.0.1"}` + "\n"
	for text, want := range map[string]string{
		good + "{\n{}\n":                                     "eventlog: x.jsonl, line 2: no JSON object (unexpected end of JSON input): mend or remove the line",
		good + "\n{\"t\":1}":                                 `eventlog: x.jsonl, line 3: no "ev": it names the event, see docs/events.md`,
		good + `{"ev":"jump","t":1}`:                         `eventlog: x.jsonl, line 2: unknown event "jump": docs/events.md lists them`,
		good + `{"ev":"cqe","t":1,"qpn":"7"}` + "\n":         `eventlog: x.jsonl, line 2: "qpn" is a JSON string: give a whole number from 0 to 4294967295`,
		good + `{"ev":"cqe","t":1,"qpn":7}`:                  `eventlog: x.jsonl, line 2: cqe: no "wr_id": add it`,
		good + `{"ev":"device","gid":"10.0.0.2"}`:            `eventlog: x.jsonl, line 2: "gid" is 10.0.0.2, and was 10.0.0.1 before: give the events of each endpoint in a log of its own`,
		good + `{"ev":"create_qp","t":1,"qpn":7,"type":"x"}`: `eventlog: x.jsonl, line 2: create_qp: "type" is x: give rc, uc, ud, xrc_ini, xrc_tgt, smi, gsi or raw`,
		good + `{"ev":"modify_qp","t":1,"qpn":7,"to":"UP"}`:  `eventlog: x.jsonl, line 2: modify_qp: "to" is "UP": give RESET, INIT, RTR, RTS, SQD, SQE or ERR, or the state that the QP has`,
	} {
		_, err := Read("x.jsonl", strings.NewReader(text))
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
	log, err := Read("x.jsonl", strings.NewReader(good+`{"ev":"destroy_qp","t":5,"qpn":7}`+"\n"+`{"ev":"destroy_q`))
	if err != nil || !log.Cut || len(log.Events) != 1 || log.Events[0].Line != 2 {
		t.Errorf("a log that is cut: %+v, %v", log, err)
	}
	log, err = Read("x.jsonl", strings.NewReader(good+`{"ev":"create_qp","t":1,"rc":12}`+"\n"+`{"ev":"end","t":2}`))
	if err != nil || !log.Complete || len(log.Events) != 1 || !log.Events[0].Failed {
		t.Errorf("a queue pair that could not be created, and an end: %+v, %v", log, err)
	}
	if _, err := ReadFile("testdata/none.jsonl"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// TestFollow: a log that is read as its events are asked for has the events of one that is read at once, and says afterwards what is wrong with it.
func TestFollow(t *testing.T) {
	for _, name := range recorded(t) {
		want, err := ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		log, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		got := log.Events
		for list := log.More(); len(list) > 0; list = log.More() {
			for _, e := range list {
				got = append(got, *e)
			}
		}
		if !reflect.DeepEqual(got, want.Events) || log.Addr != want.Addr || log.Exact != want.Exact || log.Err() != nil {
			t.Errorf("%s: %d events of %v, not %d of %v: %v", name, len(got), log.Addr, len(want.Events), want.Addr, log.Err())
		}
	}
	const good = `{"ev":"device","gid":"10.0.0.1"}` + "\n" + `{"ev":"destroy_qp","t":5,"qpn":7}` + "\n"
	for text, want := range map[string]string{
		good + "{]\n{}\n": "line 3",
		good + `{"ev":"device","gid":"10.0.0.1","clock":"capture"}` + "\n": "come too late",
	} {
		log, err := Follow("x.jsonl", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		n := len(log.Events) + len(log.More())
		if err := log.Err(); n != 1 || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d events, %v", text, n, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"ev":"create_qp","t":2,"qpn":7,"type":"rc","srq":3}`))
	f.Add([]byte(`{"ev":"post_send","t":5,"qpn":7,"wr_id":9,"opcode":"SEND_WITH_INV","length":3,"flags":6,"rkey":1}`))
	f.Add([]byte(`{"ev":"cqe","t":6,"qpn":7,"wr_id":9,"status_code":0,"opcode":"RECV","imm":3}`))
	f.Add([]byte(`{"ev":"bind_mw","t":6,"qpn":7,"rkey":9,"length":3}`))
	f.Add([]byte(`{"ev":"async","t":6,"qpn":7,"what":"comm_est"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		log, err := Read("fuzz", bytes.NewReader(b))
		if err == nil {
			same(t, log)
		}
	})
}

// TestRecording: what a recording has of events shows again, long data and a reset too, and so does that their clock is that of a simulation.
func TestRecording(t *testing.T) {
	a := packet.IPv4Addr([]byte{10, 0, 0, 1})
	q := wqe.QP{Addr: a, QPN: 5}
	data := bytes.Repeat([]byte{1, 2, 3}, 1000)
	long := make([]byte, 2*mostInLine)
	send := func(data []byte) *cq.Event {
		return &cq.Event{Time: 7, Kind: cq.EvPostSend, QP: q, Data: data, Summed: true, Sum: 9, Send: &wqe.SendRequest{ID: 1, Op: wqe.OpWrite, Segments: []wqe.Segment{{VA: 1, Length: uint32(len(data))}}}}
	}
	memory := func(data []byte) *cq.Event {
		return &cq.Event{Time: 8, Kind: cq.EvMemory, QP: wqe.QP{Addr: a}, Data: data, Summed: true, Sum: 9, Region: &wqe.Region{VA: 1, Length: uint64(len(data))}}
	}
	for _, simulation := range []bool{false, true} {
		var b bytes.Buffer
		w, err := NewRecording(&b, a, simulation)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range []*cq.Event{send(data), memory(data), send(long), memory(long), {Time: 9, Kind: cq.EvReset, QP: wqe.QP{Addr: a}}} {
			if err := w.Write(e); err != nil {
				t.Fatal(err)
			}
		}
		log, err := Read("run", &b)
		if err != nil {
			t.Fatal(err)
		}
		if !log.Exact || log.Simulation != simulation || log.Addr != a || len(log.Events) != 5 {
			t.Fatalf("%v: %v, %v, %v, %d events", simulation, log.Exact, log.Simulation, log.Addr, len(log.Events))
		}
		for i, n := range []int{len(data), len(data), mostInLine, 0, 0} { // of memory all or nothing
			if e := &log.Events[i]; len(e.Data) != n || i < 4 && !e.Summed {
				t.Errorf("event %d has %d bytes of data, want %d; sum %v", i, len(e.Data), n, e.Summed)
			}
		}
		if e := &log.Events[4]; e.Kind != cq.EvReset || e.Time != 9 || e.QP.Addr != a {
			t.Errorf("the reset is %+v", e)
		}
	}
}

// TestWriteAllocates writes the events that a simulation has most of without allocating.
func TestWriteAllocates(t *testing.T) {
	w, err := NewWriter(io.Discard, packet.Addr{}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []cq.Event{
		{Kind: cq.EvPostSend, Data: []byte("payload"), Send: &wqe.SendRequest{ID: 1, Op: wqe.OpWrite, RemoteVA: 4096, RKey: 7, Segments: []wqe.Segment{{VA: 1, Length: 7, LKey: 3}}}},
		{Kind: cq.EvPostReceive, Receive: &wqe.ReceiveRequest{ID: 1, Segments: []wqe.Segment{{VA: 1, Length: 7, LKey: 3}}}},
		{Kind: cq.EvCompletion, CQ: 2, Poll: 1, Completion: &cq.Completion{ID: 1, Op: cq.DoneWrite}},
		{Kind: cq.EvArm, CQ: 2},
	} {
		if n := testing.AllocsPerRun(100, func() {
			if err := w.Write(&e); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", kindNames.of(e.Kind), n)
		}
	}
}
