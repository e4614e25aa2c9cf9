// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// What the launchers start is a worker that does jobs: here in place of Slurm and of Kubernetes.
func TestLaunchersStartWorkers(t *testing.T) {
	addr, out, bin := freePort(t), t.TempDir(), t.TempDir()
	token := writeFile(t, "token", []byte("0123456789abcdef\n"))
	sweep := []string{"run", "-out", out, "-uetsim", self(t), "-serve", addr, "-jobs", "0", "-token-file", token, "-matrix", workloads + "one.cm", "-seed"}
	for _, name := range []string{"uetsweep", "uetsim"} {
		require.NoError(t, os.Symlink(self(t), filepath.Join(bin, name)))
	}
	env := append(os.Environ(), actAs+"=uetsweep", "PATH="+bin+":"+os.Getenv("PATH"))

	host := process(t, "", append(sweep, "1..2")...)
	slurm := exec.Command("bash", "launch/slurm.sh")
	slurm.Env = append(env, "UETSWEEP_JOIN="+addr, "UETSWEEP_TOKEN="+token, "SLURM_CPUS_PER_TASK=2", "UETSWEEP_FLAGS=-wait 30s -uetsim "+self(t))
	said, err := slurm.CombinedOutput()
	require.NoError(t, err, string(said))
	require.NoError(t, host.Wait())
	require.Len(t, seedsOf(t, out), 2)

	var job struct {
		Spec struct {
			CompletionMode string `yaml:"completionMode"`
			Template       struct {
				Spec struct {
					Containers []struct{ Command []string }
				}
			}
		}
	}
	b, err := os.ReadFile("launch/kubernetes.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(b, &job))
	require.Equal(t, "Indexed", job.Spec.CompletionMode)
	command := job.Spec.Template.Spec.Containers[0].Command
	for i, word := range command {
		switch word {
		case "uetsweep:4222":
			command[i] = addr
		case "/secret/token":
			command[i] = token
		}
	}
	host = process(t, "", append(sweep, "1..4")...)
	pod := exec.Command(filepath.Join(bin, command[0]), append(command[1:], "-wait", "30s", "-uetsim", self(t))...)
	pod.Env = env
	said, err = pod.CombinedOutput()
	require.NoError(t, err, string(said))
	require.NoError(t, host.Wait())
	require.Len(t, seedsOf(t, out), 4)
}
