package matrixtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"maunium.net/go/mautrix"
	"maunium.net/go/mautrix/id"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

func TestMain(m *testing.M) {
	if os.Getenv("MATRIXTEST_HOLD") != "" {
		hold()
	}
	Main(m)
}

func TestServerRestartsOnItsData(t *testing.T) {
	tier.Change(t)
	t.Parallel()
	for name, options := range map[string]Options{"in memory": {}, "durable": {Durable: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // Dendrite may take half a minute to try again
			s := Start(t, options)
			anna, ben := s.Player(t, "Anna"), s.Player(t, "Ben")
			room := anna.Makes(Room{Name: "Go", Invite: []id.UserID{ben.ID}})
			ben.Joins(room)
			for n, stop := range []func(){func() { s.Stop(t) }, s.Kill} {
				body := fmt.Sprint("move ", n)
				if options.Durable {
					// Only the homeserver has it yet.
					if err := say(anna.Client, room, body); err != nil {
						t.Fatal(err)
					}
				} else {
					ben.AwaitEvent(room, anna.Says(room, body))
				}
				stop()
				if _, err := s.apart(t).Versions(t.Context()); err == nil {
					t.Fatal("a homeserver that does not run has answered")
				}
				s.Again(t)
				late := s.NewPlayer(t, s.URL, ben.User)
				for _, p := range []*Player{anna, ben, late} {
					p.Await(room, body, func(v View) bool { return len(v.Messages) == n+1 && v.Messages[n].Body == body })
				}
			}
		})
	}
}

func TestTheHomeserversOwnLimits(t *testing.T) {
	tier.Change(t)
	s := Start(t, Options{Burst: 3, Cooloff: time.Hour, MaxUpload: 1000})
	var people []User
	for range 5 { // more than could log in from one address
		people = append(people, s.Register(t, "Anna"))
	}
	client, err := mautrix.NewClient(s.URL, people[0].ID, people[0].Token)
	if err != nil {
		t.Fatal(err)
	}
	var refused mautrix.HTTPError
	for n := range 4 {
		_, err = client.Whoami(t.Context())
		if n < 3 && err != nil {
			t.Fatal(err)
		}
	}
	if !errors.As(err, &refused) || refused.RespError == nil || refused.RespError.ErrCode != "M_LIMIT_EXCEEDED" || refused.RespError.ExtraData["retry_after_ms"] != 3600_000.0 {
		t.Errorf("the fourth request: %v", err)
	}
	admin := s.RegisterAdmin(t, "Root")
	client, err = mautrix.NewClient(s.URL, admin.ID, admin.Token)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := client.Whoami(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.UploadBytes(t.Context(), make([]byte, 1000), "image/png"); err != nil {
		t.Error(err)
	}
	if _, err := client.UploadBytes(t.Context(), make([]byte, 1001), "image/png"); !errors.As(err, &refused) || refused.Response.StatusCode != 413 {
		t.Errorf("too much: %v", err)
	}
}

// hold is a test process that runs a homeserver until somebody ends it.
func hold() {
	folder, err := dendrite()
	if err == nil {
		s := prepare(os.Getenv("MATRIXTEST_HOLD"), folder)
		if err = s.open(); err == nil {
			fmt.Println(s.process.command.Process.Pid)
			select {}
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

func TestTheHomeserverDiesWithTheTest(t *testing.T) {
	tier.Change(t)
	if runtime.GOOS != "linux" {
		return // elsewhere it is left behind
	}
	build(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self)
	child.Env = append(os.Environ(), "MATRIXTEST_HOLD="+t.TempDir())
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	child.Process.Kill()
	child.Wait()
	if err != nil {
		t.Fatalf("the child says %q", line)
	}
	for late := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		// A dead process that nobody has waited for is a zombie at most.
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(status), ") Z ") {
			return
		}
		if time.Now().After(late) {
			t.Fatalf("the homeserver lives on: %s", status)
		}
	}
}

func TestPeopleOfOneNameAreDifferentPeople(t *testing.T) {
	t.Parallel()
	Each(t, func(t *testing.T, s *Server) {
		first, second := s.Register(t, "Twin"), s.Register(t, "Twin")
		if first.ID == second.ID || first.Token == second.Token {
			t.Fatalf("%v and %v", first, second)
		}
		client := s.Client(t, s.URL, second)
		profile, err := client.GetProfile(context.Background(), second.ID)
		if err != nil || profile.DisplayName != "Twin" {
			t.Fatalf("%v, %v", profile, err)
		}
		devices, err := client.GetDevicesInfo(context.Background())
		if err != nil || len(devices.Devices) != 1 || devices.Devices[0].DeviceID != second.Device {
			t.Fatalf("%v, %v", devices, err)
		}
	})
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		s := prepare(b.TempDir(), build(b))
		if err := s.open(); err != nil {
			b.Fatal(err)
		}
		s.close()
	}
}
