package main

import (
	"runtime"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"strings"
	"time"
)

// goNames are the usual names of metrics of programs in Go, with the figures of package
// runtime/metrics whose sum each is.
var goNames = [][]string{
	{"go_gc_gogc_percent", "/gc/gogc:percent"},
	{"go_gc_gomemlimit_bytes", "/gc/gomemlimit:bytes"},
	{"go_goroutines", "/sched/goroutines:goroutines"},
	{"go_memstats_alloc_bytes", "/memory/classes/heap/objects:bytes"},
	{"go_memstats_alloc_bytes_total", "/gc/heap/allocs:bytes"},
	{"go_memstats_buck_hash_sys_bytes", "/memory/classes/profiling/buckets:bytes"},
	{"go_memstats_frees_total", "/gc/heap/frees:objects", "/gc/heap/tiny/allocs:objects"},
	{"go_memstats_gc_sys_bytes", "/memory/classes/metadata/other:bytes"},
	{"go_memstats_heap_alloc_bytes", "/memory/classes/heap/objects:bytes"},
	{"go_memstats_heap_idle_bytes", "/memory/classes/heap/released:bytes", "/memory/classes/heap/free:bytes"},
	{"go_memstats_heap_inuse_bytes", "/memory/classes/heap/objects:bytes", "/memory/classes/heap/unused:bytes"},
	{"go_memstats_heap_objects", "/gc/heap/objects:objects"},
	{"go_memstats_heap_released_bytes", "/memory/classes/heap/released:bytes"},
	{"go_memstats_heap_sys_bytes", "/memory/classes/heap/objects:bytes", "/memory/classes/heap/unused:bytes", "/memory/classes/heap/released:bytes", "/memory/classes/heap/free:bytes"},
	{"go_memstats_mallocs_total", "/gc/heap/allocs:objects", "/gc/heap/tiny/allocs:objects"},
	{"go_memstats_mcache_inuse_bytes", "/memory/classes/metadata/mcache/inuse:bytes"},
	{"go_memstats_mcache_sys_bytes", "/memory/classes/metadata/mcache/inuse:bytes", "/memory/classes/metadata/mcache/free:bytes"},
	{"go_memstats_mspan_inuse_bytes", "/memory/classes/metadata/mspan/inuse:bytes"},
	{"go_memstats_mspan_sys_bytes", "/memory/classes/metadata/mspan/inuse:bytes", "/memory/classes/metadata/mspan/free:bytes"},
	{"go_memstats_next_gc_bytes", "/gc/heap/goal:bytes"},
	{"go_memstats_other_sys_bytes", "/memory/classes/other:bytes"},
	{"go_memstats_stack_inuse_bytes", "/memory/classes/heap/stacks:bytes"},
	{"go_memstats_stack_sys_bytes", "/memory/classes/heap/stacks:bytes", "/memory/classes/os-stacks:bytes"},
	{"go_memstats_sys_bytes", "/memory/classes/total:bytes"},
	{"go_sched_gomaxprocs_threads", "/sched/gomaxprocs:threads"},
	{"go_threads", "/sched/threads/total:threads"},
}

var (
	goInfo = &metric{"go_info", "gauge", "1, with the version of Go.", []string{"version"}}
	pauses = &metric{"go_gc_duration_seconds", "summary", "Pauses of the program for garbage collection, in seconds.", []string{"quantile"}}
	lastGC = &metric{"go_memstats_last_gc_time_seconds", "gauge", "Time of the last garbage collection, in seconds since 1970.", nil}
)

// goMetrics adds the usual figures of a program in Go.
func goMetrics(s scrape) {
	var samples []runtimemetrics.Sample
	for _, named := range goNames {
		for _, name := range named[1:] {
			samples = append(samples, runtimemetrics.Sample{Name: name})
		}
	}
	runtimemetrics.Read(samples)
	for _, named := range goNames {
		sum := 0.0
		for range named[1:] {
			if v := samples[0].Value; v.Kind() == runtimemetrics.KindUint64 {
				sum += float64(v.Uint64())
			}
			samples = samples[1:]
		}
		kind := "gauge"
		if strings.HasSuffix(named[0], "_total") {
			kind = "counter"
		}
		s.add(&metric{named[0], kind, strings.Join(named[1:], " + ") + " of Go's package runtime/metrics.", nil}, sum)
	}
	s.add(goInfo, 1, runtime.Version())
	stats := debug.GCStats{PauseQuantiles: make([]time.Duration, 5)}
	debug.ReadGCStats(&stats)
	for i, pause := range stats.PauseQuantiles {
		s.add(pauses, pause.Seconds(), number(float64(i)/4))
	}
	s.line(pauses, "_sum", nil, nil, stats.PauseTotal.Seconds())
	s.line(pauses, "_count", nil, nil, float64(stats.NumGC))
	s.add(lastGC, float64(stats.LastGC.UnixNano())/1e9)
}

// startTime is the one metric of the process that does not need /proc.
var startTime = processMetric("start_time_seconds", "gauge", "Start of the process, in seconds since 1970.")

func processMetric(name, kind, help string) *metric {
	return &metric{"process_" + name, kind, help, nil}
}
