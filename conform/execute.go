package conform

import (
	"math/rand/v2"
	"slices"
	"sync"
)

// Options steer the runs of several tests.
type Options struct {
	RunOptions
	Seed    uint64 // of the order
	Workers int    // how many run at the same time; 0: one
	// Done, where not nil, is told of each result as it comes, one at a time.
	Done func(*Result)
}

// ExecuteAll runs tests in random order, each against a device of its own, and returns the results in the order of the list: they are the same for any order and any
// number of workers.
func ExecuteAll(list []*Test, target *Target, opt Options) []*Result {
	results := make([]*Result, len(list))
	next := make(chan int, len(list))
	for _, i := range rand.New(rand.NewPCG(opt.Seed, 0xC0F0)).Perm(len(list)) {
		next <- i
	}
	close(next)
	var group sync.WaitGroup
	var telling sync.Mutex
	for range max(1, opt.Workers) {
		group.Go(func() {
			for i := range next {
				results[i] = Execute(list[i], target, opt.RunOptions)
				if opt.Done != nil {
					telling.Lock()
					opt.Done(results[i])
					telling.Unlock()
				}
			}
		})
	}
	group.Wait()
	return slices.Clip(results)
}
