// How a record or a diagram looks.

/** Whether a text looks like one: it begins so, or has a whole line of board signs. */
export const looksDrawn = (text) => /^\s*(?:\(;|\$\$)/.test(text) || /^[ |]*(?:[.,+#@XO] ?){4,}(?:\/[.,+#@XO /]*)?\|? *$/m.test(text);
