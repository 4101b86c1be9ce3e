"""Functions for jobs of the tests, which processes and workers import by name."""

import os
import signal
import time

from grandag.parameters import ParameterError
from grandag.writing import write_text


def add(job, shared):
    """The job, plus the sum of what jobs share."""
    return job + (0 if shared is None else float(shared.sum()))


def kind_of(_, shared):
    """How the shared array is held, and whether it could be changed."""
    return type(shared).__name__, shared.flags.writeable


def threads(*_):
    """The number of threads that each numerical library would use."""
    import numpy as np
    from threadpoolctl import threadpool_info

    assert np.ones(2) @ np.ones(2) == 2
    return [library["num_threads"] for library in threadpool_info()]


def wait_for_ever(*_):
    """Until somebody kills the process."""
    while True:
        time.sleep(60)


def say_and_wait(file):
    """Until somebody kills the process, whose number is in the file as soon as there is one."""
    write_text(file, str(os.getpid()))
    wait_for_ever()


class OddError(Exception):
    """Cannot be made again from its arguments."""

    def __init__(self, first, second):
        super().__init__(f"{first} {second}")


def misbehave(job, _):
    """What a job does that is no number."""
    if job == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if job == "is wrong":
        raise ParameterError("size", "must be smaller.")
    if job == "is odd":
        raise OddError("Very", "odd.")
    print("something else", flush=True)
    return job
