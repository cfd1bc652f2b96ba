"""Messages for authors of kernels that do not compile, or fail as plain Python: the line, and what is wrong there.

Numba repeats an error in a kernel for every kernel that calls it, up to the loop, and describes it in terms of its
internals. This module keeps the chain of kernels that failed, and turns it into one sentence.
"""

from __future__ import annotations

import dis
import linecache
import re
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple, get_type_hints

from numba.core import types
from numba.core.errors import NumbaError, TypingError

from andante.errors import AlgorithmError

DEBUG = "andante.check_algorithm(name, debug=True) runs it as plain Python"  # if only Numba's words explain it
LONGEST = 300  # characters of Numba's message that are shown

_ALLOCATES = (
    "it makes a new array, list, dict or string, but kernels cannot allocate; keep arrays in a bundle of Memory, made "
    "once by its 'allocate'"
)
_NO_CALL = (
    "kernels cannot call {call}; they can use numbers, arrays, bundles, other kernels, and the functions of "
    "math and NumPy for single numbers"
)

_KNOWN = "kernels can use numbers, arrays, bundles and other kernels"

#: Patterns of Numba's messages, and what each means for a kernel.
_MEANINGS = (
    (r"NRT required|Only accept returning of array passed|requires the NRT", _ALLOCATES),
    (
        r"Cannot modify readonly array",
        "it writes into a graph or database, which all agents share; an agent writes only into its own Memory",
    ),
    (r"NameError: (name '\w+' is not defined)", r"\1; a kernel can use its arguments and the names of its module"),
    (
        r"Unknown attribute '(\w+)' of type (.+)",
        r"\2 has no field or method '\1' that kernels can use; they can use fields of bundles, numbers and arrays",
    ),
    (
        r"Cannot bind|missing a required argument|too many (?:positional )?arguments|got an unexpected keyword",
        "a function is called with the wrong number or names of arguments",
    ),
    (r"No implementation of function .*", _NO_CALL),
    (
        r"Can't unify return type from the following types: (.*)",
        r"its returns have different types: \1; all must return the same type",
    ),
    (r"Cannot unify (.+) for '([\w.$]+?)(?:\.\d+)?', defined at .*", r"'\2' has two types here, \1; give it one type"),
    (
        r"Untyped global name '(\w+)':? *Cannot determine Numba type of <class 'function'>",
        r"'\1' is plain Python, and kernels can only call kernels; decorate it with @kernel too",
    ),
    (r"Untyped global name '(\w+)':? *Cannot determine Numba type of <class '([\w.]+)'>", rf"'\1' is a \2; {_KNOWN}"),
    (r"compiler re-entrant", "it calls itself, which a kernel that others call cannot do"),
    (r"unsupported opcode \(IMPORT_NAME\)", "it imports something; do that at the top of the file"),
    (r"[Uu]nsupported.*|not supported", r"{said}; kernels can use plain loops, conditions and arithmetic"),
    (r"must always return", r"{said}"),
)


class Blame(NamedTuple):
    """A kernel that did not compile, and the called kernel that is the reason, if any."""

    function: FunctionType
    text: str  # Numba's message about it
    line: int
    below: Blame | None

    @property
    def said(self) -> str:
        """The reason in Numba's words: the first line that is not about its compilation steps."""
        lines = (line.strip() for line in re.sub(r"\.*\s*Raised from .*", "", self.text).splitlines())
        return next((line for line in lines if line and not line.startswith("Failed in ")), "it does not compile")


_last = threading.local()


def blame(function: FunctionType, error: Exception) -> Blame:
    """Record that this kernel did not compile; the one that failed just before is the reason if Numba says the same.

    Numba raises a new error at each kernel up to the first caller, but does not catch other exceptions.
    """
    known: Blame | None = getattr(error, "blame", None)  # Numba raises the same error again when a call is repeated
    if known is None:
        text, below = str(error), getattr(_last, "blame", None)
        reason = below if below is not None and below.said in text else None
        known = Blame(function, text, _line(function, error, text), reason)
    elif not isinstance(error, NumbaError) and known.function.__code__ is not function.__code__:
        known = Blame(function, known.text, _line(function, error, known.text), known)
    error.blame = known  # type: ignore[attr-defined]
    _last.blame = known
    return known


def begin() -> None:
    """Forget earlier failures: a kernel is about to be compiled for Python."""
    _last.blame = None


def explained(function: FunctionType, error: Exception) -> AlgorithmError:
    """Return an error that says in one sentence why a kernel called from Python does not compile."""
    chain, link = [], blame(function, error)
    while link.below is not None:
        chain.append(link)
        link = link.below
    chain.append(link)
    while len(chain) > 1 and chain[0].function.__name__ != chain[0].function.__code__.co_name:
        chain = chain[1:]  # a loop instantiated for the kernel below it, or the entry of a bound one
    places = [Place(one.function.__code__.co_filename, one.line, one.function.__name__) for one in chain]
    return AlgorithmError(f"{_where(places, 'does not compile')}{_meaning(chain[-1])}")


def has_passed(kernel: Callable[..., Any], error: Exception) -> bool:
    """Return whether an exception was raised in the kernel's own file, or in code called from there."""
    file = getattr(kernel, "py_func", kernel).__code__.co_filename
    return any(_is_copy(one.filename, file) for one in traceback.extract_tb(error.__traceback__))


def _is_copy(file: str, other: str) -> bool:
    """Return whether these are the same file, or copies: cached machine code names the file it was compiled from."""
    return Path(file).parts[-2:] == Path(other).parts[-2:]


def raised(kernel: Callable[..., Any], error: Exception) -> AlgorithmError:
    """Return an error that describes an exception in a kernel, or in one that it called, in one sentence."""
    code = getattr(kernel, "py_func", kernel).__code__
    frames = traceback.extract_tb(error.__traceback__)
    files = [code.co_filename if _is_copy(one.filename, code.co_filename) else one.filename for one in frames]
    stack = [Place(file, one.lineno or 0, one.name) for file, one in zip(files, frames, strict=True)]
    own = [i for i, one in enumerate(stack) if one.file == code.co_filename]
    first = next((i for i in own if stack[i].function == code.co_name), own[0] if own else 0)
    return AlgorithmError(f"{_where(stack[first:], 'fails')}{type(error).__name__}: {error}")


class Place(NamedTuple):
    """A line of a kernel."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}, in {self.function}: '{linecache.getline(self.file, self.line).strip()}'"


def _where(places: Sequence[Place], what: str) -> str:
    """Return the innermost line in the first kernel's file, which is the author's, and the place that failed."""
    own = next(one for one in reversed(places) if one.file == places[0].file)
    return f"{own} {what}: " + ("" if own is places[-1] else f"in {places[-1]}, ")


def _meaning(worst: Blame) -> str:
    for pattern, meaning in _MEANINGS:
        found = re.search(pattern, worst.text)
        if found is not None:
            call = re.search(r">>> (.+)", worst.text)
            words = found.expand(meaning) if "\\" in meaning else meaning
            words = words.replace("{call}", call.group(1) if call else "this").replace("{said}", worst.said)
            return _shortened(words, bundles="unify" not in pattern)
    return f"{_shortened(worst.said)}; {DEBUG}"


def _shortened(text: str, bundles: bool = True) -> str:
    """Return a text with types as authors know them: arrays by contents and, with ``bundles``, bundles by name."""
    text = re.sub(r"(?:readonly )?array\((\w+), (\d)d, \w\)", r"array of \1", text)
    text = re.sub(r"Literal\[(\w+)\]\([^()]*\)", r"\1", text)
    text = re.sub(r"(?:type\()?(?:CPUDispatcher|Function)\(<(?:built-in )?\w+ '?([\w.]+)'?[^>]*>\)+", r"\1", text)
    before = "" if bundles else text
    while before != text:
        before, text = text, re.sub(r"\b([A-Z]\w*)\([^()]*\)(?: x \d+)?", r"\1", text)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def _line(function: FunctionType, error: Exception, text: str) -> int:
    """Return the line of this kernel that Numba complains about, or its first line."""
    code = function.__code__
    if not isinstance(error, NumbaError):
        return _line_at_work(code, error)
    at = getattr(error, "loc", None)
    if at is not None and at.filename == code.co_filename:
        return int(at.line)
    found = re.findall(rf"at {re.escape(code.co_filename)} \((\d+)\)", text)
    if found:
        return int(found[-1])
    returns = re.findall(r'^Return of: .*\n?File ".*", line (\d+):', text, re.MULTILINE)
    return max(map(int, returns), default=code.co_firstlineno)  # Numba lists them in any order


def _line_at_work(code: CodeType, error: Exception) -> int:
    """Return the line of this kernel that Numba was compiling when an exception that is not Numba's was raised."""
    lines = {line for _, _, line in code.co_lines() if line is not None}
    found = code.co_firstlineno
    for frame, _ in traceback.walk_tb(error.__traceback__):
        at: Any = getattr(frame.f_locals.get("self"), "loc", None)
        instruction: Any = frame.f_locals.get("current_inst", frame.f_locals.get("inst"))
        if getattr(at, "filename", None) == code.co_filename and at.line in lines:
            found = int(at.line)
        elif getattr(instruction, "lineno", None) in lines:
            found = int(instruction.lineno)
    return found


# --- what a kernel returns ------------------------------------------------------------------------------------------


def check_return(function: FunctionType, promised: type[tuple[Any, ...]], returned: Any) -> None:
    """Raise, as Numba would, if a kernel does not return the bundle that its caller expects."""
    fault = _fault(promised, returned)
    if fault is None:
        return
    fields = ", ".join(f"{name}: {hint.__name__}" for name, hint in get_type_hints(promised).items())
    error = TypingError(f"{fault}; {function.__name__} must always return {promised.__name__} with {fields}")
    lines = list(_return_lines(function.__code__, nothing=fault == _NOTHING))
    error.blame = Blame(function, str(error), lines[-1] if lines else function.__code__.co_firstlineno, None)
    raise error


_NOTHING = "it may end without returning anything"


def _fault(promised: type[tuple[Any, ...]], returned: Any) -> str | None:
    if isinstance(returned, types.Optional | types.NoneType):
        return _NOTHING
    if getattr(returned, "instance_class", None) is not promised:
        return f"it returns {returned}"
    for (name, hint), given in zip(get_type_hints(promised).items(), returned.types, strict=True):
        if not isinstance(given, types.Integer if hint is int else types.Integer | types.Float):
            return f"the {name} it returns is {given} where {hint.__name__} is needed"
    return None


def _return_lines(code: CodeType, nothing: bool) -> Iterator[int]:
    """Yield the lines from which a function returns; with ``nothing``, only those that return None."""
    for before, one in pairwise(dis.get_instructions(code)):
        if not one.opname.startswith("RETURN_") or one.positions is None or one.positions.lineno is None:
            continue
        constant = one if one.opname == "RETURN_CONST" else before
        if not nothing or (constant.opname in ("RETURN_CONST", "LOAD_CONST") and constant.argval is None):
            yield one.positions.lineno
