package terminal

// Texts of the terminal. Each text is the key of its translations.
const (
	wordWelcome      = "You play both colours: X is Black, O is White. Begin with {/new rules:two-button size:9x9}, then type points such as E5. {/help} lists the commands, quit ends."
	wordNoModerators = "That is for moderators, and a terminal has none."
	wordNoCommand    = "A command follows the slash: {/help} lists them."
)
