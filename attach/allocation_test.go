package attach_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"ibwitness/internal/testkit/traffic"
)

// TestSteadyAllocations: a frame of a connection that goes on, whole or in beats, makes the C side of the library allocate nothing.
func TestSteadyAllocations(t *testing.T) {
	capture := filepath.Join(t.TempDir(), "traffic.pcap")
	if err := os.WriteFile(capture, traffic.Capture(traffic.Small(64), 40_000), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(compile(t, "c/testdata/steady.c"), capture).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var first, second int
	if _, err := fmt.Sscan(string(out), &first, &second); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if first == 0 {
		t.Error("nothing was counted when the run was opened: the counting does not work")
	}
	if second != 0 {
		t.Errorf("%d calls for 20,000 frames", second)
	}
}

// beatSeeds are beats that are like those of a testbench, and any bytes.
func beatSeeds() (list [][]byte) {
	const fullKeep, eight, last = 64, 2, 1
	var frame []byte
	for i := range 12 {
		frame = append(frame, eight|fullKeep, 1, 2, 3, 4, 5, 6, 7, 8, 0xff)
		end := byte(0)
		if i == 11 {
			end = last
		}
		frame = append(frame, end)
	}
	list = append(list, nil, frame, bytes.Repeat([]byte{0, 255, 255}, 9), bytes.Repeat([]byte{1, 64}, 99))
	for seed := range uint64(100) { // the fuzzer of Go does not see which way a program in C goes, so that it could do no better
		r := rand.New(rand.NewPCG(seed, 1))
		any := make([]byte, 1+r.IntN(20_000))
		for i := range any {
			any[i] = byte(r.Uint32())
		}
		list = append(list, any)
	}
	return list
}

// TestBeats: whatever beats come, with any lanes, keeps, ends, taps and times, nothing is read or written where it should not be: one program, under the sanitizers of addresses and of
// undefined behaviour, takes them all, each in a run of its own, as it takes longer to begin than to run.
func TestBeats(t *testing.T) {
	program := compile(t, "c/testdata/fuzz.c", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "c/ibwitness.c", "-Wl,-Bsymbolic")
	dir, args := t.TempDir(), []string(nil)
	for i, seed := range beatSeeds() {
		args = append(args, filepath.Join(dir, fmt.Sprintf("%03d", i)))
		if err := os.WriteFile(args[i], seed, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
