#!/bin/bash
# Makes the captures of this folder again, here: ./capture.sh PROGRAMS, the folder that `make -C tests/programs` builds.
# Needs root, perf and gcc. The three files that no run here gives are written by hand: see README.md.
set -eu
programs=$1
work=$(mktemp -d)
events=/sys/kernel/tracing/uprobe_events
trap 'rm -rf "$work"; echo "-:memflame_golden/malloc" >>$events 2>/dev/null || true' EXIT

recorded() { # recorded PROGRAM PERF-ARGUMENT…: a program that waits for a line before and after its work
  local line recorder
  coproc TARGET { exec "$programs/$1"; }
  read -r -u "${TARGET[0]}" line
  rm -f "$work"/{control,answers}
  mkfifo "$work"/{control,answers}
  perf record -q -o "$work/perf.data" -p "$TARGET_PID" -D -1 --control "fifo:$work/control,$work/answers" "${@:2}" &
  recorder=$!
  echo enable >"$work/control"
  read -r line <"$work/answers"
  echo >&"${TARGET[1]}"
  read -r -u "${TARGET[0]}" line
  kill -INT $recorder
  wait $recorder || [ $? = 130 ] # ended by our SIGINT
  kill "$TARGET_PID"
  wait "$TARGET_PID" || [ $? = 143 ]
}

script() { perf script -i "$work/perf.data" "$@" | sed "s|$programs|/srv|; s|$work|/srv|"; }

recorded touch -e minor-faults -c 97 -g
script -F comm,pid,tid,time,period,event,ip,sym,symoff,dso >page-faults-period-97.txt

recorded mappings -e syscalls:sys_enter_mmap -e syscalls:sys_enter_munmap -e syscalls:sys_enter_mremap -g
script >mmap-munmap-mremap.txt

recorded heap -e syscalls:sys_enter_brk -e syscalls:sys_exit_brk --call-graph dwarf,4096
script >brk-by-address.txt

libc=$(realpath /lib/x86_64-linux-gnu/libc.so.6)
offset=$(readelf -sW "$libc" | awk '$8 == "malloc@@GLIBC_2.2.5" { print $2 }')
echo "p:memflame_golden/malloc $libc:0x$offset size=%di:u64" >>$events
recorded leaky -e memflame_golden:malloc --filter 'size > 1000' -g
script >uprobe-size.txt

gcc -O2 -g -o "$work/inlines" inlines.c
perf record -q -o "$work/perf.data" -e page-faults:u -c 1 --call-graph dwarf,4096 "$work/inlines" 2>/dev/null
script | awk '/:u:/ { wanted = 0 } { block = block $0 "\n" } /touch_all/ { wanted = 1 } /^$/ { if (wanted) printf "%s", block; block = ""; wanted = 0 }' >dwarf-inlines.txt
