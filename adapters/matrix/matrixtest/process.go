package matrixtest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// A process is a program that ends with this one.
type process struct {
	command *exec.Cmd
	done    chan struct{}
	err     error // once done is closed
}

// start runs the command.
func start(command *exec.Cmd) (*process, error) {
	p := &process{command: command, done: make(chan struct{})}
	dieWithParent(command)
	started := make(chan error)
	go func() {
		// On Linux the child dies with the thread that started it, so this
		// one is kept until then.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := command.Start()
		started <- err
		if err != nil {
			return
		}
		p.err = command.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func (p *process) kill() {
	p.command.Process.Kill()
	<-p.done
}

// Resident is the memory of a process in bytes; 0 where it cannot be told.
func Resident(pid int) int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	line, _, _ := strings.Cut(rest, "kB")
	n, _ := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	return n << 10
}
