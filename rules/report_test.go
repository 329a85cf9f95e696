package rules

import "testing"

// A report has the count, line by line, and only a game that has one has it.
func TestReport(t *testing.T) {
	g := replay(t, "two-button", 3, 3, 0, "B2 pass pass")
	r := settled(t, g, "").Report()
	if len(r.Lines) == 0 || r.Black == nil || r.White == nil || *r.Margin != *r.Black-*r.White || r.Result == nil || r.ToPlay != nil {
		t.Fatalf("%+v", r)
	}
	var sum Points
	for _, l := range r.Lines {
		if l.Player == "black" {
			sum += l.Points
		} else {
			sum -= l.Points
		}
	}
	if sum != *r.Margin {
		t.Errorf("the lines come to %v, the margin is %v: %+v", sum, *r.Margin, r.Lines)
	}
	if r := replay(t, "ultimate", 3, 3, 0, "B2").Report(); r.Lines != nil || r.Black != nil || r.Margin != nil || r.Result != nil || r.ToPlay == nil || *r.ToPlay != "white" {
		t.Errorf("%+v", r)
	}
}
