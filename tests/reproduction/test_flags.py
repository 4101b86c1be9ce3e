"""The flags of the paper's tables, against the paper's own figures."""

import math

import pytest

from grandag.reproduction.flags import convergence_flag, improvement_flag


def having(mean, deviation):
    """Values of this mean and standard deviation."""
    return (mean - deviation / math.sqrt(2), mean + deviation / math.sqrt(2))


@pytest.mark.parametrize(
    ("default", "tuned", "flag"),
    [  # cells of the paper: tables 10nodes, 20nodes, 100nodes and sachs, with those of the same names and _hp
        ((21.8, 8.9), (9.7, 8.0), "++"),  # GraN-DAG, 10 nodes ER4, SID
        ((265.4, 64.2), (210.6, 51.9), "++"),  # GraN-DAG, 100 nodes SF1, SID: by the tuned runs' deviation only
        ((152.3, 48.0), (111.5, 25.3), "++"),  # CAM, SynTReN, SID: the same
        ((1.7, 2.5), (1.0, 1.6), "+"),  # GraN-DAG, 10 nodes ER1, SHD
        ((1.1, 1.1), (3.0, 4.2), "-"),  # CAM, 10 nodes ER1, SHD: by the tuned runs' deviation only
        ((41.0, 11.9), (64.3, 29.3), "-"),  # CAM, 20 nodes ER4, SHD: the same
        ((12.2, 2.9), (26.7, 6.9), "--"),  # NOTEARS, 10 nodes ER1, SHD
    ],
)
def test_flags_of_improvement(default, tuned, flag):
    assert improvement_flag(having(*default), having(*tuned)) == flag
    mirrored = [[-value for value in having(*figure)] for figure in (default, tuned)]
    assert improvement_flag(*mirrored, lower_is_better=False) == flag


@pytest.mark.parametrize(("default", "tuned", "flag"), [(13.0, 12.0, "+"), (47.0, 48.0, "-"), (9.0, 9.0, "")])
def test_flags_of_single_values(default, tuned, flag):
    """Sachs: SHD and SID of GraN-DAG, SHD-C of CAM."""
    assert improvement_flag([default], [tuned]) == flag


@pytest.mark.parametrize(
    ("n", "flag"), [(0, "***"), (9.9, "***"), (10, "**"), (24.9, "**"), (25, "*"), (44.9, "*"), (45, ""), (50, "")]
)
def test_flags_of_convergence(n, flag):
    assert convergence_flag(n) == flag
    assert convergence_flag(n / 5, trials=10) == flag
