package main

import (
	"time"

	"github.com/prometheus/procfs"
)

var (
	cpuTime       = processMetric("cpu_seconds_total", "counter", "Time of processors that the process used, in seconds.")
	virtual       = processMetric("virtual_memory_bytes", "gauge", "Virtual memory in bytes.")
	maxVirtual    = processMetric("virtual_memory_max_bytes", "gauge", "Virtual memory that the process may have, in bytes.")
	resident      = processMetric("resident_memory_bytes", "gauge", "Resident memory in bytes.")
	openFiles     = processMetric("open_fds", "gauge", "Open file descriptors.")
	maxFiles      = processMetric("max_fds", "gauge", "File descriptors that the process may have open.")
	receivedBytes = processMetric("network_receive_bytes_total", "counter", "Bytes that the process and others in its network received.")
	sentBytes     = processMetric("network_transmit_bytes_total", "counter", "Bytes that the process and others in its network sent.")
)

// processMetrics adds the usual figures of a process, without those that /proc does not show.
func processMetrics(s scrape, _ time.Time) {
	p, err := procfs.Self()
	if err != nil {
		return
	}
	if stat, err := p.Stat(); err == nil {
		s.add(cpuTime, stat.CPUTime())
		s.add(virtual, float64(stat.VirtualMemory()))
		s.add(resident, float64(stat.ResidentMemory()))
		if at, err := stat.StartTime(); err == nil {
			s.add(startTime, at)
		}
	}
	if n, err := p.FileDescriptorsLen(); err == nil {
		s.add(openFiles, float64(n))
	}
	if limits, err := p.Limits(); err == nil {
		s.add(maxFiles, float64(limits.OpenFiles))
		s.add(maxVirtual, float64(limits.AddressSpace))
	}
	if net, err := p.Netstat(); err == nil && net.InOctets != nil && net.OutOctets != nil {
		s.add(receivedBytes, *net.InOctets)
		s.add(sentBytes, *net.OutOctets)
	}
}
