# SPDX-License-Identifier: Apache-2.0
"""Operators of `sonde.maxwell` on NumPy arrays: records, derivatives, observers."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.special

import sonde
from sonde import maxwell

EPS0, MU0 = 8.8541878128e-12, 1.25663706212e-6
NT, SHAPE = 60, (18, 22)


def medium(shape=SHAPE, seed=1):
    """Heterogeneous and lossy, up to every edge."""
    numbers = np.random.default_rng(seed)
    return maxwell.EMModel(numbers.uniform(3, 6, shape), numbers.uniform(0, 0.02, shape), numbers.uniform(1, 1.3, shape))


def operator(dtype=None, storage=None, observers=None, nt=NT, dt=6e-11, **discretization):
    """Two shots of two sources, receivers on nodes and between them, unequal spacing and layers, one side without any."""
    settings = {"order": 4, "boundary": maxwell.CPML((4, 6, 0, 5)), "dtype": dtype, **discretization}
    grid = maxwell.Discretization((0.02, 0.03), dt, **settings)
    sources = np.array([[[3.0, 4.0], [5.3, 6.2]], [[12.0, 15.0], [9.1, 3.7]]])
    receivers = np.array([[[4.0, 17.0], [8.5, 12.5], [15.2, 9.9]]] * 2)
    amplitude = np.random.default_rng(5).normal(size=(2, 2, nt)) * maxwell.ricker(6e8, nt, dt)
    experiment = maxwell.Experiment(maxwell.Acquisition(sources, receivers), amplitude, source_component=("Ey", "Hx"),
                                    receiver_component=("Ey", "Hx", "Hz"), f0=6e8)
    return maxwell.MaxwellTM(grid, experiment, storage=storage, observers=observers)


def direction(shape=SHAPE, seed=7):
    numbers = np.random.default_rng(seed)
    return maxwell.EMDirection(numbers.normal(size=shape), 0.01 * numbers.normal(size=shape), 0.1 * numbers.normal(size=shape))


def along(gradient, change):
    """<gradient, change> over all parameters that both have."""
    return sum(np.vdot(g, np.asarray(getattr(change, name))) for name, g in gradient._asdict().items() if g is not None)


def random_like(data, seed=3):
    """Of the size of each receiver's records: H is some hundred times smaller than E."""
    return np.random.default_rng(seed).normal(size=data.shape) / np.abs(data).max(axis=(0, 1))


def test_a_line_source_radiates_the_hankel_function():
    f0, eps_r, sigma, d = 500e6, 4.0, 0.005, 0.01
    dt, nt, t0 = 3e-11, 420, 2.4e-9
    survey = maxwell.Acquisition(np.array([[[25, 20]]]), np.array([[[25, 80]]]))
    experiment = maxwell.Experiment(survey, maxwell.ricker(f0, nt, dt, t0), f0=f0)
    op = maxwell.MaxwellTM(maxwell.Discretization(d, dt, order=8, time_dispersion="corrected"), experiment)
    found = op(maxwell.EMModel(np.full((50, 100), eps_r), sigma)).receiver_data[:, 0, 0]

    n = 1 << 14  # a long period instead of an integral
    w = 2 * np.pi * np.fft.rfftfreq(n, dt)
    w[0] = w[1] / 10  # the mean of a Ricker wavelet is zero
    u = (np.pi * f0 * (np.arange(n) * dt - t0)) ** 2
    k = w * np.sqrt(MU0 * (EPS0 * eps_r - 1j * sigma / w))
    field = -(w * MU0 / 4) * np.fft.rfft((1 - 2 * u) * np.exp(-u)) * scipy.special.hankel2(0, 60 * d * k)
    expected = np.fft.irfft(field * np.exp(1j * w * dt), n)[:nt]  # sample n of E is at (n + 1) dt
    # The loss is of second order in the step, which the correction leaves: 7e-4 at this step.
    assert np.linalg.norm(found - expected) <= 1e-3 * np.linalg.norm(expected)


@pytest.mark.parametrize("dtype, dt, tolerance", [("f64", 6e-11, 1e-12), ("f64", 1.2e-10, 1e-12), ("f32", 6e-11, 1e-4)])
def test_vjp_is_the_transpose_of_jvp(dtype, dt, tolerance):
    op = operator(dtype, dt=dt)  # the longer one takes two inner steps
    source = np.random.default_rng(9).normal(size=(2, 2, NT))
    d = maxwell.EMDirection(direction().eps_r, direction().sigma, direction().mu_r, source)
    with op.linearize(medium(), wrt=("eps_r", "sigma", "mu_r", "source")) as lin:
        change = lin.jvp(d).astype(np.float64)
        r = random_like(change)
        difference = np.vdot(change, r) - along(lin.vjp(r), d)
    assert abs(difference) <= tolerance * np.linalg.norm(change * np.abs(change).max(axis=(0, 1)) ** -1) * np.linalg.norm(r)


def test_vjp_is_the_transpose_of_jvp_in_three_dimensions():
    shape, nt, dt = (9, 8, 10), 30, 3e-11
    survey = maxwell.Acquisition(np.array([[[4, 3, 2]]]), np.array([[[5.2, 4.4, 7.3], [3, 3, 6]]]))
    experiment = maxwell.Experiment(survey, maxwell.ricker(1.5e9, nt, dt), source_component="Ez", receiver_component=("Ez", "Hx"))
    grid = maxwell.Discretization((0.02, 0.015, 0.02), dt, order=2, boundary=maxwell.CPML((3, 2, 0, 3, 2, 2)))
    d = direction(shape)
    with maxwell.Maxwell3D(grid, experiment).linearize(medium(shape), wrt=("eps_r", "sigma", "mu_r")) as lin:
        change = lin.jvp(d)
        r = random_like(change)
        difference = np.vdot(change, r) - along(lin.vjp(r), d)
    assert abs(difference) <= 1e-12 * np.linalg.norm(change / np.abs(change).max(axis=(0, 1))) * np.linalg.norm(r)


def test_jvp_is_the_change_of_the_records():
    op, m, d, h = operator(), medium(), direction(), 1e-5

    def records(step):
        return op(maxwell.EMModel(m.eps_r + step * d.eps_r, m.sigma + step * 0.1 * d.sigma, m.mu_r + step * d.mu_r)).receiver_data

    change = op.linearize(m).jvp(maxwell.EMDirection(d.eps_r, 0.1 * d.sigma, d.mu_r))
    central = (records(h) - records(-h)) / (2 * h)
    # Central differences of steps h leave h^2 times the third derivative, and rounding over h.
    np.testing.assert_allclose(change, central, rtol=0, atol=1e-8 * np.abs(change).max())


def test_second_vjp_is_the_change_of_the_gradient():
    op, m, d, h = operator(), medium(), direction(), 1e-5
    r = random_like(op(m).receiver_data)

    def gradient(step):
        at = maxwell.EMModel(m.eps_r + step * d.eps_r, m.sigma + step * 0.1 * d.sigma, m.mu_r)
        return op.linearize(at).vjp(r)

    found = op.linearize(m).second_vjp(maxwell.EMDirection(d.eps_r, 0.1 * d.sigma), r)
    for name in ("eps_r", "sigma"):
        central = (getattr(gradient(h), name) - getattr(gradient(-h), name)) / (2 * h)
        np.testing.assert_allclose(getattr(found, name), central, rtol=0, atol=1e-7 * np.abs(central).max())


def test_gauss_newton_is_vjp_of_jvp():
    op, d = operator(), maxwell.EMDirection(direction().eps_r, direction().sigma)
    with op.linearize(medium()) as lin:
        product, twice = lin.gauss_newton(d), lin.vjp(lin.jvp(d))
    assert along(product, d) > 0
    np.testing.assert_allclose(product.eps_r, twice.eps_r, rtol=0, atol=1e-12 * np.abs(twice.eps_r).max())
    np.testing.assert_allclose(product.sigma, twice.sigma, rtol=0, atol=1e-12 * np.abs(twice.sigma).max())


def test_shapes_and_types_follow_the_model():
    op = operator()
    single = maxwell.EMModel(medium().eps_r.astype(np.float32), 0.001)
    with op.linearize(single, wrt=("eps_r", "source")) as lin:
        assert lin.jvp(direction()).shape == (NT, 2, 3)
        gradient = lin.vjp(np.ones((NT, 2, 3)))
        assert lin.primal.receiver_data.dtype == np.float32
    assert gradient.eps_r.shape == SHAPE and gradient.source.shape == (2, 2, NT)
    assert gradient.sigma is None and gradient.mu_r is None
    assert operator()(medium()).receiver_data.dtype == np.float64


def test_a_linearization_stays_at_its_model():
    op, m, d = operator(), medium(), direction()
    lin = op.linearize(m)
    before = lin.jvp(d)
    m.eps_r[:] += 1
    op(maxwell.EMModel(m.eps_r))
    np.testing.assert_array_equal(lin.jvp(d), before)


@pytest.mark.parametrize("mode", ["host", "disk", "recompute"])
def test_where_fields_are_kept_does_not_matter(mode, tmp_path):
    r = np.random.default_rng(3).normal(size=(NT, 2, 3))
    found, usual = (operator(storage=each).linearize(medium()).vjp(r)
                    for each in (maxwell.StorageOptions(mode, path=str(tmp_path)), maxwell.StorageOptions()))
    np.testing.assert_array_equal(found.eps_r, usual.eps_r)
    np.testing.assert_array_equal(found.sigma, usual.sigma)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dtype, most", [("f32", 1e-3), ("f64", 1e-9)])
def test_fields_taken_back_in_time_give_the_gradient(dtype, most):
    r = np.random.default_rng(3).normal(size=(NT, 2, 3))
    found, usual = (operator(dtype, maxwell.StorageOptions(mode)).linearize(medium(), wrt=("eps_r", "sigma", "mu_r")).vjp(r)
                    for mode in ("reconstruct", "host"))
    for name in ("eps_r", "sigma", "mu_r"):
        np.testing.assert_allclose(getattr(found, name), getattr(usual, name), rtol=0, atol=most * np.abs(getattr(usual, name)).max())
    lossy = maxwell.EMModel(medium().eps_r, 0.5)  # S/m
    wrong("reconstruct: backwards in time loss makes rounding grow", "not_supported",
          lambda: operator(dtype, maxwell.StorageOptions("reconstruct")).linearize(lossy).vjp(r))


def cut(op, first, last):
    """The operator of a part of the steps."""
    experiment = op.experiment
    amplitude = experiment.source_amplitude[..., first:last]
    part = maxwell.Experiment(experiment.acquisition, amplitude, source_component=experiment.source_component,
                              receiver_component=experiment.receiver_component, f0=experiment.f0)
    return maxwell.MaxwellTM(op.discretization, part)


def debye_medium():
    numbers = np.random.default_rng(12)
    poles = maxwell.DebyeDispersion(numbers.uniform(1, 4, (2, *SHAPE)), numbers.uniform(2e-11, 5e-10, (2, *SHAPE)))
    return maxwell.EMModel(medium().eps_r, medium().sigma, medium().mu_r, poles)


@pytest.mark.parametrize("m", [medium(), debye_medium()])
def test_runs_joined_by_their_fields_are_one_run(m):
    whole, first, second = operator(), cut(operator(), 0, 25), cut(operator(), 25, NT)
    expected = whole(m, final_state=True)
    early = first(m, final_state=True)
    late = second(m, initial_state=early.final_state, final_state=True)
    np.testing.assert_array_equal(np.concatenate([early.receiver_data, late.receiver_data]), expected.receiver_data)
    for name, field in expected.final_state.items():
        np.testing.assert_array_equal(late.final_state[name], field)


@pytest.mark.parametrize("m", [medium(), debye_medium()])
def test_a_gradient_over_joined_runs_is_that_of_one(m):
    wrt = ("eps_r", "sigma", "mu_r", "source", "initial_state") + (("debye",) if m.debye else ())
    whole, first, second = operator(), cut(operator(), 0, 25), cut(operator(), 25, NT)
    r = random_like(whole(m).receiver_data)
    expected = whole.linearize(m, wrt=wrt).vjp(r)
    middle = first(m, final_state=True).final_state
    late = second.linearize(m, wrt=wrt, initial_state=middle).vjp(r[25:])
    early = first.linearize(m, wrt=wrt).vjp(r[:25], final_state=late.initial_state)

    def near(found, known):
        np.testing.assert_allclose(found, known, rtol=0, atol=1e-12 * np.abs(known).max())  # rounding of what is turned at the joint

    for name in ("eps_r", "sigma", "mu_r"):
        near(getattr(early, name) + getattr(late, name), getattr(expected, name))
    near(np.concatenate([early.source, late.source], axis=2), expected.source)
    if m.debye:
        near(early.debye.delta_epsilon + late.debye.delta_epsilon, expected.debye.delta_epsilon)
        near(early.debye.tau + late.debye.tau, expected.debye.tau)
    for name, by in expected.initial_state.items():
        near(early.initial_state[name], by)


def test_vjp_is_the_transpose_of_jvp_for_poles_and_fields_at_the_start():
    m, numbers = debye_medium(), np.random.default_rng(4)
    op = operator()
    start, middle = (op(m, final_state=True).final_state for _ in range(2))
    change = maxwell.EMDirection(direction().eps_r, debye=maxwell.DebyeDispersion(numbers.normal(size=(2, *SHAPE)),
                                                                                1e-11 * numbers.normal(size=(2, *SHAPE))),
                                 initial_state={name: each * numbers.normal(size=each.shape) for name, each in start.items()})
    end = {name: numbers.normal(size=each.shape) / max(np.abs(each).max(), 1e-30) for name, each in middle.items()}
    with op.linearize(m, wrt=("eps_r", "debye", "initial_state"), initial_state=start) as lin:
        made = lin.jvp_with_state(change)
        np.testing.assert_array_equal(lin.jvp(change), made.receiver_data)
        r = random_like(made.receiver_data)
        g = lin.vjp(r, final_state=end)
    out = [np.vdot(made.receiver_data, r)] + [np.vdot(made.final_state[name], end[name]) for name in end]
    back = [np.vdot(g.eps_r, change.eps_r), np.vdot(g.debye.delta_epsilon, change.debye.delta_epsilon), np.vdot(g.debye.tau, change.debye.tau)]
    back += [np.vdot(g.initial_state[name], change.initial_state[name]) for name in end]
    assert abs(sum(out) - sum(back)) <= 1e-12 * sum(map(abs, out))


def test_second_vjp_by_poles_is_the_change_of_the_gradient():
    op, m, h = operator(), debye_medium(), 1e-5
    numbers = np.random.default_rng(8)
    d = maxwell.DebyeDispersion(numbers.normal(size=(2, *SHAPE)), 1e-11 * numbers.normal(size=(2, *SHAPE)))
    r = random_like(op(m).receiver_data)

    def gradient(step):
        poles = maxwell.DebyeDispersion(m.debye.delta_epsilon + step * d.delta_epsilon, m.debye.tau + step * d.tau)
        return op.linearize(maxwell.EMModel(m.eps_r, m.sigma, m.mu_r, poles), wrt=("eps_r", "debye")).vjp(r)

    made = op.linearize(m, wrt=("eps_r", "debye")).second_vjp(maxwell.EMDirection(debye=d), r)
    plus, minus = gradient(h), gradient(-h)
    for found, a, b in ((made.eps_r, plus.eps_r, minus.eps_r), (made.debye.delta_epsilon, plus.debye.delta_epsilon, minus.debye.delta_epsilon),
                        (made.debye.tau, plus.debye.tau, minus.debye.tau)):
        # Central differences of steps h leave h^2 times the third derivative, and rounding over h.
        np.testing.assert_allclose(found, (a - b) / (2 * h), rtol=0, atol=1e-7 * np.abs(found).max())


def test_an_observer_sees_the_sweep_backwards():
    seen, last = [], {}

    def look(state):
        assert state.is_backward and state.wavefield_names == ["lambda_Ey", "lambda_Hx", "lambda_Hz"]
        field = state.get_wavefield("lambda_Ey", "full")
        assert np.shares_memory(field, state.get_wavefield("lambda_Ey", "full")) and not field.flags.writeable
        seen.append((state.shot, state.step, float(np.abs(field).max())))
        if state.step == 0:
            last[state.shot] = (field.copy(), state.get_gradient("eps_r"), state.get_gradient("sigma", "full"))

    op = operator(observers=maxwell.Observers(backward=look, frequency=20))
    m = medium()
    r = random_like(op(m).receiver_data)
    g = op.linearize(m, wrt=("eps_r", "sigma", "initial_state")).vjp(r)
    assert [each[:2] for each in seen] == [(0, 40), (0, 20), (0, 0), (1, 40), (1, 20), (1, 0)]
    assert all(each[2] > 0 for each in seen)
    np.testing.assert_allclose(last[0][1] + last[1][1], g.eps_r, rtol=1e-12, atol=1e-12 * np.abs(g.eps_r).max())
    assert (last[0][2] + last[1][2]).sum() == pytest.approx(g.sigma.sum(), rel=1e-10)  # copies in the layers count at the edge
    # The derivative by E before the first step, times cb.
    pads = [(4, 6), (0, 5)]
    eps, sigma = (np.pad(each, pads, mode="edge") for each in (m.eps_r, m.sigma))
    cb = 1 / (EPS0 * eps / op.describe()["inner_dt"] + sigma / 2)
    by_field = g.initial_state["Ey"][0]
    np.testing.assert_allclose((last[0][0] / cb)[1:, 1:], by_field[1:, 1:], rtol=1e-10, atol=1e-12 * np.abs(by_field).max())  # without walls


def test_wrong_states_and_looks_are_named():
    op, m = operator(), medium()
    state = op(m, final_state=True).final_state
    wrong('initial_state: no field "Ez"; expected Ey, m_Hx_z, m_Hz_x', "bad_input", lambda: op(m, initial_state={"Ez": state["Ey"]}))
    wrong("initial_state Ey: shape (2, 3)", "bad_input", lambda: op(m, initial_state={"Ey": np.ones((2, 3))}))
    wrong("wrt: debye, and the model has no poles", "usage", lambda: op.linearize(m, wrt="debye"))
    lin = op.linearize(m, wrt="initial_state")
    wrong("initial_state: products of a Hessian leave the fields at the start", "not_supported", lambda: lin.gauss_newton(direction()))
    caught = []

    def look(state):
        for body in (lambda: state.get_gradient("mu_r"), lambda: state.get_wavefield("Ey")):
            with pytest.raises(sonde.Error) as error:
                body()
            caught.append(str(error.value))

    seen = operator(observers=maxwell.Observers(backward=look, frequency=100))
    seen.linearize(m).vjp(np.ones((NT, 2, 3)))
    assert 'no gradient of "mu_r"; expected eps_r, sigma' in caught[0] and "the fields of this run are lambda_Ey" in caught[1]


def test_bf16_costs_some_thousandths_of_the_gradient():
    r = np.random.default_rng(3).normal(size=(NT, 2, 3))
    packed, plain = (operator("f32", maxwell.StorageOptions(compression=each)).linearize(medium()).vjp(r).eps_r for each in ("bf16", False))
    difference = np.linalg.norm(packed - plain) / np.linalg.norm(plain)
    assert 0 < difference <= 4e-3  # 2^-8, the rounding of one stored field


def test_several_models_run_one_after_the_other():
    both = [medium(seed=seed) for seed in (1, 2)]
    models = maxwell.EMModel(np.stack([each.eps_r for each in both]), 0.01, np.stack([each.mu_r for each in both]))
    op = operator(max_velocity=3e8 / np.sqrt(3))
    made = op(models, final_state=True)
    assert made.receiver_data.shape == (NT, 2, 2, 3)
    assert made.final_state["Ey"].shape == (2, 2, 18 + 10, 22 + 5)
    np.testing.assert_array_equal(made.receiver_data[:, 1], op(maxwell.EMModel(both[1].eps_r, 0.01, both[1].mu_r)).receiver_data)


def test_poles_without_strength_change_nothing():
    m = medium()
    debye = maxwell.EMModel(m.eps_r, m.sigma, m.mu_r, maxwell.DebyeDispersion(0.0, 1e-10))
    plain = operator()(m).receiver_data
    np.testing.assert_allclose(operator()(debye).receiver_data, plain, rtol=0, atol=1e-12 * np.abs(plain).max())


def test_poles_far_faster_than_the_wave_are_permittivity():
    m = medium()
    fast = maxwell.EMModel(m.eps_r, m.sigma, m.mu_r, maxwell.DebyeDispersion([1.0, 2.0], 1e-13))
    static = maxwell.EMModel(m.eps_r + 3, m.sigma, m.mu_r)
    found, expected = (operator()(each).receiver_data[:, :, 0] for each in (fast, static))
    # omega tau is 0.005 at 8 GHz, the highest frequency of the sources' noise; most of it is lower.
    assert np.linalg.norm(found - expected) <= 0.01 * np.linalg.norm(expected)


def test_an_observer_sees_the_run_between_its_steps():
    seen = []

    def look(state):
        seen.append((state.shot, state.step))
        assert (state.nt, state.dt, state.is_backward) == (NT, 1.2e-10, False)
        assert state.inner_dt == pytest.approx(state.dt / 2) and state.inner_step == 2 * state.step
        assert state.get_wavefield("Ey").shape == SHAPE
        assert state.get_wavefield("Hx", "full").shape == (28, 27)
        assert state.get_model("eps_r", "pml").shape == (28, 27)
        np.testing.assert_array_equal(state.get_model("sigma"), medium().sigma)

    operator(observers=maxwell.Observers(look, frequency=25), dt=1.2e-10)(medium())
    assert seen == [(shot, step) for shot in (0, 1) for step in (0, 25, 50)]


def test_what_an_observer_writes_is_seen_by_the_next_steps():
    views = []

    def quieten(state):
        for name in state.wavefield_names:
            state.get_wavefield(name, "full")[:] = 0
        views.append(state.get_wavefield("Ey", "full"))

    data = operator(observers=maxwell.Observers(quieten, frequency=NT - 1))(medium()).receiver_data
    late, usual = data[-1, :, 0], operator()(medium()).receiver_data
    assert np.abs(late).max() < 1e-3 * np.abs(usual[:, :, 0]).max()
    np.testing.assert_array_equal(data[: NT - 1], usual[: NT - 1])
    assert np.shares_memory(views[0], views[1])


def test_fields_keep_their_place_while_a_view_is_held():
    views = []
    op = operator(observers=maxwell.Observers(lambda state: views.append(state.get_wavefield("Ey"))))
    data = op(medium()).receiver_data
    held = views[-1].copy()
    op(medium(seed=2))
    np.testing.assert_array_equal(views[NT - 1], held)
    np.testing.assert_array_equal(op(medium()).receiver_data, data)


def test_fields_can_be_neither_replaced_nor_resized():
    kept = []

    def look(state):
        kept.append(state)
        with pytest.raises(ValueError, match="resize"):
            state.get_wavefield("Ey").resize((3, 3))
        with pytest.raises(AttributeError, match="cannot be set"):
            state.get_wavefield = None
        with pytest.raises(ValueError, match="read-only"):
            state.get_model("eps_r")[0, 0] = 1
        with pytest.raises(sonde.Error, match="Ex: the fields of this run are Ey, Hx, Hz"):
            state.get_wavefield("Ex")
        with pytest.raises(sonde.Error, match="no gradient of eps_r in a forward run"):
            state.get_gradient("eps_r")
        with pytest.raises(sonde.Error, match='no parameter "epsilon"; expected eps_r, sigma, mu_r'):
            state.get_model("epsilon")
        with pytest.raises(sonde.Error, match='view = "outer": expected inner, pml or full'):
            state.get_wavefield("Ey", "outer")

    operator(observers=maxwell.Observers(look, frequency=NT))(medium())
    with pytest.raises(sonde.Error, match="the fields are there only during the call"):
        kept[0].get_wavefield("Ey")


def test_an_observer_that_fails_ends_the_run():
    def look(state):
        raise LookupError("seen enough")

    op = operator(observers=maxwell.Observers(look))
    with pytest.raises(LookupError, match="seen enough"):
        op(medium())
    with pytest.raises(LookupError, match="seen enough"):  # and it can be used again
        op(medium())


def test_an_observer_cannot_run_its_own_operator():
    ops = []
    ops.append(operator(observers=maxwell.Observers(lambda state: ops[0](medium()))))
    with pytest.raises(sonde.Error, match="the operator is in use") as caught:
        ops[0](medium())
    assert caught.value.kind == "usage"


def test_operators_of_several_threads_do_not_disturb_each_other():
    seeds = (1, 2, 3, 4)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda seed: operator()(medium(seed=seed)).receiver_data, seeds))
    for seed, data in zip(seeds, found):
        np.testing.assert_array_equal(data, operator()(medium(seed=seed)).receiver_data)


def test_ctrl_c_ends_a_run():
    def press(state):
        if state.step == 0:
            os.kill(os.getpid(), signal.SIGINT)

    steps = []
    op = operator(nt=100000, observers=maxwell.Observers(lambda state: (press(state), steps.append(state.step)), frequency=50))
    with pytest.raises(KeyboardInterrupt):
        op(medium())
    assert len(steps) < 2000


def test_wavelets_are_those_of_the_theory():
    n = np.arange(40)
    p = np.pi * 1e9 * ((n + 0.5) * 1e-10 - 1.5e-9)
    np.testing.assert_allclose(maxwell.ricker(1e9, 40, 1e-10, 1.5e-9), (1 - 2 * p**2) * np.exp(-(p**2)), atol=1e-14)
    np.testing.assert_allclose(maxwell.gaussian(1e9, 40, 1e-10, 1.5e-9), np.exp(-(p**2)), atol=1e-14)
    np.testing.assert_allclose(maxwell.gaussian_derivative(1e9, 40, 1e-10, 1.5e-9), -np.sqrt(2 * np.e) * p * np.exp(-(p**2)), atol=1e-14)
    np.testing.assert_allclose(maxwell.morlet(1e9, 40, 1e-10, 1.5e-9, cycles=2), np.cos(2 * p) * np.exp(-((p / 2) ** 2)), atol=1e-14)
    burst = np.where(np.abs(p) < np.pi * 1.5, np.cos(2 * p) * (1 + np.cos(2 * p / 3)) / 2, 0)
    np.testing.assert_allclose(maxwell.sine_burst(1e9, 40, 1e-10, 1.5e-9), burst, atol=1e-14)
    np.testing.assert_allclose(maxwell.ricker(1e9, 40, 1e-10, offset=0)[10], 1)  # the peak is at 1 / f


def test_cfl_condition_depends_on_the_order():
    step = 0.01 / (299792458.0 * np.sqrt(2))  # of order 2 in vacuum
    assert maxwell.cfl_condition([0.01, 0.01], 0.99 * step, 299792458.0) == (0.99 * step, 1)
    assert maxwell.cfl_condition([0.01, 0.01], 0.99 * step, 299792458.0, order=4)[1] == 2
    assert maxwell.cfl_condition([0.01, 0.01, 0.01], 2.4 * step, 299792458.0 / 2)[1] == 2


def wrong(message, kind, body):
    with pytest.raises(sonde.Error) as caught:
        body()
    assert message in str(caught.value)
    assert caught.value.kind == kind


def test_wrong_models_are_named():
    bad = medium()
    bad.eps_r[3, 7] = np.nan
    wrong("eps_r = nan at [3, 0, 7] (z, y, x)", "bad_input", lambda: operator()(bad))
    op = operator()
    op(medium())
    bad.eps_r[3, 7] = 0.5
    wrong("eps_r = 0.5 at [3, 0, 7]", "bad_input", lambda: op(bad))
    wrong("a step of", "bad_input", lambda: op(maxwell.EMModel(np.ones(SHAPE))))  # another step than the first model's
    op(medium())  # still works
    wrong("sigma: shape (2, 2); expected (18, 22)", "bad_input", lambda: op(maxwell.EMModel(medium().eps_r, np.ones((2, 2)))))
    wrong("eps_r: elements of type complex128; expected real numbers", "bad_input", lambda: op(maxwell.EMModel(medium().eps_r * 1j)))
    wrong("eps_r: elements of type object; expected real numbers", "bad_input", lambda: op(maxwell.EMModel([[4, 4], [4]])))
    wrong("MaxwellTM expects [z][x]", "bad_input", lambda: operator()(maxwell.EMModel(np.ones(5))))
    wrong("debye: delta_epsilon of shape (2, 2)", "bad_input",
          lambda: op(maxwell.EMModel(medium().eps_r, debye=maxwell.DebyeDispersion(np.ones((2, 2)), 1.0))))


def test_wrong_settings_are_named():
    op = operator()
    wrong("order", "usage", lambda: operator(order=9)(medium()))
    wrong('did you mean "execution"', "usage", lambda: maxwell.MaxwellTM(None, None, executon=1))
    wrong("cuda:7", "device", lambda: maxwell.MaxwellTM(op.discretization, op.experiment, execution=maxwell.ExecutionOptions("cuda:7"))(medium()))
    wrong("threads = 3: expected 1 or None", "usage", lambda: maxwell.ExecutionOptions(threads=3))
    wrong("max_velocity = -1 m/s: expected above 0", "bad_input", lambda: operator(max_velocity=-1))
    wrong("source_amplitude: elements of type object; expected real numbers", "bad_input",
          lambda: maxwell.MaxwellTM(op.discretization, maxwell.Experiment(op.experiment.acquisition, None))(medium()))
    wrong("frequency = 0: expected at least 1", "bad_input", lambda: maxwell.Observers(print, frequency=0))
    wrong("MaxwellTM has no model yet", "usage", lambda: operator().describe())
    wrong("MaxwellTM: cannot be pickled", "usage", lambda: __import__("pickle").dumps(operator()))


def test_memory_is_bounded():
    op = operator()
    small = maxwell.MaxwellTM(op.discretization, op.experiment, execution=maxwell.ExecutionOptions(memory="100k"))
    wrong("100 KiB of the budget of 100 KiB (given as memory) are left", "budget", lambda: small(medium()))
    few = operator(storage=maxwell.StorageOptions("host", bytes_limit_host=1000)).linearize(medium())
    wrong("1000 B are free", "budget", lambda: few.vjp(np.ones((NT, 2, 3))))


def test_wrong_derivatives_are_named():
    lin = operator().linearize(medium())
    wrong("the residual: shape (3,); expected (60, 2, 3)", "bad_input", lambda: lin.vjp(np.ones(3)))
    wrong("the direction of eps_r: shape", "bad_input", lambda: lin.jvp(maxwell.EMDirection(np.ones(3))))
    wrong('wrt: no parameter "epsilon"', "usage", lambda: operator().linearize(medium(), wrt="epsilon"))
    wrong("wrt is empty", "usage", lambda: operator().linearize(medium(), wrt=()))
    lin.close()
    wrong("the residual: element 6 is nan; expected finite numbers", "bad_input",
          lambda: operator().linearize(medium()).vjp(np.where(np.arange(NT * 6).reshape(NT, 2, 3) == 6, np.nan, 1)))
    wrong("the linearization is closed", "usage", lambda: lin.vjp(np.ones((NT, 2, 3))))
    nothing = operator(storage=maxwell.StorageOptions("none")).linearize(medium())
    wrong("storage mode none keeps no fields", "bad_input", lambda: nothing.vjp(np.ones((NT, 2, 3))))
    double = operator("f64", maxwell.StorageOptions(compression="bf16")).linearize(medium())
    wrong("bf16", "bad_input", lambda: double.vjp(np.ones((NT, 2, 3))))
