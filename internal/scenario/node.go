package scenario

import "ibwitness/internal/yamlfile"

// LineError is what is wrong with a line of a scenario, and what to do.
type LineError = yamlfile.LineError

// parser goes through the nodes of a file and collects what is wrong with them.
type parser struct{ yamlfile.Reader }

// The ways to take values that the files of the house share.
type (
	setter   = yamlfile.Setter
	unsigned = yamlfile.Unsigned
)

func number[T unsigned](p *parser, to *T, least, most uint64) setter {
	return yamlfile.Number(&p.Reader, to, least, most)
}

func numbers[T unsigned](p *parser, to *[]T, most uint64) setter {
	return yamlfile.Numbers(&p.Reader, to, most)
}

func choice[T any](p *parser, to *T, words map[string]T) setter {
	return yamlfile.Choice(&p.Reader, to, words)
}
