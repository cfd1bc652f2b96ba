"""Control: how deep an agent looks before a move, and towards which goal, each a value that it is handed."""
