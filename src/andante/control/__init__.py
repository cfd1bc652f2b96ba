"""Control of an agent: the depth of its search before a move, and the goal of the move."""
