package main

import (
	"io"
	"reflect"
	"slices"
	"testing"

	"github.com/alecthomas/kong"
)

// Every command can run. None has another method that kong would call by its name, such as
// Validate or AfterApply, because nothing calls these here.
func TestCommands(t *testing.T) {
	parser, err := newParser(&cli{}, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	err = kong.Visit(parser.Model, func(v kong.Visitable, next kong.Next) error {
		n, ok := v.(*kong.Node)
		if !ok {
			return next(nil)
		}
		target := n.Target.Addr()
		if _, ok := target.Interface().(command); ok {
			commands++
		} else if n.Leaf() {
			t.Errorf("%s cannot run", n.FullPath())
		}
		for m := range target.Type().NumMethod() {
			if name := target.Type().Method(m).Name; !slices.Contains([]string{"Run", "Help"}, name) {
				t.Errorf("nothing calls %s of %s", name, reflect.TypeOf(target.Elem().Interface()))
			}
		}
		return next(nil)
	})
	if err != nil || commands < 19 {
		t.Errorf("%d commands, %v", commands, err)
	}
}
