# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The workloads on which policies are compared: real programs in a Linux guest, sized so that one run takes
# about a second there. Sourced after bench/lab.sh.
#
#	workloads                           their names
#	workload_what NAME                  what a figure is, and of which command
#	workload_prepare NAME               a guest's command line, once before its first turn
#	workload_turn NAME SECONDS VCPUS    a guest's command line that prints "Time: SECONDS" for each run

# shellcheck disable=SC2034	# for who sources this
workloads=(hackbench pbzip2 dbench shootdown)

hackbench_command='hackbench -T -g 1 -f 8 -l 60'
pbzip2_input=500000		# bytes; a block, of which a thread takes one at a time, is 100,000
dbench_unit=1000		# operations
shootdown_times=20
shootdown_pages=8

workload_what() {	# workload_what NAME VCPUS
	case $1 in
	hackbench)	echo "seconds of one \"$hackbench_command\"" ;;
	pbzip2)		echo "seconds in which \"pbzip2 -1 -b1 -p$2\" compresses $pbzip2_input bytes" ;;
	dbench)		echo "seconds in which $2 clients of dbench do $dbench_unit operations" ;;
	shootdown)	echo "seconds of one \"shootdown $2 $shootdown_times $shootdown_pages\" (bench/shootdown.c)" ;;
	esac
}

workload_prepare() {
	case $1 in
	# Numbers compress like text, and are the same everywhere.
	pbzip2)	echo "seq 1 200000 | head -c $pbzip2_input >/tmp/pbzip2.in" ;;
	*)	echo : ;;
	esac
}

workload_turn() {
	case $1 in
	hackbench)
		again "$2" "$hackbench_command"
		;;
	pbzip2)
		# -v for its own measure of time.
		again "$2" "pbzip2 -v -1 -b1 -p$3 -k -c /tmp/pbzip2.in 2>&1 >/dev/null |
			sed -n 's/^ *Wall Clock: \\([0-9.]*\\) seconds\$/Time: \\1/p'"
		;;
	dbench)
		# It has no amount of work, only a time, and its own throughput is that of its last full second but
		# one: all operations it did are counted.
		cat <<-COMMANDS
			rm -rf /tmp/clients
			dbench --skip-cleanup -c /share/dbench.load -D /tmp -t $2 $3 | awk '
				NF == 4 && \$2 ~ /^[0-9]+\$/ { n += \$2 }
				END { printf "Time: %.4f\n", $2 * $dbench_unit / (n ? n : 1) }'
		COMMANDS
		;;
	shootdown)
		again "$2" "shootdown $3 $shootdown_times $shootdown_pages"
		;;
	esac
}
