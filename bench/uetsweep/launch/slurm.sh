#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Workers for a sweep, as a Slurm array: each task is one node's worth of them. The sweep itself runs anywhere that the
# nodes reach; workers wait for it, do jobs while there are any, and may end and come at any time:
#
#	uetsweep run -out runs/ -matrix FILE.cm -seed 1..1000 -serve :4222 -token-file ~/uetsweep.token -jobs 0
#	UETSWEEP_JOIN=login1:4222 UETSWEEP_TOKEN=~/uetsweep.token sbatch --array=1-16 launch/slurm.sh
#
# uetsweep and uetsim, of one version, lie in PATH, in the same folder. A task that Slurm ends has its jobs done elsewhere.
#
#SBATCH --job-name=uetsweep
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=16
#SBATCH --time=04:00:00
#SBATCH --requeue
set -euo pipefail

exec uetsweep worker -join "${UETSWEEP_JOIN:?host:port of uetsweep run -serve}" \
	-token-file "${UETSWEEP_TOKEN:?file with the secret}" -jobs "${SLURM_CPUS_PER_TASK:-1}" ${UETSWEEP_FLAGS:-}
