// Package eventlog reads and writes verbs events as JSON lines, and answers queries about the device that they come from as far as they
// know. docs/events.md describes the format.
package eventlog
