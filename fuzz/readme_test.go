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

// Each of the README's programs prints what the comment behind its last line says.
func TestReadmeProgram(t *testing.T) {
	programs := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(read(t, "README.md"), -1)
	require.Len(t, programs, 2)
	for _, program := range programs {
		want := regexp.MustCompile(`fmt\.Print(?:ln|f)\(.*\) // (.*)`).FindStringSubmatch(program[1])
		require.NotNil(t, want)
		file := filepath.Join(t.TempDir(), "main.go")
		require.NoError(t, os.WriteFile(file, []byte(program[1]), 0o600))
		run := exec.Command("go", "run", file)
		run.Dir = ".."
		got, err := run.CombinedOutput()
		require.NoError(t, err, string(got))
		require.Equal(t, want[1], strings.TrimSpace(string(got)))
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
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "bench/RESULTS.md"} {
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
