//! Kernel text to values: schedstat, cpu.stat, pressure, /proc/PID/sched and the rest.
