"""Control: how deep an agent searches before a move, and towards which goal; both are values passed to it."""
