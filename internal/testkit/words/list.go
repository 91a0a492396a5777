package main

import "regexp"

// A word is a phrase that nobody who knows the field searches for, and what the field says.
type word struct {
	phrase string // a regular expression of whole words, in upper or lower case
	use    string
	but    string // where the phrase means something else: matches that begin so are left out; empty: nowhere
	match  *regexp.Regexp
	except *regexp.Regexp
}

// list are the phrases. Where one is right all the same, its line says why: see marker.
var list = compiled([]word{
	{phrase: `sen(?:d|ds|t|ding)(?: [^\s,;:.]+){0,4} again|re-?sen(?:d|ds|t|ding)`, use: "retransmit, retransmission"},
	{phrase: `(?:come|comes|came|coming) (?:again|anew)|asks? again`, use: "is retransmitted, duplicate"},
	{phrase: `behind`, use: "after", but: `behind (?:a|an|the) (?:mirror|proxy|firewall|router|switch)`},
	{phrase: `anew`, use: "again"},
	{phrase: `alone`, use: "only"},
	{phrase: `stands?|stood`, use: "is, has, means"},
	{phrase: `bears?|bore`, use: "carries, tolerates"},
	{phrase: `younger|youngest`, use: "later, latest"},
	{phrase: `older (?:PSNs?|requests?|responses?|packets?|READs?|atomics?|messages?)`, use: "earlier"},
	{phrase: `(?:hold|holds|held|holding)(?: [^\s,;:.]+){0,3} against`, use: "compare with, accuse of"},
	{phrase: `(?:new|former|old) life|lives`, use: "connected again, previous connection"},
	{phrase: `anchor(?:s|ed|ing)?`, use: "baseline: no MSN baseline"},
	{phrase: `places? of the taps?|where the taps? (?:is|are)`, use: "tap position"},
	{phrase: `put(?:s|ting)?(?: it| them)? to the test`, use: "evaluate"},
	{phrase: `under way`, use: "in flight, in progress"},
	{phrase: `for want of`, use: "for lack of, without"},
	{phrase: `of (?:its|their) own accord`, use: "unsolicited, on timeout"},
	{phrase: `out of sight`, use: "not in the capture"},
	{phrase: `deaf`, use: "recorded nothing"},
	{phrase: `hold together`, use: "consistent"},
})
