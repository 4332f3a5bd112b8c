#!/bin/sh
# Records the accesses of a Redis server that answers GETs of 1 KiB values, as valgrind's lackey sees them.
#
#   scripts/record-redis-trace.sh [FILE]       FILE: redis-get.lackey.xz unless named; .xz, .zst, .gz or plain
#
# The server loads its keys first; recording begins while a load generator asks for them. Environment: KEYS (16000),
# LINES (1100000: about 400000 accesses and the instructions between them), PIPELINE (16), CLIENTS (4), PORT (16379).
# It takes some minutes: a program under lackey is a few hundred times slower.
set -eu

out=${1:-redis-get.lackey.xz}
keys=${KEYS:-16000} lines=${LINES:-1100000} pipeline=${PIPELINE:-16} clients=${CLIENTS:-4} port=${PORT:-16379}

say() { echo "record-redis-trace: $*" >&2; }

case $out in
*.xz) pack="xz -9e" ;;
*.zst) pack="zstd -q -19" ;;
*.gz) pack="gzip -9" ;;
*) pack="cat" ;;
esac
for tool in valgrind redis-server redis-cli redis-benchmark awk mkfifo "${pack%% *}"; do
	command -v "$tool" > /dev/null || {
		say "$tool is missing; on Debian or Ubuntu: apt-get install valgrind redis-server redis-tools xz-utils zstd"
		exit 2
	}
done

work=$(mktemp -d)
server= reader= load=
stop() {
	for process in $load $server $reader; do kill "$process" 2> /dev/null || :; done
	wait 2> /dev/null || :
	rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT TERM

ask() { redis-cli -p "$port" "$@" 2> /dev/null; }
ready() {
	tries=0
	until [ "$(ask ping)" = PONG ]; do
		tries=$((tries + 1))
		kill -0 "$server" 2> /dev/null || { say "redis-server did not start; is port $port in use? (PORT=...)"; exit 1; }
		[ "$tries" -lt 900 ] || { say "redis-server is not ready after 15 minutes"; exit 1; }
		sleep 1
	done
}
options="--port $port --bind 127.0.0.1 --dir $work --appendonly no --rdbcompression no --activerehashing no --hz 1"

[ "$(ask ping)" != PONG ] || { say "something answers on port $port already; name another: PORT=..."; exit 2; }

say "filling $keys keys"
redis-server $options --save '' > "$work/fill.log" 2>&1 &
server=$!
ready
awk -v keys="$keys" 'BEGIN {
	value = sprintf("%1024s", ""); gsub(/ /, "x", value)
	for (key = 0; key < keys; key++) printf "SET key:%012d %s\r\n", key, value
}' | redis-cli -p "$port" --pipe > /dev/null
ask save > /dev/null
ask shutdown nosave || :
wait "$server" 2> /dev/null || :

say "starting the server under lackey"
mkfifo "$work/pipe"
# Until it is time to record, everything is passed over; the first line after that may be cut.
{
	while [ ! -e "$work/record" ]; do head -c 4194304 > /dev/null; done
	head -n $((lines + 1)) | sed -e 1d -e '/^[=-]/d'
	touch "$work/done"
	cat > /dev/null
} < "$work/pipe" > "$work/trace" &
reader=$!
valgrind --tool=lackey --trace-mem=yes --log-file="$work/pipe" redis-server $options --save '' > "$work/server.log" 2>&1 &
server=$!
ready

say "recording $lines lines"
redis-benchmark -p "$port" -t get -n 100000000 -r "$keys" -d 1024 -P "$pipeline" -c "$clients" > /dev/null 2>&1 &
load=$!
sleep 3
touch "$work/record"
while [ ! -e "$work/done" ]; do
	kill -0 "$server" 2> /dev/null || { say "redis-server has stopped"; exit 1; }
	sleep 1
done
[ "$(wc -l < "$work/trace")" -gt 0 ] || { say "nothing was recorded"; exit 1; }
$pack < "$work/trace" > "$work/packed"
mv "$work/packed" "$out"
say "$(grep -c '^ [LSM]' "$work/trace") accesses, $(grep -c '^I' "$work/trace") instructions in $out"
