#!/bin/bash
# Checks the files of this folder as far as a machine without containers allows, as root, on Debian
# with nginx, curl, openssl and systemd's tools:
#
#   deploy/check.sh [PYTHON]
#
# - systemd reads the unit, and rates how far it is shut in;
# - nginx reads its configuration;
# - the server runs as nobody, on a file system that is read-only but for /tmp, without a home;
# - requests of all kinds pass nginx with TLS, at the root and under a prefix, HEAD and compressed files
#   among them;
# - the proxy closes half-open connections in time and limits the queries of an address;
# - the server stops when it is told to.
set -euo pipefail
cd "$(dirname "$0")/.."
python=$(realpath --no-symlinks "${1:-.venv/bin/python}")
name=brains.example.org
port=18000 tls_port=18443 plain_port=18080
work=$(mktemp -d)
chmod 755 "$work"
server= proxy=
trap 'kill $server $proxy 2>/dev/null || true; wait; rm -rf "$work"' EXIT

say() { printf '%-60s %s\n' "$1" "$2"; }
fail() { say "$1" FAILED; tail -n 20 "$work"/*.log >&2 || true; exit 1; }

# ---- what can be read without running it

if command -v systemd-analyze >/dev/null; then
    # The program is not installed here: any other that exists will do to read the rest.
    sed 's#^ExecStart=[^ ]*#ExecStart=/bin/true#' deploy/neurowhere.service > "$work/neurowhere.service"
    systemd-analyze verify "$work/neurowhere.service" 2> "$work/unit.log" || fail "systemd reads the unit"
    score=$(systemd-analyze security --offline=true "$work/neurowhere.service" 2>/dev/null | tail -n 1 | grep -o '[0-9]\.[0-9] [A-Z]*')
    say "systemd reads the unit; exposure (0 is best, 10 is worst)" "$score"
fi
if docker compose version >/dev/null 2>&1; then
    docker compose -f deploy/compose.yaml config -q || fail "compose reads its file"
    say "compose reads its file" ok
fi

# ---- the server, shut in as the container and the unit do it

start_server() { # options of `neurowhere serve`
    PYTHON=$python WORK=$work ROOT=$PWD PORT=$port unshare --mount bash -s -- "$@" > "$work/server.log" 2>&1 <<'INSIDE' &
set -euo pipefail
base=$("$PYTHON" -c 'import sys; print(sys.base_prefix)')
mkdir "$WORK/base" && mount --bind "$base" "$WORK/base"      # Python may be in a home that is closed
mkdir "$WORK/clone" && mount --bind "$ROOT" "$WORK/clone"    # and so may this folder
mount -t tmpfs -o mode=755 tmpfs /root
case $ROOT in
    /root/*) mkdir -p "$ROOT" && mount --move "$WORK/clone" "$ROOT" && mount -o remount,bind,ro "$ROOT";;
    *) umount "$WORK/clone";;
esac
case $base in /root/*) mkdir -p "$base" && mount --move "$WORK/base" "$base";; esac
mkdir "$WORK/tmp" && mount -t tmpfs -o mode=1777 tmpfs "$WORK/tmp"
case $ROOT in /tmp/*) # a clone in the folder that is emptied
    clone=$WORK/tmp/${ROOT#/tmp/}
    mkdir -p "$clone" && mount --bind "$ROOT" "$clone" && mount -o remount,bind,ro "$clone";;
esac
mount --move "$WORK/tmp" /tmp
mount -o remount,bind,ro / && mount -o remount,ro /root
exec setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --bounding-set=-all \
    env -i PATH=/usr/bin:/bin HOME=/nonexistent PYTHONPATH="$ROOT/src" PYTHONDONTWRITEBYTECODE=1 \
    NEUROWHERE_PORT="$PORT" NEUROWHERE_ALLOW_HOSTS=brains.example.org NEUROWHERE_WORKERS=1 \
    NEUROWHERE_MAX_SECONDS=120 \
    "$PYTHON" -c 'from neurowhere.cli import main; main()' serve "$@"
INSIDE
    server=$!
    for _ in $(seq 120); do
        curl -sf "http://127.0.0.1:$port/api/v1/ready" > /dev/null && return
        kill -0 $server 2>/dev/null || break
        sleep 1
    done
    fail "the server starts as nobody, without a disk to write to"
}
stop_server() {
    kill -TERM "$server"
    local code=0
    wait "$server" || code=$?
    [ $code = 0 ] || [ $code = 143 ] || fail "the server stops when it is told to: $code" # 143: by SIGTERM
    rmdir "$work/base" "$work/clone" "$work/tmp" 2>/dev/null || true
}

# ---- the proxy, with a certificate of this run

mkdir -p "$work/certificates"
openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj "/CN=$name" -addext "subjectAltName=DNS:$name" \
    -keyout "$work/certificates/privkey.pem" -out "$work/certificates/fullchain.pem" 2> /dev/null
sed -e "s#server neurowhere:8000#server 127.0.0.1:$port#" -e "s#listen 443#listen 127.0.0.1:$tls_port#" \
    -e "s#listen 80#listen 127.0.0.1:$plain_port#" -e "s#/run/nginx.pid#$work/nginx.pid#" deploy/nginx.conf > "$work/nginx.conf"
nginx -q -t -c "$work/nginx.conf" 2> "$work/nginx.log" || fail "nginx reads its configuration"
say "nginx reads its configuration" ok
nginx -c "$work/nginx.conf" -g 'daemon off;' 2>> "$work/nginx.log" &
proxy=$!

ask() { # path, curl's options: prints the status
    local path=$1; shift
    curl -s -o "$work/answer" -w '%{http_code}' --cacert "$work/certificates/fullchain.pem" \
        --resolve "$name:$tls_port:127.0.0.1" -H 'Content-Type: application/json' "$@" "https://$name:$tls_port$path"
}
expect() { # status, words, path, curl's options
    local wanted=$1 words=$2 status; shift 2
    status=$(ask "$@") || true
    [ "$status" = "$wanted" ] || { cat "$work/answer" >&2; fail "$words: $status"; }
    say "$words" "$status"
}

start_server
say "the server starts as nobody, without a disk to write to" ok
text='{"text": "left MCA infarct with aphasia"}'
expect 200 "the page, over TLS" /
expect 200 "encode" /api/v1/encode -d "$text"
expect 200 "a map" /api/v1/encode.nii.gz -d "$text"
cp "$work/answer" "$work/map.nii.gz"
expect 200 "the map, uploaded and decoded" /api/v1/decode/map --data-binary "@$work/map.nii.gz"
expect 200 "a place, decoded" /api/v1/decode -d '{"points": [[-24, -4, -18]]}'
expect 200 "a figure" /api/v1/encode.png -d "$text"
expect 200 "a report" /api/v1/encode.html -d "$text"
expect 202 "a job" /api/v1/jobs/batch -d '{"texts": ["fear", "reading"]}'
expect 200 "its result" "/api/v1/jobs/$(grep -o '"id":"[^"]*' "$work/answer" | cut -d'"' -f4)/result"
[ "$(wc -l < "$work/answer")" = 2 ] || fail "its lines"
expect 422 "an error" /api/v1/encode -d '{}'
expect 200 "HEAD" /api/v1/health --head
expect 200 "a file" /static/app.js
plain=$(wc -c < "$work/answer")
expect 200 "the file, compressed" /static/app.js -H 'Accept-Encoding: gzip'
gzip -t "$work/answer" 2> /dev/null || fail "it is compressed"
say "its bytes, plain and compressed" "$plain $(wc -c < "$work/answer")"
status=$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$plain_port/")
[ "$status" = 301 ] || fail "plain HTTP leads to TLS: $status"
say "plain HTTP leads to TLS" "$status"
status=$(curl -s -o /dev/null -w '%{http_code}' -H 'Host: evil.example' "http://127.0.0.1:$port/")
[ "$status" = 421 ] || fail "another name is refused: $status"
say "another name is refused" "$status"
"$python" - "$tls_port" "$plain_port" <<'HALF_OPEN' || fail "half-open connections do not silence it"
import socket, sys
sockets = [socket.create_connection(("127.0.0.1", int(port))) for port in sys.argv[1:] for _ in range(300)]
for each in sockets[300:]:
    each.sendall(b"GET / HTTP/1.1\r\nX-")
for each in sockets:  # nginx hangs up after its client_header_timeout
    each.settimeout(30)
    try:
        while each.recv(1000):
            pass
    except ConnectionResetError:
        pass
HALF_OPEN
say "600 half-open connections are closed" ok
expect 200 "health after them" /api/v1/health
statuses=$(for _ in $(seq 90); do ask /api/v1/term -d '{"name": "amygdala"}'; echo; done | sort | uniq -c | xargs)
case $statuses in *200*429*) say "90 queries of one address, by status" "$statuses";; *) fail "queries are limited: $statuses";; esac
expect 200 "the page is not" /
sleep 5 # until queries of this address are welcome again
stop_server
say "the server stops when it is told to" ok

start_server --root-path /nw
expect 200 "a page under a prefix that the proxy keeps" /nw/
expect 200 "a file under it" /nw/static/app.js
expect 200 "a query under it" /nw/api/v1/encode -d "$text"
stop_server
grep -q Traceback "$work/server.log" && fail "no traceback in the log"
say "bytes of the server's log" "$(wc -c < "$work/server.log")"
echo "all checks passed"
