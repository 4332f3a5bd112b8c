#!/bin/sh
#SBATCH --ntasks=8
#SBATCH --cpus-per-task=4
#SBATCH --time=1:00:00
# One simulation of a cluster in eight processes: sbatch slurm.sh
. venv/bin/activate # with hostnet, and mpi4py built for the MPI of this machine
hostnet cut cluster.toml --ranks 8 --threads 4
srun hostnet run cluster.toml --threads 4 --out out --checkpoint-every 10ms --checkpoint kept
