"""The playground: agents as WebAssembly in one page, on maps that Python has never seen.

`samples` reads how Python lays out an agent's memory, `recipes` turns that into formulas, `engine` packs machine code
and recipes into one file, and `page` writes the page. The page itself is in ``playground/``, in TypeScript.
"""
