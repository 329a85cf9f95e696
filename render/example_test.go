package render_test

import (
	"fmt"
	"io"

	"github.com/halfpoint-go/halfpoint/render"
	"github.com/halfpoint-go/halfpoint/rules"
)

func Example() {
	game, _ := rules.Replay(&rules.AGA, rules.Setup{W: 5, H: 5, Komi: 15}, []rules.Turn{
		{Kind: rules.Place, By: rules.Black, At: rules.Point{X: 2, Y: 2}},
		{Kind: rules.Pass, By: rules.White},
	})
	scene := render.Of(game, render.Names{Black: "Aoi", White: "Marten"})
	fmt.Println(render.Text(scene))
	fmt.Println(render.PNG(io.Discard, scene, render.Options{}))
	// Output:
	// Move 2: White passes. Black to play. Aoi (Black), Marten (White). A pass gives your opponent a pass stone. One more pass stops play. Pass stones: Black 1 (+1), White 0. Komi: White 7½.
	// X Black, O White
	//    A B C D E
	//  5 . . . . .
	//  4 . . . . .
	//  3 . . X . .
	//  2 . . . . .
	//  1 . . . . .
	// <nil>
}

func ExampleTextBoard() {
	game, _ := rules.Replay(&rules.AGA, rules.Setup{W: 5, H: 3, Komi: 15}, []rules.Turn{
		{Kind: rules.Place, By: rules.Black, At: rules.Point{X: 2, Y: 1}},
	})
	fmt.Println(render.TextBoard(render.Of(game, render.Names{})))
	// Output:
	// X Black, O White
	//    A B C D E
	//  3 . . . . .
	//  2 . . X . .
	//  1 . . . . .
}
