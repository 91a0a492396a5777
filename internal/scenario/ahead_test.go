package scenario

import (
	"context"
	"io"
	"path/filepath"
	"reflect"
	"testing"

	"ibwitness/agent"
	"ibwitness/fabricagent"
	"ibwitness/internal/testkit/sample"
)

// TestAheadAgrees: what is found does not depend on whether the run goes on by itself, nor on the number of workers.
func TestAheadAgrees(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for i, file := range files {
		if i%sample.Stride(3) > 0 {
			continue
		}
		s, err := ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, events := range []bool{false, true} {
			result := func(ahead bool, workers int) *agent.Result {
				r, err := s.Start(Options{Live: events})
				if err != nil {
					t.Fatal(file, err)
				}
				src := fabricagent.Source(r.Source)
				if ahead {
					src = r.Ahead()
				}
				opt := agent.Options{Near: r.NearAddrs(), Workers: workers}
				if events {
					opt.Events = r.Logs()
				}
				res, err := agent.Run(context.Background(), src, opt)
				if err != nil {
					t.Fatal(file, err)
				}
				if err := src.Close(); err != nil {
					t.Fatal(file, err)
				}
				return res
			}
			want := result(false, 1)
			for _, workers := range []int{1, 3} {
				if got := result(true, workers); !reflect.DeepEqual(want, got) {
					t.Errorf("%s, events %v, %d workers: another result where the run goes on by itself:\n%+v\nwant\n%+v", file, events, workers, got, want)
				}
			}
		}
	}
}

// TestAheadClosed: a run ends where its source is closed, and then gives no more.
func TestAheadClosed(t *testing.T) {
	s, err := Read("load", []byte(load))
	if err != nil {
		t.Fatal(err)
	}
	for batches := range 12 {
		r, err := s.Start(Options{Live: true})
		if err != nil {
			t.Fatal(err)
		}
		a := r.Ahead()
		for range batches {
			b, err := a.Next()
			if err != nil {
				t.Fatal(err)
			}
			b.Release()
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		for range (mostAhead + 2) * together {
			if _, err = a.Next(); err == io.EOF {
				break
			}
		}
		if err != io.EOF || !r.Unfinished() {
			t.Errorf("after %d batches: %v, unfinished %v", batches, err, r.Unfinished())
		}
	}
}
