package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/halfpoint-go/halfpoint/adapters/matrix"
	"github.com/halfpoint-go/halfpoint/bot/store"
)

type undeliveredCmd struct {
	Again []string `help:"Retry these posts. Stop halfpoint first." placeholder:"ID"`
}

// Run lists posts that were not shown and events that were not handled, or retries posts.
func (c *undeliveredCmd) Run(e *env) error {
	database, err := e.existingDatabase()
	if err != nil {
		return err
	}
	ctx, stop := interrupted()
	defer stop()
	if len(c.Again) > 0 {
		return retry(ctx, database, c.Again)
	}
	db, err := store.Look(database) // it may be in use
	if err != nil {
		return err
	}
	defer db.Close()
	posts, err := store.Undelivered(ctx, db)
	if err != nil {
		return err
	}
	own, err := adapterDB(db, database)
	if err != nil {
		return err
	}
	events, err := matrix.LeftAlone(ctx, own)
	if err != nil {
		return err
	}
	out := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	for _, p := range posts {
		state := "paused"
		if p.GivenUp {
			state = "given up"
		}
		place := p.Where.Channel
		if p.Where.Thread != "" {
			place += " / " + p.Where.Thread
		}
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%q\n", state, p.ID, p.Where.Platform, place, p.Why)
	}
	for _, v := range events {
		fmt.Fprintf(out, "given up\t%s\tmatrix\t%s\t\n", v.Event, v.Room)
	}
	if len(posts)+len(events) == 0 {
		fmt.Fprintln(out, "No undelivered posts, no unprocessed events.")
	}
	return out.Flush()
}

// retry makes posts due again.
func retry(ctx context.Context, database string, posts []string) error {
	st, err := store.Open(ctx, database)
	if err != nil {
		return err
	}
	defer st.Close()
	for _, id := range posts {
		err = errors.Join(err, st.Retry(ctx, id))
	}
	return err
}
