//go:build race

package scenario

const raced = true
