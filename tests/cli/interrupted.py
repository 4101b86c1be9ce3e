"""The command line with a Ctrl-C at a defined moment: `python -m tests.cli.interrupted MOMENT NUMBER ARGUMENTS ...`.

The moment is when a module is imported for the first time (`import:numba`), when numba begins to compile something
(`compile`), or when a function of the library is called (`call:grandag.resampling:attach`); the number says which time.
"""

import functools
import importlib
import os
import signal
import sys


def press() -> None:
    """Ctrl-C reaches the whole group, which is this process and what it started."""
    os.killpg(0, signal.SIGINT)


class Countdown:
    def __init__(self, number: int) -> None:
        self.left = number

    def __call__(self) -> None:
        self.left -= 1
        if self.left == 0:
            press()


def at_import(module: str, count: Countdown) -> None:
    def hook(event, arguments):
        if event == "import" and arguments[0] == module:
            count()

    sys.addaudithook(hook)


def at_compilation(count: Countdown) -> None:
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, event):
            count()

        def on_end(self, event):
            pass

    event.register("numba:compile", Listener())


def at_call(place: str, count: Countdown) -> None:
    module, _, name = place.partition(":")
    holder = importlib.import_module(module)
    *path, last = name.split(".")
    holder = functools.reduce(getattr, path, holder)
    function = getattr(holder, last)

    @functools.wraps(function)
    def counted(*arguments, **options):
        count()
        return function(*arguments, **options)

    setattr(holder, last, counted)


def main() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # children of scripts may ignore it
    moment, number, *arguments = sys.argv[1:]
    kind, _, what = moment.partition(":")
    count = Countdown(int(number))
    if kind == "import":
        at_import(what, count)
    elif kind == "compile":
        at_compilation(count)
    else:
        at_call(what, count)
    sys.argv = ["grandag", *arguments]
    from grandag.cli import main as command

    command()


if __name__ == "__main__":
    main()
