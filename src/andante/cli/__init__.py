"""The command line: one file per command, imported only when the command is called, and files that commands share."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from andante.errors import AndanteError, did_you_mean, shortened

#: Commands with one line of help, in the order of `andante --help`.
VERBS = {
    "solve": "Solve one problem with one algorithm.",
    "compare": "Compare algorithms on the problems of one map.",
    "crowd": "Run many units on one map under one budget, and measure them.",
    "play": "Write and open the playground: a page in which agents walk on a map that you draw.",
    "advise": "Find the agent to use on your maps, under your limits.",
    "algorithms": "List the algorithms and their parameters.",
    "maps": "List, show, generate and fetch maps.",
    "build": "Build databases for maps, for agents that look things up.",
    "export": "Write agents as a C library or as WebAssembly, for games in other languages.",
    "databases": "List the kinds of databases, and show the contents of a file.",
    "campaign": "Run, resume and report campaigns of experiments.",
    "store": "Check, merge and export stores of results.",
    "choose": "Show what choosing an algorithm per map or per problem gains.",
    "study": "Rerun a paper's experiments and compare its numbers with ours.",
    "warmup": "Compile all kernels now, so that later commands start faster.",
    "demo": "Compare the agents on a generated map, run a crowd on it, and write a page.",
}

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

_UsageError: Any = typer.BadParameter.__bases__[0]  # Typer does not export it


class _Verbs(TyperGroup):
    """A group that imports a command's file when it is called, so that `andante --help` and bad calls are quick."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        return list(VERBS)

    def get_command(self, ctx: typer.Context, cmd_name: str):  # type: ignore[no-untyped-def, override]
        if cmd_name not in VERBS:
            return None
        command = typer.main.get_command(import_module(f"andante.cli.{cmd_name}").app)
        command.name = cmd_name
        _reflow(command)
        command.short_help = VERBS[cmd_name]
        return command

    def resolve_command(self, ctx: typer.Context, args: list[str]) -> Any:  # type: ignore[override]
        if args and args[0] not in VERBS:
            raise _UsageError(f"There is no command {args[0]!r}; {did_you_mean(args[0], VERBS)}", ctx)
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        with _short_usage_errors():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        with _short_usage_errors():
            return super().invoke(ctx)


def _reflow(command: Any) -> None:
    """Join the lines of each paragraph of a command's help, so that the terminal wraps them."""
    if command.help:
        command.help = re.sub(r"(?<!\n)\n(?!\n)", " ", command.help)
    for inner in getattr(command, "commands", {}).values():
        _reflow(inner)


@contextmanager
def _short_usage_errors() -> Iterator[None]:
    """Shorten the arguments that Typer quotes in its error messages so that they fit on a screen."""
    try:
        yield
    except _UsageError as error:
        error.message = shortened(error.message)
        raise


app = typer.Typer(cls=_Verbs, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)
def andante(
    version: bool = typer.Option(False, "--version", help="Print the version and stop.", is_eager=True),
) -> None:
    """Andante: plan an agent's next move in bounded time, however large the map."""
    if version:
        from andante import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line, and print expected errors as one sentence."""
    try:
        app(prog_name="andante")
    except AndanteError as error:
        typer.echo(f"andante: {error}", err=True)
        sys.exit(FAILED)
    except KeyboardInterrupt:
        typer.echo("andante: interrupted", err=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # the program that read our output has ended
        sys.stderr.close()
        sys.exit(OK)
    except OSError as error:  # a file or folder that no other code handles
        where = f"{error.filename}: " if error.filename is not None else ""
        typer.echo(f"andante: {shortened(f'{where}{error.strerror or error}')}", err=True)
        sys.exit(FAILED)
    except MemoryError:
        typer.echo("andante: there is not enough memory for this; try a smaller map or fewer problems", err=True)
        sys.exit(FAILED)
