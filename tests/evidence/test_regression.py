"""The evidence and its gradient against scikit-learn in float64, and against finite differences."""

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Kernel, WhiteKernel

from grandag.blas import one_blas_thread
from grandag.evidence.optimiser import maximise
from grandag.evidence.regression import block_evidence, dense, low_rank, new_workspace


@pytest.fixture(autouse=True)
def _one_blas_thread():
    with one_blas_thread():
        yield


class OneInput(RBF):
    """scikit-learn's squared exponential of one of several inputs."""

    def __init__(self, length_scale=1.0, column=0):
        super().__init__(length_scale, "fixed")
        self.column = column

    def __call__(self, X, Y=None, eval_gradient=False):
        return super().__call__(X[:, [self.column]], None if Y is None else Y[:, [self.column]])


def their_kernel(n_inputs: int, log_parameters: np.ndarray) -> Kernel:
    """The same kernel of scikit-learn's, with noise."""
    scales, (interaction, additive, noise) = np.exp(log_parameters[:-3]), np.exp(log_parameters[-3:])
    kernel: Kernel = ConstantKernel(interaction) * RBF(scales)
    for i in range(n_inputs):
        kernel += ConstantKernel(additive) * OneInput(scales[i], i)
    return kernel + WhiteKernel(noise)


def their_evidence(inputs: np.ndarray, target: np.ndarray, log_parameters: np.ndarray) -> float:
    """scikit-learn's log marginal likelihood with the same kernel."""
    process = GaussianProcessRegressor(their_kernel(len(inputs), log_parameters), optimizer=None, alpha=0.0)
    return process.fit(inputs.T.astype(float), target.astype(float)).log_marginal_likelihood_value_


def problem(n_inputs: int, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs, a standardised target and hyper-parameters near the best ones."""
    rng = np.random.default_rng(seed)
    inputs = rng.normal(size=(n_inputs, n)).astype(np.float32)
    target = np.sin(inputs.sum(axis=0)) + 0.3 * rng.normal(size=n)
    target = ((target - target.mean()) / target.std()).astype(np.float32)
    return inputs, target, np.log([*np.linspace(1, 2, n_inputs), 0.8, 0.1, 0.1])


def slopes(inputs: np.ndarray, target: np.ndarray, log_parameters: np.ndarray) -> np.ndarray:
    """Central differences of scikit-learn's value."""
    steps = 1e-4 * np.eye(len(log_parameters))
    return np.array(
        [
            (their_evidence(inputs, target, log_parameters + s) - their_evidence(inputs, target, log_parameters - s))
            / 2e-4
            for s in steps
        ]
    )


@pytest.mark.parametrize(("n_inputs", "n"), [(1, 3), (1, 200), (3, 150), (5, 301)])
def test_dense_evidence_and_gradient_are_scikit_learns(n_inputs, n):
    inputs, target, log_parameters = problem(n_inputs, n)
    value, gradient = dense(inputs, target, log_parameters, new_workspace(n), True)
    assert value == pytest.approx(their_evidence(inputs, target, log_parameters), abs=0.02)
    np.testing.assert_allclose(gradient, slopes(inputs, target, log_parameters), rtol=1e-3, atol=0.02)


def test_little_noise_is_no_harm():
    """A factorisation in float32 errs by half a nat and more here."""
    inputs, _, log_parameters = problem(3, 600)
    log_parameters[-3:] = np.log([10.0, 1.0, 0.003])
    process = GaussianProcessRegressor(their_kernel(3, log_parameters), optimizer=None)
    for seed in range(3):
        target = process.sample_y(inputs.T.astype(float), random_state=seed)[:, 0].astype(np.float32)
        value, _ = dense(inputs, target, log_parameters, new_workspace(600), False)
        assert value == pytest.approx(their_evidence(inputs, target, log_parameters), abs=0.1)


@pytest.mark.parametrize(("n_inputs", "n"), [(1, 300), (2, 400)])
def test_low_rank_evidence_and_gradient_are_scikit_learns(n_inputs, n):
    inputs, target, log_parameters = problem(n_inputs, n)
    log_parameters[1:-3] = np.log(4.0)
    is_exact, value, gradient = low_rank(inputs, target, log_parameters, True)
    assert is_exact
    assert value == pytest.approx(their_evidence(inputs, target, log_parameters), abs=0.02)
    np.testing.assert_allclose(gradient, slopes(inputs, target, log_parameters), rtol=2e-3, atol=0.05)


def test_low_rank_gives_up_where_it_would_not_be_exact():
    inputs, target, log_parameters = problem(5, 200)
    assert not low_rank(inputs, target, log_parameters, True)[0]


def test_blocks_add_up():
    inputs, target, log_parameters = problem(4, 500)
    workspace = new_workspace(250)
    value, gradient = block_evidence(inputs, target, log_parameters, 2, workspace, True)
    halves = [
        dense(inputs[:, rows].copy(), target[rows], log_parameters, workspace, True)
        for rows in (slice(0, 250), slice(250, 500))
    ]
    assert value == pytest.approx(sum(half[0] for half in halves))
    np.testing.assert_allclose(gradient, sum(half[1] for half in halves))


def test_far_inputs_cost_no_more_time_or_accuracy():
    """Products of tiny covariances must not leave float32's range."""
    inputs, target, log_parameters = problem(8, 120)
    inputs *= 30
    value, gradient = dense(inputs, target, log_parameters, new_workspace(120), True)
    assert value == pytest.approx(their_evidence(inputs, target, log_parameters), abs=0.02)
    assert np.isfinite(gradient).all()


def test_maximum_has_no_slope_inside_the_bounds():
    inputs, target, start = problem(3, 200)
    lower, upper = np.log([0.3] * 3 + [1e-5, 1e-5, 0.04]), np.log([50.0] * 3 + [100.0, 100.0, 2.0])
    hessian = np.diag([0.02, 0.02, 0.02, 0.03, 0.2, 0.02])
    at, value, _ = maximise(inputs, target, start, lower, upper, hessian, 1, new_workspace(200), 1e-4, 200, -np.inf)
    _, gradient = dense(inputs, target, at, new_workspace(200), True)
    inside = (at > lower + 1e-6) & (at < upper - 1e-6)
    assert inside.sum() >= 4
    assert np.abs(gradient[inside]).max() < 0.1
    assert value > dense(inputs, target, start, new_workspace(200), True)[0]
    assert ((at >= lower) & (at <= upper)).all()


def test_a_fit_is_given_up_only_if_what_is_wanted_is_far_out_of_reach():
    inputs, target, start = problem(3, 200)
    lower, upper = np.log([0.3] * 3 + [1e-5, 1e-5, 0.04]), np.log([50.0] * 3 + [100.0, 100.0, 2.0])

    def fitted(wanted):
        hessian = np.diag([0.02, 0.02, 0.02, 0.03, 0.2, 0.02])
        return maximise(inputs, target, start, lower, upper, hessian, 1, new_workspace(200), 1e-4, 200, wanted)

    _, best, n_evaluations = fitted(-np.inf)
    assert fitted(best - 0.5)[1:] == (best, n_evaluations)
    _, value, n_tried = fitted(best + 1000)
    assert value == -np.inf
    assert n_tried < n_evaluations
