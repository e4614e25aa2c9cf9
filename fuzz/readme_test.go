// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", name))
	require.NoError(t, err)
	return string(b)
}

// output runs a program from the root of the repository and returns what it prints.
func output(t *testing.T, program string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(file, []byte(program), 0o600))
	run := exec.Command("go", "run", file)
	run.Dir = ".."
	got, err := run.CombinedOutput()
	require.NoError(t, err, string(got))
	return string(got)
}

// Each program of the guides runs and prints the text behind it, but for its numbers.
func TestGuidesPrograms(t *testing.T) {
	files, err := filepath.Glob("../docs/*.md")
	require.NoError(t, err)
	n, number := 0, regexp.MustCompile(`[0-9][0-9.]*`)
	for _, file := range files {
		for _, found := range regexp.MustCompile("(?s)```go\n(.*?)```(?:[^`]|`[^`])*```text\n(.*?)```").FindAllStringSubmatch(read(t, file[3:]), -1) {
			require.Equal(t, number.ReplaceAllString(found[2], "0"), number.ReplaceAllString(output(t, found[1]), "0"), file)
			n++
		}
	}
	require.Equal(t, 3, n)
}

// Each of the README's programs prints what the comment behind its last line says.
func TestReadmeProgram(t *testing.T) {
	programs := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(read(t, "README.md"), -1)
	require.Len(t, programs, 2)
	for _, program := range programs {
		want := regexp.MustCompile(`fmt\.Print(?:ln|f)\(.*\) // (.*)`).FindStringSubmatch(program[1])
		require.NotNil(t, want)
		require.Equal(t, want[1], strings.TrimSpace(output(t, program[1])))
	}
}

// CI runs the README's commands, and the files and folders that documents name exist.
func TestDocumentsNameWhatIsThere(t *testing.T) {
	ci := read(t, ".ci/run")
	commands := regexp.MustCompile(`(?m)^    (go .*)$`).FindAllStringSubmatch(read(t, "README.md"), -1)
	require.Len(t, commands, 2)
	for _, command := range commands {
		require.Contains(t, ci, command[1])
	}
	links := 0
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "bench/RESULTS.md",
		"docs/first-congestion-control.md", "docs/reading-a-report.md", "docs/bring-your-transport.md"} {
		for _, link := range regexp.MustCompile(`\]\(([^):#]+)`).FindAllStringSubmatch(read(t, name), -1) {
			if !strings.HasPrefix(link[1], "http") {
				_, err := os.Stat(filepath.Join("..", filepath.Dir(name), link[1]))
				require.NoError(t, err, name)
				links++
			}
		}
	}
	require.NotZero(t, links)
}
