// SPDX-License-Identifier: Apache-2.0

//go:build unix

package sim

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// SIGINT and SIGTERM end a long run with all that there is until then, marked as partial:
// before, there was no JSON, and a trace of 17.9 MB that ended in the middle of a line.
func TestSignalWritesPartialResults(t *testing.T) {
	for name, s := range map[string]syscall.Signal{"interrupt": syscall.SIGINT, "terminated": syscall.SIGTERM} {
		dir := t.TempDir()
		trace, pcap := filepath.Join(dir, "run.csv"), filepath.Join(dir, "run.pcap")
		over := make(chan struct{})
		go func() { // the file of a run that goes on says that the handler is in place
			for begun := false; !begun; time.Sleep(time.Millisecond) {
				select {
				case <-over:
					return
				default:
				}
				files, _ := filepath.Glob(trace + ".*.tmp")
				begun = len(files) > 0
			}
			_ = syscall.Kill(os.Getpid(), s)
		}()
		status, out, errs := uetsim("-matrix", workloads+"perm_1024n_1024c_0u_2000000b.cm.gz", "-node", "light",
			"-cc", strings.Repeat("nscc,", 50)+"nscc", "-workers", "1", "-json", "-trace", trace, "-pcap", pcap)
		close(over)
		require.Equal(t, 1, status)
		require.Contains(t, errs, "interrupted, results are partial: "+name)
		var r report
		require.NoError(t, json.Unmarshal([]byte(out), &r))
		require.Contains(t, r.Partial, name)
		require.Less(t, len(r.Runs), 51)
		for _, path := range []string{trace, pcap} {
			require.Contains(t, errs, "only a part: "+path+".partial")
			require.NoFileExists(t, path)
		}
		lines, err := os.ReadFile(trace + ".partial")
		require.NoError(t, err)
		require.Equal(t, "\n", string(lines[len(lines)-1:]), "whole lines")
		files, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, files, 2, "no temporary files are left")
		status, _, errs = uetsim("decode", pcap+".partial")
		require.Zero(t, status, errs)
	}
}
