// SPDX-License-Identifier: Apache-2.0

package check

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pronouns are the words whose noun a reader has to look for.
var pronouns = regexp.MustCompile(`(?i)^(what|that|who|its?|ones?|such|those|others?|another|they|them|which|this|these|itself|all|` +
	`none|nobody|somebody|whoever|whatever)$`)

// mostPronouns bounds the share of pronouns in a package's comments: etcd's raft has 4.7 %, quic-go 3.9 %.
const mostPronouns = 0.05

// TestWordsPronouns counts the words of comments on lines of their own, in all modules. Packages with
// fewer than 200 words are left out: a single sentence would decide.
func TestWordsPronouns(t *testing.T) {
	words, found := map[string]int{}, map[string]int{}
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch name := filepath.Base(path); {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || name == "testdata"):
			return filepath.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		dir := filepath.Dir(path)
		for line := range strings.Lines(string(text)) {
			all := commentWords(line)
			words[dir] += len(all)
			found[dir] += len(slices.DeleteFunc(all, func(w string) bool { return !pronouns.MatchString(w) }))
		}
		return err
	}))
	require.NotEmpty(t, words)
	for _, dir := range slices.Sorted(maps.Keys(words)) {
		share := float64(found[dir]) / float64(max(words[dir], 1))
		if words[dir] > 200 && share > mostPronouns {
			t.Errorf("%s: %.1f %% of the words in comments are pronouns: name the noun", dir, 100*share)
		}
	}
}

var word = regexp.MustCompile(`[A-Za-z']+`)

// commentWords returns the words of a line that is a comment, without code and directives.
func commentWords(line string) []string {
	text, ok := strings.CutPrefix(strings.TrimSpace(line), "//")
	if !ok || strings.HasPrefix(text, "go:") || strings.HasPrefix(text, "\t") || strings.HasPrefix(text, "    ") {
		return nil
	}
	return word.FindAllString(text, -1)
}
