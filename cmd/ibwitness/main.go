// Command ibwitness verifies InfiniBand and RoCE traffic and says who broke which rule of the InfiniBand Architecture.
package main

import (
	"os"

	"ibwitness/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
