// Package eventlog reads and writes verbs events as JSON lines. docs/events.md describes the format.
package eventlog
