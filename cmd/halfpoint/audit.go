package main

import (
	"bytes"
	"fmt"
	"os"

	"github.com/halfpoint-go/halfpoint/internal/audit"
)

type auditCmd struct {
	File string `arg:"" help:"The export of an event, EVENT.json; - reads standard input."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Help says what is checked.
func (auditCmd) Help() string {
	return "Every round is paired again from what was known then, and every number of the tables is computed again. Where something differs, the exit status is 1."
}

// Run audits an event.
func (c *auditCmd) Run(e *env) error {
	in := e.in
	if c.File != "-" {
		f, err := os.Open(c.File)
		if err != nil {
			return plain(c.File, err)
		}
		defer f.Close()
		in = f
	}
	event, err := audit.Read(in)
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", c.File, err)}
	}
	report := audit.Run(event)
	if c.JSON {
		err = writeJSON(e.out, report)
	} else {
		_, err = e.out.Write(auditText(event, report))
	}
	if err == nil {
		if err = report.Err(); err != nil {
			err = fmt.Errorf("%s: %w", c.File, err)
		}
	}
	return err
}

// auditText says for people what an audit has found.
func auditText(e *audit.Event, report audit.Report) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %s, %d %s\n", joined(" ", e.ID, e.Title), e.System, len(e.Players), plural(len(e.Players), "player"))
	say := func(head, right string, findings []string) {
		if len(findings) == 0 {
			fmt.Fprintf(&b, "%s: %s\n", head, right)
			return
		}
		fmt.Fprintf(&b, "%s differs\n", head)
		for _, f := range findings {
			fmt.Fprintf(&b, "  %s\n", f)
		}
	}
	for _, r := range report.Rounds {
		right := fmt.Sprintf("paired as it should be, %d %s", r.Pairs, plural(r.Pairs, "pair"))
		if r.Choices > 0 {
			right += fmt.Sprintf(", with %d %s of the organiser", r.Choices, plural(r.Choices, "choice"))
		}
		if r.Weight > 0 {
			right += fmt.Sprintf("; no pairing weighs more than %d", r.Weight)
		}
		say(fmt.Sprintf("Round %d", r.Round), right, r.Findings)
	}
	for _, t := range report.Tables {
		head := "Table"
		if t.Group > 0 {
			head = fmt.Sprintf("Table of group %d", t.Group)
		}
		say(head, fmt.Sprintf("every number is right, %d %s", t.Rows, plural(t.Rows, "row")), t.Findings)
	}
	return b.Bytes()
}
