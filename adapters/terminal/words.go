package terminal

// What the terminal itself says. Each text is the key of its translations.
const (
	wordWelcome   = "You play both colours. Begin with {/new rules:two-button size:9x9}. {/help} lists the commands, quit ends."
	wordNoCommand = "A command begins with /, for example {/help}."
)
