package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// measure runs each test binary without a change: it must pass, and shows how long it takes and which places it comes to.
func measure(tests []*test) error {
	for _, t := range tests {
		notes := fmt.Sprintf("%s.reached%d", t.file, t.number)
		if err := os.RemoveAll(notes); err != nil {
			return err
		}
		began := time.Now()
		t.limit = time.Hour
		if why := t.run(-1, "MUTANTS_REACHED="+notes); why != "" {
			return fmt.Errorf("%s does not pass as it is: %s", t.name, why)
		}
		took := time.Since(began)
		t.limit = 10*took + time.Minute
		t.reached = map[int]bool{}
		list, err := os.ReadFile(notes)
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		for line := range strings.Lines(string(list)) {
			n, _ := strconv.Atoi(strings.TrimSpace(line))
			t.reached[n] = true
		}
		fmt.Printf("%-80s %8v, comes to %d places\n", t.name+" "+strings.Join(t.args, " "), took.Round(100*time.Millisecond), len(t.reached))
	}
	return nil
}

// examine runs the tests for each change and returns those that none of them notices.
func examine(tests []*test, sites []*site) (survivors []*site) {
	var mu sync.Mutex
	var group sync.WaitGroup
	turn := make(chan *site)
	done := 0
	for range *jobs {
		group.Go(func() {
			for s := range turn {
				by, reached := "changes nothing: "+s.equivalent, true
				if s.equivalent == "" {
					by, reached = notice(tests, s)
				}
				mu.Lock()
				done++
				if by == "" {
					survivors = append(survivors, s)
					by = "NOT NOTICED"
					if !reached {
						s.what += " (no test comes here)"
					}
				}
				fmt.Printf("%3d/%d %s: %s\n", done, len(sites), s, by)
				mu.Unlock()
			}
		})
	}
	for _, s := range sites {
		if chosen(s.number) {
			turn <- s
		}
	}
	close(turn)
	group.Wait()
	slices.SortFunc(survivors, func(a, b *site) int { return strings.Compare(a.String(), b.String()) })
	return survivors
}

// chosen reports whether a mutant is to be examined.
func chosen(number int) bool {
	return *only == "" || slices.Contains(strings.Split(*only, ","), strconv.Itoa(number))
}

// notice returns which test notices a change, and whether any comes to its place.
func notice(tests []*test, s *site) (by string, reached bool) {
	for _, t := range tests {
		if !t.reached[s.number] {
			continue
		}
		reached = true
		if why := t.run(s.number); why != "" {
			return t.name + " " + why, true
		}
	}
	return "", reached
}

// run returns why a test does not pass; "": it does.
func (t *test) run(mutant int, env ...string) string {
	ctx, cancel := context.WithTimeout(context.Background(), t.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.file, append([]string{"-test.failfast", "-test.timeout=0"}, t.args...)...)
	cmd.Dir = t.dir
	cmd.Env = append(os.Environ(), append(env, fmt.Sprintf("MUTANT=%d", mutant), "GOGC=400")...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return ""
	case ctx.Err() != nil:
		return "hangs"
	}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "--- FAIL: "); ok || strings.HasPrefix(line, "panic:") {
			if ok {
				line = name
			}
			return line
		}
	}
	return err.Error()
}
