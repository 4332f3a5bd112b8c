#!/bin/sh
# Makes the references of test_cachegrind.py again: what cachegrind counts, and the accesses that lackey sees.
#
#   tests/filter/record.sh [FOLDER]       FOLDER: where to write; tests/filter/references unless named
#
# It needs gcc with a static C library, valgrind and xz. Another compiler or library makes other programs, so the counts
# and the traces belong together. Instructions are left out of the traces: only data goes through the caches here.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/references}
for tool in gcc valgrind xz awk sed; do
	command -v "$tool" > /dev/null || { echo "record: $tool is missing" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
cd "$work"

# The first two are L1 and LLC of a server in small; with the third every set counts.
geometries="4096,8,64:65536,16,64 8192,4,64:131072,8,64 2048,1,64:16384,2,64"
counts=$out/cachegrind.toml
echo "# Written by record.sh: what $(valgrind --version) counts. Accesses and misses of data." > "$counts"
for program in matrix hash sort; do
	compile="gcc -O2 -static -o $program $program.c"
	cp "$here/programs/$program.c" .
	$compile
	# Nothing of the environment, which lies on the stack and would move it.
	env -i PATH="$PATH" valgrind --tool=lackey --trace-mem=yes --log-file=trace "./$program" > /dev/null
	grep '^ [LSM]' trace | xz -9e > "$out/$program.lackey.xz"
	for geometry in $geometries; do
		d1=${geometry%:*} ll=${geometry#*:}
		run="valgrind --tool=cachegrind --cache-sim=yes --I1=32768,8,64 --D1=$d1 --LL=$ll --cachegrind-out-file=counts ./$program"
		env -i PATH="$PATH" $run > /dev/null 2>&1
		# events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw
		awk -v program="$program" -v compile="$compile" -v run="$run" -v d1="$d1" -v ll="$ll" '
			$1 == "summary:" {
				printf "\n[[reference]]\nprogram = \"%s\"\ncompile = \"%s\"\ncommand = \"%s\"\n", program, compile, run
				printf "d1 = \"%s\"\nll = \"%s\"\n", d1, ll
				printf "accesses = %d\nd1_misses = %d\nll_misses = %d\n", $5 + $8, $6 + $9, $7 + $10
			}' counts >> "$counts"
	done
done
ls -l "$out" >&2
