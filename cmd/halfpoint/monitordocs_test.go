package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/halfpoint-go/halfpoint/adapters/web"
	"github.com/halfpoint-go/halfpoint/bot"
	"github.com/halfpoint-go/halfpoint/internal/tier"
)

// families returns the labels of all metrics that the program has, by name: those that
// Prometheus makes of histograms, too.
func families(t *testing.T) map[string][]string {
	t.Helper()
	m, _ := looks(&patient{name: "discord", health: bot.Health{Connected: true, Heartbeat: time.Now()}})
	m.shown("discord", time.Second)
	m.committed(1, time.Second, nil)
	_, text := m.gets("/metrics")
	all := map[string][]string{}
	for _, sample := range regexp.MustCompile(`(?m)^([a-z_]+)(?:{(.*)})? `).FindAllStringSubmatch(text, -1) {
		var labels []string
		for _, l := range regexp.MustCompile(`([a-z]+)="`).FindAllStringSubmatch(sample[2], -1) {
			labels = append(labels, l[1])
		}
		all[sample[1]] = labels
	}
	for _, histogram := range regexp.MustCompile("(?m)^# TYPE ([a-z_]+) histogram$").FindAllStringSubmatch(text, -1) {
		all[histogram[1]] = all[histogram[1]+"_count"]
	}
	return all
}

// rules are the expressions of docs/alerts.yaml, and queries those of docs/grafana.json, by
// the names of alerts and panels.
func rulesAndQueries(t *testing.T) (rules, queries map[string][]string) {
	t.Helper()
	var alerts struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	read := func(name string, into any, unmarshal func([]byte, any) error) {
		data, err := os.ReadFile(filepath.Join(root, "docs", name))
		if err == nil {
			err = unmarshal(data, into)
		}
		if err != nil {
			t.Fatal(name, err)
		}
	}
	read("alerts.yaml", &alerts, func(data []byte, v any) error { return yaml.Unmarshal(data, v) })
	read("grafana.json", &board, json.Unmarshal)
	rules, queries = map[string][]string{}, map[string][]string{}
	for _, group := range alerts.Groups {
		for _, r := range group.Rules {
			rules[r.Alert] = append(rules[r.Alert], r.Expr)
		}
	}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			queries[p.Title] = append(queries[p.Title], target.Expr)
		}
	}
	return rules, queries
}

// What is in an expression of Prometheus.
var (
	metricName = regexp.MustCompile(`\b(?:halfpoint|process|go)_[a-z_]+\b`)
	matchers   = regexp.MustCompile(`([a-z_]+)\{([^}]*)\}`)
	matcher    = regexp.MustCompile(`([a-z_]+) *(?:=~|!~|!=|=) *"`)
	grouping   = regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)`)
)

// The alerts and the board ask for nothing that the program does not have, and the alerts are
// the six that docs/monitoring.md explains.
func TestAlertsAndBoardAskForWhatThereIs(t *testing.T) {
	has := families(t)
	rules, queries := rulesAndQueries(t)
	if len(rules) != 6 || len(queries) < 10 {
		t.Fatalf("%d alerts, %d panels", len(rules), len(queries))
	}
	doc := handWritten(t)[filepath.Join(root, "docs", "monitoring.md")]
	for alert := range rules {
		if !strings.Contains(doc, "| `"+alert+"` |") {
			t.Errorf("docs/monitoring.md does not explain %s", alert)
		}
	}
	given := []string{"job", "instance"} // by Prometheus itself
	for _, all := range []map[string][]string{rules, queries} {
		for of, exprs := range all {
			for _, expr := range exprs {
				known := slices.Clone(given)
				names := metricName.FindAllString(expr, -1)
				for _, name := range names {
					labels, ok := has[name]
					if !ok {
						t.Errorf("%s asks for %s, which the program does not have", of, name)
					}
					known = append(known, labels...)
				}
				if len(names) == 0 && !strings.Contains(expr, "up{") {
					t.Errorf("%s asks for nothing: %s", of, expr)
				}
				for _, m := range matchers.FindAllStringSubmatch(expr, -1) {
					for _, label := range matcher.FindAllStringSubmatch(m[2], -1) {
						if !slices.Contains(has[m[1]], label[1]) && !slices.Contains(given, label[1]) {
							t.Errorf("%s: %s has no label %s", of, m[1], label[1])
						}
					}
				}
				for _, g := range grouping.FindAllStringSubmatch(expr, -1) {
					for label := range strings.SplitSeq(g[1], ",") {
						if !slices.Contains(known, strings.TrimSpace(label)) {
							t.Errorf("%s: no label %s in %s", of, label, expr)
						}
					}
				}
			}
		}
	}
}

// docs/monitoring.md explains each metric, with its labels, and each reason of a refusal, and
// none that the program does not have.
func TestMetricsAreExplained(t *testing.T) {
	doc := handWritten(t)[filepath.Join(root, "docs", "monitoring.md")]
	row := regexp.MustCompile("(?m)^\\| `(halfpoint_[a-z_]+)` \\|([^|]*)\\|")
	explained := map[string]string{}
	for _, m := range row.FindAllStringSubmatch(doc, -1) {
		explained[m[1]] = m[2]
	}
	has := families(t)
	for name, labels := range has {
		if !strings.HasPrefix(name, "halfpoint_") || regexp.MustCompile(`_(bucket|count|sum)$`).MatchString(name) {
			continue
		}
		says, ok := explained[name]
		if !ok {
			t.Errorf("docs/monitoring.md does not explain %s", name)
		}
		for _, label := range labels {
			if !strings.Contains(says, "`"+label+"`") {
				t.Errorf("docs/monitoring.md does not say that %s has the label %s", name, label)
			}
		}
	}
	for name := range explained {
		if _, ok := has[name]; !ok {
			t.Errorf("docs/monitoring.md explains %s, which the program does not have", name)
		}
	}
	reasons := slices.Clone(bot.RefusalReasons)
	for reason := range web.New(web.Config{}).Health().Refused {
		reasons = append(reasons, reason)
	}
	for _, reason := range reasons {
		if !strings.Contains(doc, "`"+reason+"`") {
			t.Errorf("docs/monitoring.md does not explain the reason %s", reason)
		}
	}
}

// promtool, which checks rules for Prometheus, finds the alerts, the queries of the board and
// the configuration in docs/monitoring.md right, and the alerts fire when they should.
func TestAlerts(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		tier.Missing(t, "there is no promtool on PATH: Debian's package prometheus has it")
	}
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	alerts, err := os.ReadFile(filepath.Join(root, "docs", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	write("halfpoint.yaml", string(alerts))
	doc := handWritten(t)[filepath.Join(root, "docs", "monitoring.md")]
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(doc)
	if block == nil {
		t.Fatal("docs/monitoring.md has no configuration")
	}
	config := write("prometheus.yml", regexp.MustCompile(`(?m)^ {3}`).ReplaceAllString(block[1], ""))

	type rule struct {
		Record string `yaml:"record"`
		Expr   string `yaml:"expr"`
	}
	var recorded []rule
	_, queries := rulesAndQueries(t)
	for _, exprs := range queries {
		for _, expr := range exprs {
			recorded = append(recorded, rule{"a:panel", strings.ReplaceAll(expr, "$__rate_interval", "1m")})
		}
	}
	slices.SortFunc(recorded, func(a, b rule) int { return strings.Compare(a.Expr, b.Expr) })
	board, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "board", "rules": recorded}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"check", "config", config},
		{"check", "rules", "--lint=none", write("board.yaml", string(board))},
		{"test", "rules", filepath.Join("testdata", "alerts.yaml")},
	} {
		if says, err := exec.Command(promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, says)
		}
	}
	m, _ := looks(&patient{name: "discord"})
	_, text := m.gets("/metrics")
	lint := exec.Command(promtool, "check", "metrics")
	lint.Stdin = strings.NewReader(text)
	if says, err := lint.CombinedOutput(); err != nil {
		t.Errorf("promtool check metrics: %v\n%s", err, says)
	}
}
