package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/halfpoint-go/halfpoint/bot/text"
	"github.com/halfpoint-go/halfpoint/render"
)

// Kong's Parse, Validate and Run look for methods by name. Then the linker cannot tell which
// methods are called, and keeps every exported one: 4.5 MB more, so the program calls none of
// the three. It does in parse and check what they would do for the flags and arguments here,
// and calls a command as an interface.

// A command is what is selected on the command line.
type command interface{ Run(e *env) error }

// errAnswered says that the command line asked for the help or the version, which is printed.
var errAnswered = errors.New("answered")

// newParser returns the parser of the command line into c.
func newParser(c *cli, out, errout io.Writer) (*kong.Kong, error) {
	return kong.New(c, kong.Name("halfpoint"), kong.WithHyphenPrefixedParameters(true), kong.Writers(out, errout),
		kong.Description("Play Go under experimental rulesets, and see every half point of the score move."),
		kong.Vars{"themes": strings.Join(render.Themes(), ", ")}, kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
}

// parse reads the command line and returns the selected command.
func parse(parser *kong.Kong, args []string) (*kong.Node, error) {
	ctx, err := kong.Trace(parser, args)
	if err != nil {
		return nil, err
	}
	if err := read(ctx); err != nil {
		return nil, hinted(ctx, err)
	}
	return ctx.Selected(), nil
}

// read applies a command line that kong has traced.
func read(ctx *kong.Context) error {
	if ctx.Error != nil {
		return ctx.Error
	}
	for _, p := range ctx.Path {
		switch {
		case p.Flag == nil:
		case p.Flag.Name == "help":
			return cmp.Or(ctx.PrintUsage(false), errAnswered)
		case p.Flag.Name == "version":
			_, err := fmt.Fprintln(ctx.Stdout, versionLine())
			return cmp.Or(err, errAnswered)
		}
	}
	if err := ctx.Reset(); err != nil {
		return err
	}
	if _, err := ctx.Apply(); err != nil {
		return err
	}
	return check(ctx)
}

// check returns an error if a value is none of those that its flag or argument takes, or if a
// flag, an argument or the command of a group is missing.
func check(ctx *kong.Context) error {
	var flags, words []string
	for _, p := range ctx.Path {
		v := p.Positional
		if p.Flag != nil {
			v = p.Flag.Value
		}
		if v != nil && v.Enum != "" && !slices.Contains(v.EnumSlice(), v.Target.String()) {
			var takes []string
			for _, word := range v.EnumSlice() {
				takes = append(takes, strconv.Quote(word))
			}
			return fmt.Errorf("%s must be one of %s but got %q", v.ShortSummary(), strings.Join(takes, ","), v.Target)
		}
		for _, f := range p.Flags {
			if f.Required && !f.Set {
				flags = append(flags, f.Summary())
			}
		}
	}
	if len(flags) > 0 {
		slices.Sort(flags)
		return fmt.Errorf("missing flags: %s", strings.Join(flags, ", "))
	}
	selected := ctx.Selected()
	for _, arg := range selected.Positional {
		if arg.Required && !arg.Set {
			words = append(words, arg.Summary())
		}
	}
	for _, c := range selected.Children {
		words = append(words, c.Name)
	}
	if len(words) > 0 {
		return fmt.Errorf("expected %q", strings.Join(words, " "))
	}
	return nil
}

// hinted names the help of a command that lacks an argument, and the nearest
// command if the first argument is none: kong takes it for an argument of the default
// command.
func hinted(ctx *kong.Context, err error) error {
	selected := ctx.Selected()
	if strings.HasPrefix(err.Error(), "expected ") && selected != nil {
		return fmt.Errorf("%w; see %s --help", err, selected.FullPath())
	}
	typed, ok := strings.CutPrefix(err.Error(), "unexpected argument ")
	if !ok || slices.Contains(ctx.Args, selected.Name) {
		return err
	}
	var names []string
	for _, c := range ctx.Model.Children {
		names = append(names, c.Name)
	}
	if near := text.Nearest(typed, names); near != "" {
		return fmt.Errorf("unknown command %s, did you mean %q?", typed, near)
	}
	return fmt.Errorf("unknown command %s; halfpoint --help lists them", typed)
}
