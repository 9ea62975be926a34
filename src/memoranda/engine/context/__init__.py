"""From ranked hits to a prompt: what fits the budget, rendered for a format and labelled as data."""
