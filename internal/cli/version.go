package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the linker (-X ibwitness/internal/cli.version=…) in builds that know better than the build information.
var version string

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run(s *session) error {
	_, err := fmt.Fprintln(s.stdout, versionLine())
	return err
}

// versionLine is "ibwitness v1.2.3 (1234567890ab, modified), go1.26.0 linux/amd64", as far as it is known.
func versionLine() string {
	v, commit := version, ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if v == "" {
			v = info.Main.Version
		}
		for _, setting := range info.Settings {
			switch setting.Key {
			case "vcs.revision":
				commit = setting.Value[:min(12, len(setting.Value))]
			case "vcs.modified":
				if setting.Value == "true" && commit != "" {
					commit += ", modified"
				}
			}
		}
	}
	if v == "" {
		v = "(devel)"
	}
	if commit != "" {
		v += " (" + commit + ")"
	}
	return fmt.Sprintf("ibwitness %s, %s %s/%s", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
