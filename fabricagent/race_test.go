//go:build race

package fabricagent

const raceEnabled = true
