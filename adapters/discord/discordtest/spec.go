package discordtest

import (
	"bytes"
	"cmp"
	"compress/gzip"
	_ "embed"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	plain "golang.org/x/text/message"

	"github.com/halfpoint-go/halfpoint/internal/tier"
)

var english = plain.NewPrinter(language.English)

// An object is a JSON object. What clients send and get stays in this form, so
// that nothing is lost that the double does not know.
type object = map[string]any

// The notice beside it says whose it is.
//
//go:embed testdata/discord-openapi.json.gz
var specification []byte

// A route is one operation of the specification.
type route struct {
	name      string // "POST /channels/{channel_id}/messages"
	pointer   string // of the operation in the document
	body      bool   // takes a JSON body
	responses []string
	needsBot  bool // Authorization is required
}

// A document is the specification, ready for use.
type document struct {
	routes map[string]*route // by name

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
	said     map[string]int // by pointer: what the double has said
}

// strict is the specification with everything unknown forbidden, lax as it is.
// Each is read once in a process, which takes about 0.2 s.
var (
	strict = sync.OnceValue(func() *document { return loadSpec(true) })
	lax    = sync.OnceValue(func() *document { return loadSpec(false) })
)

func loadSpec(strict bool) *document {
	zip, err := gzip.NewReader(bytes.NewReader(specification))
	if err != nil {
		panic(err)
	}
	whole, err := jsonschema.UnmarshalJSON(zip)
	if err != nil {
		panic(err)
	}
	root := whole.(object)
	inAllOf := map[string]bool{}
	visit(root["components"], func(o object) {
		for _, part := range asList(o["allOf"]) {
			if ref, ok := part.(object)["$ref"].(string); ok {
				inAllOf[ref] = true
			}
		}
	})
	if strict {
		for name, schema := range root["components"].(object)["schemas"].(object) {
			forbidUnknown(schema, inAllOf["#/components/schemas/"+name])
		}
	}
	d := &document{routes: map[string]*route{}, compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}, said: map[string]int{}}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	d.compiler.AssertFormat()
	if err := d.compiler.AddResource(specURL, whole); err != nil {
		panic(err)
	}
	for template, path := range root["paths"].(object) {
		for method, operation := range path.(object) {
			if method == "parameters" {
				continue
			}
			d.addRoute(template, method, operation.(object))
		}
	}
	return d
}

const specURL = "file:///discord-openapi.json"

func (d *document) addRoute(template, method string, operation object) {
	r := &route{
		name:    strings.ToUpper(method) + " " + template,
		pointer: "/paths/" + escapePointer(template) + "/" + method,
	}
	if body, ok := operation["requestBody"].(object); ok {
		_, r.body = body["content"].(object)["application/json"]
	}
	for status, response := range operation["responses"].(object) {
		content, _ := response.(object)["content"].(object)
		if _, ok := content["application/json"]; ok {
			r.responses = append(r.responses, status)
		}
	}
	security, ok := operation["security"].([]any)
	r.needsBot = ok && !slices.ContainsFunc(security, func(a any) bool { return len(a.(object)) == 0 })
	d.routes[r.name] = r
}

func (d *document) schema(pointer string) *jsonschema.Schema {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.schemas[pointer]; s != nil {
		return s
	}
	s, err := d.compiler.Compile(specURL + "#" + pointer)
	if err != nil {
		panic(err)
	}
	d.schemas[pointer] = s
	return s
}

// checkNamed holds what the double says against a schema by its name in the
// specification.
func (d *document) checkNamed(name string, text []byte) []fieldError {
	return d.check("/components/schemas/"+name, text)
}

// check holds what the double says against the specification. It says much the same again
// and again: below the change tier the first of each kind are checked, and then some.
func (d *document) check(pointer string, text []byte) []fieldError {
	d.mu.Lock()
	n := d.said[pointer]
	d.said[pointer]++
	d.mu.Unlock()
	if n > 20 && n%tier.Pick(8, 1, 1) > 0 {
		return nil
	}
	value, err := parseJSON(text)
	if err != nil {
		return []fieldError{{"", "JSON", err.Error()}}
	}
	return d.checkValue(pointer, value)
}

func (d *document) checkValue(pointer string, value any) []fieldError {
	err := d.schema(pointer).Validate(value)
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return nil
	}
	return readable(invalid)
}

// checkResponse holds an answer of the double against the specification.
func (d *document) checkResponse(r *route, status int, text []byte) []fieldError {
	code := itoa(status)
	if !slices.Contains(r.responses, code) {
		if status < 400 {
			if len(text) == 0 {
				return nil
			}
			return []fieldError{{"", "STATUS", "the specification knows no body for status " + code}}
		}
		if status == 429 {
			return d.checkNamed("RatelimitedResponse", text)
		}
		// The codes in the tree of errors are words in the documentation and
		// in life, and integers in the specification: the documentation wins.
		return d.checkNamed("ErrorResponse", innerCode.ReplaceAll(text, []byte(`"code":0,`)))
	}
	return d.check(r.pointer+"/responses/"+code+"/content/application~1json/schema", text)
}

var innerCode = regexp.MustCompile(`"code":"[A-Z0-9_]+",`)

// readable picks from the tree of a validation error what a person would want
// to be told: of alternatives, the one that was meant.
func readable(e *jsonschema.ValidationError) []fieldError {
	var list []fieldError
	for _, l := range leaves(e) {
		keywords := append([]string{"invalid"}, l.ErrorKind.KeywordPath()...)
		keyword := keywords[len(keywords)-1]
		list = append(list, fieldError{strings.Join(l.InstanceLocation, "."), cmp.Or(codes[keyword], strings.ToUpper(keyword)), l.ErrorKind.LocalizedString(english)})
	}
	slices.SortFunc(list, func(a, b fieldError) int {
		return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.message, b.message))
	})
	return slices.Compact(list)
}

// codes are Discord's words for broken keywords.
var codes = map[string]string{
	"maxLength": "BASE_TYPE_MAX_LENGTH", "maxItems": "BASE_TYPE_MAX_LENGTH",
	"minLength": "BASE_TYPE_MIN_LENGTH", "minItems": "BASE_TYPE_MIN_LENGTH",
	"maximum": "NUMBER_TYPE_MAX", "minimum": "NUMBER_TYPE_MIN",
	"enum": "BASE_TYPE_CHOICES", "const": "BASE_TYPE_CHOICES",
	"required": "BASE_TYPE_REQUIRED", "additionalProperties": "UNKNOWN_PROPERTY",
}

func leaves(e *jsonschema.ValidationError) []*jsonschema.ValidationError {
	if len(e.Causes) == 0 {
		return []*jsonschema.ValidationError{e}
	}
	var branches [][]*jsonschema.ValidationError
	for _, c := range e.Causes {
		branches = append(branches, leaves(c))
	}
	switch e.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		// Alternatives are told apart by their type; null is one of many. Of
		// those that are left, the one with the least to complain of is meant.
		others := slices.DeleteFunc(slices.Clone(branches), func(list []*jsonschema.ValidationError) bool {
			return slices.ContainsFunc(list, func(l *jsonschema.ValidationError) bool {
				n := len(e.InstanceLocation)
				return len(l.InstanceLocation) == n+1 && l.InstanceLocation[n] == "type" ||
					strings.HasSuffix(l.ErrorKind.LocalizedString(english), "want null")
			})
		})
		if len(others) == 0 {
			others = branches
		}
		return slices.MinFunc(others, func(a, b []*jsonschema.ValidationError) int { return len(a) - len(b) })
	}
	return slices.Concat(branches...)
}

// forbidUnknown makes every object schema reject properties that it does not
// name. Parts of an allOf describe the same object together and cannot.
func forbidUnknown(schema any, part bool) {
	switch s := schema.(type) {
	case object:
		_, properties := s["properties"]
		_, all := s["allOf"]
		_, already := s["additionalProperties"]
		if properties && !all && !already && !part {
			s["additionalProperties"] = false
		}
		for key, value := range s {
			switch key {
			case "properties":
				for _, p := range value.(object) {
					forbidUnknown(p, false)
				}
			case "allOf":
				for _, p := range value.([]any) {
					forbidUnknown(p, true)
				}
			case "oneOf", "anyOf", "items", "additionalProperties":
				forbidUnknown(value, false)
			}
		}
	case []any:
		for _, v := range s {
			forbidUnknown(v, false)
		}
	}
}

func visit(value any, see func(object)) {
	switch v := value.(type) {
	case object:
		see(v)
		for _, x := range v {
			visit(x, see)
		}
	case []any:
		for _, x := range v {
			visit(x, see)
		}
	}
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

func escapePointer(s string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D", "@", "%40").Replace(s)
}

// withoutNulls is a JSON value with every null property gone: to Discord, null
// means that a property was not given.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case object:
		out := make(object, len(v))
		for key, x := range v {
			if x != nil {
				out[key] = withoutNulls(x)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = withoutNulls(x)
		}
		return out
	}
	return v
}

// parseJSON keeps numbers as they are.
func parseJSON(text []byte) (any, error) { return jsonschema.UnmarshalJSON(bytes.NewReader(text)) }
