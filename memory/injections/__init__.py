"""The injection log: what entered each prompt, in which words, and what was left out; proof against rewriting."""
