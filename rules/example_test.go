package rules_test

import (
	"fmt"

	"github.com/halfpoint-go/halfpoint/rules"
)

func Example() {
	g, err := rules.New(&rules.TwoButton, rules.Setup{W: 3, H: 3, Komi: rules.Half})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, words := range []string{"B place B2", "W pass", "B pass", "B agree", "W agree"} {
		t, err := rules.ParseTurn(words, 3, 3)
		if err != nil {
			fmt.Println(err)
			return
		}
		if g, err = g.Play(t); err != nil {
			fmt.Println(err)
			return
		}
	}
	for _, e := range g.Entries() {
		fmt.Printf("%d. %v %+d %v: %s\n", e.Move, e.Player, e.N, e.Thing, e.Why)
	}
	fmt.Println(g.Result())
	// Output:
	// 2. Black +1 pass-stone: a pass gives your opponent a pass stone
	// 2. White +1 button: the first player to pass gets a button
	// 3. White +1 pass-stone: a pass gives your opponent a pass stone
	// 3. Black +1 button: the last player to pass gets a button
	// B+7.5
}

func ExampleRuleset_Book() {
	fmt.Print(rules.TrompTaylor.Book())
	// Output:
	// Tromp–Taylor (tromp-taylor@1)
	// The Logical Rules of Go, John Tromp and Bill Taylor, https://tromp.github.io/go.html
	//
	// Turns
	//   - Black moves first; with handicap stones, White does
	//   - the players alternate
	//
	// Placing a stone
	//   - only if the point is empty
	//   - the player places a stone on it
	//   - opponent stones without a liberty become prisoners
	//   - the player's own stones without a liberty become the opponent's prisoners
	//   - only if the position has not occurred before
	//
	// Passing
	//   - a pass is free
	//   - when both players have just passed, play stops
	//
	// Resigning
	//   - the opponent wins
	//
	// The count
	//   - a stone on the board is worth 1
	//   - an empty point that reaches only one colour is worth 1 to that colour
	//   - White gets N − 1 points for N handicap stones
	//   - White gets the komi
	//
	// What stands on the board at the end is alive: capture before you stop.
	//
	// Komi 7½ unless the players agree on another.
}
