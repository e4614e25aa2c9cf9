// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// masked is a line of output without what depends on numbers, times and columns.
func masked(line string) string {
	line = regexp.MustCompile(`~|[-+]?[0-9][0-9.]*(ms|s|%)?`).ReplaceAllString(line, "0")
	return strings.Join(strings.Fields(strings.ReplaceAll(line, "p<", "p=")), " ")
}

// Each command of the guides runs, and prints the lines behind it in their order, but for numbers.
func TestGuidesCommands(t *testing.T) {
	path, err := uetsim()
	require.NoError(t, err)
	t.Chdir("../..")
	runs := filepath.Join(t.TempDir(), "runs")
	files, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	blocks := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, found := range regexp.MustCompile("(?s)```sh\n(.*?)```\n\n```text\n(.*?)```").FindAllStringSubmatch(string(b), -1) {
			var said string
			for command := range strings.Lines(found[1]) {
				said += guideCommand(t, path, strings.Fields(strings.ReplaceAll(command, "runs/", runs)))
			}
			lines := strings.Split(strings.ReplaceAll(said, runs, "runs"), "\n")
			for want := range strings.Lines(found[2]) {
				for strings.TrimSpace(want) != "..." && len(lines) > 0 && masked(lines[0]) != masked(want) {
					lines = lines[1:]
				}
				require.NotEmpty(t, lines, "%s says %q\n%s", file, want, said)
			}
			blocks++
		}
	}
	require.Equal(t, 3, blocks)
}

// guideCommand runs go run ./bench/uetsim or uetsweep, without building either again.
func guideCommand(t *testing.T, uetsim string, words []string) string {
	require.Equal(t, []string{"go", "run"}, words[:2])
	switch words[2] {
	case "./bench/uetsim":
		out, err := exec.Command(uetsim, words[3:]...).CombinedOutput()
		require.NoError(t, err, string(out))
		return string(out)
	case "./bench/uetsweep":
		args := words[3:]
		if args[0] == "run" {
			args = append(args, "-uetsim", uetsim)
		}
		status, out, errs := uetsweep(args...)
		require.Zero(t, status, errs)
		return out
	}
	require.Fail(t, "not a command that is checked", words)
	return ""
}
