package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/halfpoint-go/halfpoint/adapters/memnet"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

// health says in one line how the bot is, and with its exit status whether that is well.
func TestHealth(t *testing.T) {
	well := func(context.Context) error { return nil }
	for name, x := range map[string]struct {
		path    string
		patient *patient // nil: the bot accepts the connection and answers nothing
		says    string
		fails   string // as an error
	}{
		"healthy":         {path: "/healthz", patient: &patient{}, says: "healthy"},
		"hangs":           {path: "/healthz", patient: &patient{busy: 61 * time.Second}, fails: "503 Service Unavailable: posts: at the same piece of work for 1m1s"},
		"ready":           {path: "/readyz", patient: &patient{store: well, health: bot.Health{Connected: true}}, says: "ready"},
		"a slow disk":     {path: "/readyz", patient: &patient{store: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}, fails: "503 Service Unavailable: database: no answer within 5s; discord: not connected for 5s"},
		"no answer":       {path: "/healthz", fails: "no answer within 8s"},
		"another program": {path: "/elsewhere", patient: &patient{}, fails: "404 Not Found: 404 page not found"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var network memnet.Network
				line, err := network.Listen("bot:80")
				if err != nil {
					t.Fatal(err)
				}
				defer line.Close()
				if x.patient != nil {
					x.patient.name = "discord"
					m, _ := looks(x.patient)
					stop := m.serve(line)
					defer stop()
				}
				says, err := askHealth(t.Context(), x.path, func(ctx context.Context, _, _ string) (net.Conn, error) {
					return network.DialContext(ctx, "tcp", "bot:80")
				})
				if fails := fmt.Sprint(err); says != x.says || x.fails != "" && fails != x.fails || x.fails == "" && err != nil {
					t.Errorf("%q, %s", says, fails)
				}
			})
		})
	}
	t.Setenv("HALFPOINT_METRICS", "")
	if status, says := halfpoint("health"); status != 2 || says != `halfpoint: "metrics" is not set: Halfpoint tells how it is at that address alone`+"\n" {
		t.Errorf("not configured: %d %s", status, says)
	}
	t.Setenv("HALFPOINT_METRICS", "127.0.0.1:1")
	if status, says := halfpoint("health", "--ready"); status != 1 || !strings.HasPrefix(says, "halfpoint: no answer") {
		t.Errorf("it does not run: %d %s", status, says)
	}
}

// A composeFile is what the Compose files here use of Compose.
type composeFile struct {
	Halfpoint map[string]any `yaml:"x-halfpoint"` // what services have in common
	Services  map[string]composeService
	Volumes   map[string]struct{ Name string }
}

type composeService struct {
	Build, Image, Restart string
	Name                  string `yaml:"container_name"`
	Grace                 string `yaml:"stop_grace_period"`
	Ports, Volumes        []string
	Environment           map[string]string
	EnvFile               []struct {
		Path     string
		Required bool
	} `yaml:"env_file"`
	DependsOn map[string]struct{ Condition string } `yaml:"depends_on"`
	ReadOnly  bool                                  `yaml:"read_only"`
	CapDrop   []string                              `yaml:"cap_drop"`
	Security  []string                              `yaml:"security_opt"`
	Health    struct {
		Test              []string
		Interval, Timeout string
		Retries           int
		Start             string `yaml:"start_period"`
	} `yaml:"healthcheck"`
}

func readCompose(t *testing.T, name string) (c composeFile) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(strings.NewReader(string(data)))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil {
		t.Fatal(err)
	}
	return c
}

// docker-compose.postgres.yaml runs two of the same service as docker-compose.yaml, with the same
// volume, on one database. That two processes work so is seen in TestSpareTakesOver.
func TestComposeOnPostgres(t *testing.T) {
	alone, c := readCompose(t, "docker-compose.yaml").Services["halfpoint"], readCompose(t, "docker-compose.postgres.yaml")
	if len(c.Services) != 3 || len(c.Services["database"].Health.Test) == 0 {
		t.Fatalf("the services are %v", c.Services)
	}
	for name, port := range map[string]string{"one": "8080", "two": "8081"} {
		s := c.Services[name]
		address := strings.ReplaceAll(s.Environment["HALFPOINT_DATABASE"], "${POSTGRES_PASSWORD}", "secret")
		if u, err := url.Parse(address); err != nil || !store.IsPostgres(address) || c.Services[u.Host].Environment["POSTGRES_DB"] != u.Path[1:] ||
			c.Services[u.Host].Environment["POSTGRES_USER"] != u.User.Username() || s.DependsOn[u.Host].Condition != "service_healthy" {
			t.Errorf("%s waits for another database than it uses: %s, %v", name, address, s.DependsOn)
		}
		want := alone
		want.Name, want.Ports, want.Environment, want.DependsOn = "", []string{"127.0.0.1:" + port + ":8080"}, s.Environment, s.DependsOn
		want.EnvFile[0].Required = true
		if diff := gocmp.Diff(want, s); diff != "" {
			t.Errorf("%s (-alone +on PostgreSQL):\n%s", name, diff)
		}
	}
}

// docker-compose.yaml runs the image of the Dockerfile once, keeps its volume, and asks the
// program how it is in a way that the program understands.
func TestCompose(t *testing.T) {
	compose := readCompose(t, "docker-compose.yaml")
	dockerfile, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	image := func(instruction string) string {
		m := regexp.MustCompile(`(?m)^` + instruction + `(.*)$`).FindSubmatch(dockerfile)
		if m == nil {
			t.Fatalf("the Dockerfile has no line %s", instruction)
		}
		return string(m[1])
	}
	s := compose.Services["halfpoint"]
	if len(compose.Services) != 1 || s.Build != "." || s.Name == "" { // Compose scales no service that has a name
		t.Errorf("it is not one process of this image: %+v", compose.Services)
	}
	if want := "halfpoint:" + image("VOLUME "); !slices.Equal(s.Volumes, []string{want}) || compose.Volumes["halfpoint"].Name == "" {
		t.Errorf("the volume is %q and not %q, or not declared: %v", s.Volumes, want, compose.Volumes)
	}
	if port := image("EXPOSE "); !slices.Equal(s.Ports, []string{"127.0.0.1:" + port + ":" + port}) {
		t.Errorf("the ports are %q", s.Ports)
	}
	if !strings.Contains(image("ENV "), " HALFPOINT_METRICS=127.0.0.1:") {
		t.Error("the image has no address for the health check")
	}
	test := s.Health.Test
	if len(test) < 2 || test[0] != "CMD" || `["`+test[1]+`"]` != image("ENTRYPOINT ") {
		t.Fatalf("the image cannot run the health check %q", test)
	}
	if check := image("HEALTHCHECK .* CMD "); check != `["`+strings.Join(test[1:], `", "`)+`"]` {
		t.Errorf("the health check of the image is %s, that of the service is %q", check, test)
	}
	if status, says := halfpoint(append(test[2:], "--help")...); status != 0 || !strings.Contains(says, "health [flags]") {
		t.Errorf("the program does not know its health check %q: %s", test, says)
	}
}
