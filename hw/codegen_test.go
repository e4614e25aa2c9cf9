// SPDX-License-Identifier: Apache-2.0

package hw

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAccessorsAreOnePlainAccess looks at the machine code of the accessors of mapped registers:
// one load or store of the register's width, no lock, not inlined.
func TestAccessorsAreOnePlainAccess(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go tool to disassemble with")
	}
	binary := filepath.Join(t.TempDir(), "hw.test")
	build := exec.Command(goTool, "test", "-c", "-o", binary, ".")
	build.Env = append(build.Environ(), "GOARCH=amd64", "GOOS=linux", "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for name, access := range map[string]string{
		"load32": `MOVL 0\(AX\), `, "load64": `MOVQ 0\(AX\), `,
		"store32": `MOVL BX, 0\(AX\)`, "store64": `MOVQ BX, 0\(AX\)`,
	} {
		code, err := exec.Command(goTool, "tool", "objdump", "-s", `^github.com/uetcc/uetcc/hw\.`+name+`$`, binary).Output()
		require.NoError(t, err)
		require.NotEmpty(t, code, "%s was inlined away", name)
		require.Len(t, regexp.MustCompile(`\(AX\)`).FindAll(code, -1), 1, "%s: %s", name, code)
		require.Regexp(t, access, string(code))
		require.False(t, strings.Contains(string(code), "XCHG") || strings.Contains(string(code), "LOCK"), "%s: %s", name, code)
	}
}
