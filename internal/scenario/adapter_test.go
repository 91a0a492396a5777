package scenario

import (
	"context"
	"path/filepath"
	"reflect"
	"testing"

	"ibwitness/agent"
	"ibwitness/hcaagent/soft"
	"ibwitness/internal/testkit/sample"
)

// otherAdapter is an adapter of which nothing is known but what a scenario needs.
type otherAdapter struct {
	adapter
	received int
}

func (o *otherAdapter) Receive(frame []byte) {
	o.received++
	o.adapter.Receive(frame)
}

// TestOtherAdapter: another adapter can take the place of the one in software.
func TestOtherAdapter(t *testing.T) {
	sample.Skip(t, "nothing runs beside it")
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	received := 0
	for _, file := range files {
		s, err := ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var made []*otherAdapter
		result := func(opt Options) *agent.Result {
			opt.Live = true
			r, err := s.Start(opt)
			if err != nil {
				t.Fatal(file, err)
			}
			res, err := agent.Run(context.Background(), r.Source, agent.Options{Near: r.NearAddrs(), Workers: 1, Events: r.Logs()})
			if err != nil {
				t.Fatal(file, err)
			}
			return res
		}
		want := result(Options{})
		got := result(Options{adapter: func(opt soft.Options) (adapter, error) {
			a, err := softAdapter(opt)
			o := &otherAdapter{adapter: a}
			made = append(made, o)
			return o, err
		}})
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s: another result:\n%+v\nwant\n%+v", file, got, want)
		}
		for _, o := range made {
			received += o.received
		}
		if len(made) != len(s.HCAs) {
			t.Errorf("%s: %d adapters of %d", file, len(made), len(s.HCAs))
		}
	}
	if received == 0 {
		t.Error("they receive nothing")
	}
}
