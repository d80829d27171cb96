"""Documents as models see them: words, marks, mentions, pairs, questions."""
