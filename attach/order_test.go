package attach_test

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"ibwitness/fabricagent"
	"ibwitness/internal/scenario"
)

// item is what is handed to a run: a frame, or an event of a log.
type item struct {
	at    int64
	frame *fabricagent.Frame
	log   int
	line  string
}

// itemsOf are the frames and events of a run that has come to its end, with times as coarse as grain, and those of one time in any order but that of each log and of the frames.
func itemsOf(r *scenario.Run, texts []string, grain int64, random *rand.Rand) (list []item) {
	lines := make([][]string, len(texts))
	for i := range texts {
		lines[i] = strings.Split(texts[i], "\n")[1:]
	}
	logs := r.Logs()
	each(r, func(log, i int) {
		e := &logs[log].Events[i]
		list = append(list, item{at: e.Time / grain * grain, log: log, line: lines[log][i]})
	}, func(f *fabricagent.Frame) {
		kept := *f
		kept.Data = bytes.Clone(f.Data)
		list = append(list, item{at: f.Time / grain * grain, frame: &kept})
	})
	for from := 0; from < len(list); {
		to := from
		of := make([][]item, len(logs)+1) // the last: frames
		for ; to < len(list) && list[to].at == list[from].at; to++ {
			if k := len(logs); list[to].frame != nil {
				of[k] = append(of[k], list[to])
			} else {
				of[list[to].log] = append(of[list[to].log], list[to])
			}
		}
		for from < to {
			if k := random.IntN(len(of)); len(of[k]) > 0 {
				list[from], of[k] = of[k][0], of[k][1:]
				from++
			}
		}
	}
	return list
}

// TestRecordedOrder: also of frames and events that have the same time, check of a recording says what the run said, in whichever order they came.
func TestRecordedOrder(t *testing.T) {
	names, err := filepath.Glob("../examples/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatal("no scenarios", err)
	}
	for seed, name := range names {
		sc, err := scenario.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(name), func(t *testing.T) {
			r, texts := simulated(t, sc)
			a := begin(t, r, true)
			for _, x := range itemsOf(r, texts, 2000, rand.New(rand.NewPCG(uint64(seed), 1))) {
				a.comes(x.at, func() {})
				if x.frame != nil {
					_, err = a.Frame(int(x.frame.Tap), x.frame.Way, a.now, x.frame.Data, int(x.frame.Len))
				} else {
					_, err = a.Event(x.log, a.now, []byte(x.line))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if _, err := a.End(a.now + 1e9); err != nil {
				t.Fatal(err)
			}
			a.same()
		})
	}
}
