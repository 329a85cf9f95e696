package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

// Shells complete by asking the program itself: the scripts below call
// "halfpoint __complete WORDS...", where the last word is the one being typed, and read a
// line for each candidate, with a tab before its description. The line ":files" asks the
// shell to complete a path, because it quotes paths better than we can.
const (
	completeWord  = "__complete"
	completeFiles = ":files"
)

var completionScripts = map[string]string{
	"bash": `_halfpoint() {
	local line
	COMPREPLY=()
	while IFS= read -r line; do
		[[ $line == ` + completeFiles + ` ]] || COMPREPLY+=("${line%%$'\t'*}")
	done < <("$1" ` + completeWord + ` "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _halfpoint halfpoint
`,
	"zsh": `#compdef halfpoint
_halfpoint() {
	local line files
	local -a found
	for line in "${(@f)$($words[1] ` + completeWord + ` "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
		case $line in
		('') ;;
		(` + completeFiles + `) files=1 ;;
		(*) found+=("${${line//:/\\:}/$'\t'/:}") ;;
		esac
	done
	(( $#found )) && _describe halfpoint found
	[[ -n $files ]] || return
	[[ $PREFIX == --*=* ]] && compset -P '*='
	_files
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _halfpoint halfpoint
`,
	"fish": `function __halfpoint_complete
	set -l words (commandline -opc)
	set -l typed (commandline -ct)
	$words[1] ` + completeWord + ` $words[2..-1] "$typed" 2>/dev/null
end
complete -c halfpoint -f -n 'not __halfpoint_complete | string match -q ` + completeFiles + `' -a '(__halfpoint_complete)'
complete -c halfpoint -F -n '__halfpoint_complete | string match -q ` + completeFiles + `'
`,
}

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help says how the script is used.
func (completionCmd) Help() string {
	return `The shell then completes commands, flags, rulesets, themes and files. Load the script when the shell starts:

  bash: source <(halfpoint completion bash)       in ~/.bashrc
  zsh:  source <(halfpoint completion zsh)        in ~/.zshrc
  fish: halfpoint completion fish | source        in ~/.config/fish/config.fish`
}

// Run prints the script of a shell.
func (c *completionCmd) Run(e *env) error {
	_, err := io.WriteString(e.out, completionScripts[c.Shell])
	return err
}

// A candidate is a completion of a word, and its meaning.
type candidate struct{ word, means string }

// valuesOf returns the possible values of a flag or an argument; files is true if it is a path.
func (e *env) valuesOf(v *kong.Value) (found []candidate, files bool) {
	only := func(words []string) []candidate {
		for _, w := range words {
			found = append(found, candidate{word: w})
		}
		return found
	}
	if v.Enum != "" {
		return only(v.EnumSlice()), false
	}
	switch v.Name {
	case "file", "config", "database", "ruleset", "out":
		return nil, true
	case "id", "rules":
		own, _ := e.custom() // a mistake in them is for the command to report
		for _, r := range slices.Concat(rules.Catalogue, own) {
			found = append(found, candidate{r.Name, r.Title})
		}
		return found, false
	case "theme":
		return only(render.Themes()), false
	case "panel":
		return only([]string{"dark", "light"}), false
	case "coordinates":
		return only(render.Coordinates()), false
	case "komi":
		return only([]string{"default"}), false
	case "dead":
		return only([]string{"none"}), false
	}
	return nil, false
}

// A typing is a command line up to the word that is being typed.
type typing struct {
	node  *kong.Node // the command
	flags []*kong.Flag
	args  []string
	value *kong.Value // what the next word is for; nil: a command, a flag or an argument
}

// read reads the next word.
func (t *typing) read(e *env, w string) {
	child := slices.IndexFunc(t.node.Children, func(c *kong.Node) bool { return c.Name == w })
	switch {
	case t.value != nil:
		e.configure(t.value.Name, w)
		t.value = nil
	case strings.HasPrefix(w, "-") && w != "-":
		name, given, ok := strings.Cut(w, "=")
		f := findFlag(t.flags, name)
		if f == nil || f.IsBool() {
			return
		}
		if t.value = f.Value; ok {
			t.read(e, given)
		}
	case child >= 0 && len(t.args) == 0:
		t.node = t.node.Children[child]
		t.flags = slices.Concat(t.flags, t.node.Flags)
	default:
		t.args = append(t.args, w)
	}
}

// next returns what the word that is being typed may be; files is true if it is a path.
func (t *typing) next(e *env, typed string) (found []candidate, files bool) {
	switch args := t.node.Positional; {
	case t.value != nil:
		return e.valuesOf(t.value)
	case strings.HasPrefix(typed, "-"):
		for _, f := range t.flags {
			if !f.Hidden {
				found = append(found, candidate{"--" + f.Name, f.Help})
			}
		}
	case len(t.args) == 0 && len(t.node.Children) > 0:
		for _, c := range t.node.Children {
			if !c.Hidden {
				found = append(found, candidate{c.Name, c.Help})
			}
		}
	case len(t.args) < len(args):
		return e.valuesOf(args[len(t.args)])
	case len(args) > 0 && args[len(args)-1].IsCumulative():
		return e.valuesOf(args[len(args)-1])
	}
	return found, false
}

// complete prints the completions of the last word.
func (e *env) complete(node *kong.Node, words []string) error {
	words = slices.DeleteFunc(words[:len(words):len(words)], func(w string) bool { return w == "=" && w != words[len(words)-1] })
	t := typing{node: node, flags: node.Flags}
	typed := words[len(words)-1]
	if typed == "=" { // bash takes it for a word
		typed = ""
	}
	for _, w := range words[:len(words)-1] {
		t.read(e, w)
	}
	prefix := ""
	if name, given, ok := strings.Cut(typed, "="); ok && t.value == nil {
		if f := findFlag(t.flags, name); f != nil {
			prefix, typed, t.value = name+"=", given, f.Value
		}
	}
	found, files := t.next(e, typed)
	var b strings.Builder
	for _, c := range found {
		if strings.HasPrefix(c.word, typed) {
			means, _, _ := strings.Cut(c.means, ". ")
			fmt.Fprintln(&b, strings.TrimRight(prefix+c.word+"\t"+means, "\t"))
		}
	}
	if files {
		b.WriteString(completeFiles + "\n")
	}
	_, err := io.WriteString(e.out, b.String())
	return err
}

// configure reads the flags about the configuration from the words before, for the names
// of custom rulesets.
func (e *env) configure(name, value string) {
	switch name {
	case "config":
		e.cli.Config = value
	case "ruleset":
		e.cli.Ruleset = append(e.cli.Ruleset, value)
	}
}

// findFlag returns the flag that a word names, nil if there is none.
func findFlag(flags []*kong.Flag, word string) *kong.Flag {
	for _, f := range flags {
		if word == "--"+f.Name || f.Short != 0 && word == "-"+string(f.Short) {
			return f
		}
	}
	return nil
}
