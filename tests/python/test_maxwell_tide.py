# SPDX-License-Identifier: Apache-2.0
"""TIDE's names, on arrays and on tensors of PyTorch."""

import subprocess
import sys

import numpy as np
import pytest
import torch

import sonde
from sonde import maxwell
from sonde.compat import tide

NT, DT, D = 70, 5e-11, 0.02
SHAPE = (20, 24)
SOURCES = np.array([[[4, 4]], [[14, 4]]])
RECEIVERS = np.array([[[3, 19], [9, 19], [15, 19]]] * 2)


def arrays(dtype=np.float64):
    """epsilon, sigma and mu, heterogeneous and lossy."""
    numbers = np.random.default_rng(2)
    return [numbers.uniform(low, high, SHAPE).astype(dtype) for low, high in ((4, 5), (0, 0.01), (1, 1.1))]


def wavelet(dtype=torch.float64):
    return tide.ricker(8e8, NT, DT, dtype=dtype).reshape(1, 1, NT).repeat(2, 1, 1)


def waves(epsilon, sigma, mu, amplitude=None, **options):
    amplitude = wavelet() if amplitude is None else amplitude
    sources, receivers = (torch.from_numpy(each) for each in (SOURCES, RECEIVERS))
    return tide.maxwelltm(epsilon, sigma, mu, D, DT, amplitude, sources, receivers, pml_width=5, **options)


def tensors(dtype=np.float64, grad=()):
    made = [torch.from_numpy(each) for each in arrays(dtype)]
    for i in grad:
        made[i].requires_grad_()
    return made


def test_arrays_give_the_records_of_our_own_operator():
    epsilon, sigma, mu = arrays()
    amplitude = wavelet().numpy()
    *_, data = tide.maxwelltm(epsilon, sigma, mu, D, DT, amplitude, SOURCES, RECEIVERS, stencil=4, pml_width=5)
    grid = maxwell.Discretization(D, DT, 4, maxwell.CPML(5, preset="tide"))
    own = maxwell.MaxwellTM(grid, maxwell.Experiment(maxwell.Acquisition(SOURCES, RECEIVERS), amplitude))
    assert isinstance(data, np.ndarray)
    np.testing.assert_array_equal(data, own(maxwell.EMModel(epsilon, sigma, mu)).receiver_data)


def test_tensors_give_the_same_as_arrays():
    made = waves(*tensors())
    expected = tide.maxwelltm(*arrays(), D, DT, wavelet().numpy(), SOURCES, RECEIVERS, pml_width=5)
    assert len(made) == 8 and made[3].shape == made[0].shape
    assert made[-1].shape == (NT, 2, 3) and made[-1].dtype == torch.float64
    for found, known in zip(made, expected):
        if found is not None:
            np.testing.assert_array_equal(found.numpy(), known)


def test_float32_stays_float32():
    epsilon, sigma, mu = tensors(np.float32, grad=[0])
    *fields, data = waves(epsilon, sigma, mu, wavelet(torch.float32))
    data.square().sum().backward()
    assert {data.dtype, fields[0].dtype, epsilon.grad.dtype} == {torch.float32}


def test_h_has_the_opposite_sign():
    field = waves(*tensors())[1]
    grid = maxwell.Discretization(D, DT, 2, maxwell.CPML(5, preset="tide"))
    own = maxwell.MaxwellTM(grid, maxwell.Experiment(maxwell.Acquisition(SOURCES, RECEIVERS), wavelet().numpy()))
    state = own(maxwell.EMModel(*arrays()), final_state=True).final_state
    assert field.shape == (2, 30, 34)
    np.testing.assert_array_equal(field.numpy(), -state["Hx"])


def test_gradcheck_passes():
    numbers = np.random.default_rng(4)
    shape, nt = (5, 6), 12
    given = [torch.from_numpy(numbers.uniform(low, high, shape)).requires_grad_() for low, high in ((4, 5), (0.01, 0.02), (1, 1.1))]
    given.append(torch.from_numpy(numbers.normal(size=(1, 1, nt))).requires_grad_())
    places = torch.tensor([[[1, 1]]]), torch.tensor([[[3, 4], [2, 2]]])

    def records(*arguments):
        return tide.maxwelltm(*arguments[:3], D, DT, arguments[3], *places, pml_width=2)[-1]

    # Central differences of float64: sigma is some hundredths, so that its steps are small too.
    assert torch.autograd.gradcheck(records, given, eps=1e-5, atol=1e-5, rtol=1e-4)


def test_backward_gives_what_vjp_gives():
    epsilon, sigma, mu = tensors(grad=[0, 1])
    data = waves(epsilon, sigma, mu)[-1]
    residual = torch.from_numpy(np.random.default_rng(1).normal(size=data.shape))
    data.backward(residual)
    grid = maxwell.Discretization(D, DT, 2, maxwell.CPML(5, preset="tide"))
    own = maxwell.MaxwellTM(grid, maxwell.Experiment(maxwell.Acquisition(SOURCES, RECEIVERS), wavelet().numpy()))
    expected = own.linearize(maxwell.EMModel(*arrays())).vjp(residual.numpy())
    np.testing.assert_array_equal(epsilon.grad.numpy(), expected.eps_r)
    np.testing.assert_array_equal(sigma.grad.numpy(), expected.sigma)
    assert mu.grad is None


def test_lbfgs_lowers_the_misfit_of_a_survey():
    true = torch.full(SHAPE, 4.0, dtype=torch.float64)
    sigma, mu = torch.full_like(true, 1e-3), torch.ones_like(true)
    true_with_block = true.clone()
    true_with_block[8:12, 10:14] = 4.4
    observed = waves(true_with_block, sigma, mu)[-1]
    epsilon = true.clone().requires_grad_()
    optimiser = torch.optim.LBFGS([epsilon], lr=1, max_iter=8, line_search_fn="strong_wolfe")
    misfits = []

    def closure():
        optimiser.zero_grad()
        loss = 0.5 * (waves(epsilon, sigma, mu)[-1] - observed).square().sum() / observed.square().sum()
        loss.backward()
        misfits.append(loss.item())
        return loss

    optimiser.step(closure)
    assert min(misfits) < 0.05 * misfits[0]
    # The block is where permittivity was added.
    change = (epsilon.detach() - true).numpy()
    assert change[8:12, 10:14].mean() > 3 * np.abs(change).mean()


def test_three_dimensions():
    shape, nt = (7, 8, 9), 24
    numbers = np.random.default_rng(6)
    epsilon = torch.from_numpy(numbers.uniform(4, 5, shape)).requires_grad_()
    sigma, mu = torch.full(shape, 0.01, dtype=torch.float64), torch.ones(shape, dtype=torch.float64)
    places = torch.tensor([[[3, 3, 2]]]), torch.tensor([[[3, 4, 6]]])
    made = tide.maxwell3d(epsilon, sigma, mu, [D, D, D], 3e-11, wavelet()[:1, :, :nt], *places, pml_width=[2, 2, 0, 3, 2, 2],
                          source_component="ez", receiver_component="ez")
    assert len(made) == 19 and made[0].shape == (1, 11, 11, 13) and made[-1].shape == (nt, 1, 1)
    made[-1].square().sum().backward()
    h, v = 1e-5, torch.from_numpy(numbers.normal(size=shape))

    def loss(step):
        return tide.maxwell3d((epsilon + step * v).detach(), sigma, mu, [D, D, D], 3e-11, wavelet()[:1, :, :nt], *places,
                              pml_width=[2, 2, 0, 3, 2, 2], source_component="ez", receiver_component="ez")[-1].square().sum()

    central = (loss(h) - loss(-h)) / (2 * h)
    assert float((epsilon.grad * v).sum()) == pytest.approx(float(central), rel=1e-6)


def test_a_callback_sees_tensors_of_the_run():
    seen = []

    def look(state):
        field = state.get_wavefield("Ey", view="inner")
        assert isinstance(field, torch.Tensor) and field.shape == (1, *SHAPE)
        assert state.get_model("epsilon", view="pml").shape == (30, 34)
        seen.append((state.step, float(field.abs().max())))

    waves(*tensors(), forward_callback=look, callback_frequency=35)
    assert [step for step, _ in seen] == [0, 35] * 2
    assert seen[0][1] == 0 and seen[1][1] > 0


def test_a_callback_changes_only_runs_without_gradient():
    def quieten(state):
        state.get_wavefield("Ey", view="full")[:] = 0

    quiet = waves(*tensors(), forward_callback=quieten)[-1]
    usual = waves(*tensors())[-1]
    assert quiet.abs().max() < 1e-3 * usual.abs().max()
    np.testing.assert_array_equal(waves(*tensors(grad=[0]), forward_callback=quieten)[-1].detach(), usual)


@pytest.mark.parametrize("options", [{"storage_mode": "cpu"}, {"storage_mode": "disk"}, {"storage_mode": "auto"},
                                     {"storage_compression": "none", "storage_bytes_limit_host": 1 << 24, "n_threads": 1}])
def test_storage_keywords_leave_the_gradient(options, tmp_path):
    found, usual = tensors(grad=[0]), tensors(grad=[0])
    waves(*found, **options, storage_path=str(tmp_path))[-1].sum().backward()
    waves(*usual)[-1].sum().backward()
    np.testing.assert_array_equal(found[0].grad.numpy(), usual[0].grad.numpy())


def gradient_with(**options):
    """Of a run whose records have decayed at their end: there alone sampled steps stand for all."""
    epsilon, *rest = tensors(np.float32, grad=[0])
    amplitude = torch.nn.functional.pad(wavelet(torch.float32), (0, 2 * NT))
    waves(epsilon, *rest, amplitude, **options)[-1].square().sum().backward()
    return epsilon.grad


@pytest.mark.parametrize("options, most", [({"storage_compression": True}, 4e-3),  # 2^-8, the rounding of one stored field
                                           ({"model_gradient_sampling_interval": 2}, 1e-3)])  # 4.5 would be the longest
def test_bf16_and_an_interval_are_near_the_gradient(options, most):
    found, exact = gradient_with(**options), gradient_with()
    difference = torch.linalg.norm(found - exact) / torch.linalg.norm(exact)
    assert 0 < difference < most


@pytest.mark.parametrize("option", [{"python_backend": True}, {"experimental_cuda_graph": True}, {"storage_chunk_steps": 4}, {"n_threads": 2}])
def test_what_has_no_effect_is_reported(option):
    with pytest.warns(UserWarning, match=f"{next(iter(option))} = .* has no effect"):
        made = waves(*tensors(), **option)
    np.testing.assert_array_equal(made[-1], waves(*tensors())[-1])


@pytest.mark.parametrize("option, message", [
    ({"compute_precision": "fp16_scaled"}, 'compute_precision = "fp16_scaled"'),
    ({"Ey_0": torch.zeros(2, 30, 34), "dispersion": tide.DebyeDispersion(1.0, 1e-11)}, "Ey_0: runs with dispersion begin from fields that"),
])
def test_what_is_missing_is_refused_by_name(option, message):
    with pytest.raises(NotImplementedError) as caught:
        waves(*tensors(), **option)
    assert message in str(caught.value) and isinstance(caught.value, sonde.Error)


def test_wrong_arguments_are_named():
    with pytest.raises(sonde.Error, match="storage_compression = 'zip'"):
        waves(*tensors(), storage_compression="zip")
    with pytest.raises(sonde.Error, match='did you mean "stencil"'):
        waves(*tensors(), stencl=4)
    with pytest.raises(sonde.Error, match="one model per shot is not possible"):
        waves(*(each.expand(2, *SHAPE) for each in tensors()))
    with pytest.raises(sonde.Error, match="epsilon: int64; expected float32 or float64"):
        waves(torch.ones(SHAPE, dtype=torch.int64), *tensors()[1:])
    with pytest.raises(sonde.Error, match="freq_taper_frac = 0.1: the inner steps have no taper"):
        tide.maxwelltm(*arrays(), D, 4 * DT, wavelet().numpy(), SOURCES, RECEIVERS, freq_taper_frac=0.1)
    epsilon, *rest = tensors(grad=[0])
    with pytest.raises(sonde.Error, match="storage mode none keeps no fields"):
        waves(epsilon, *rest, storage_mode="none")[-1].sum().backward()


STATES = ("Ey_0", "Hx_0", "Hz_0", "m_Ey_x", "m_Ey_z", "m_Hx_z", "m_Hz_x")


def test_a_run_goes_on_from_what_another_one_returns():
    amplitude = wavelet()
    epsilon, *rest = tensors(grad=[0])
    whole = waves(epsilon, *rest, amplitude)
    whole[-1].square().sum().backward()
    joined, *rest = tensors(grad=[0])
    *state, early = waves(joined, *rest, amplitude[..., :30].contiguous())
    *last, late = waves(joined, *rest, amplitude[..., 30:].contiguous(), **dict(zip(STATES, state)))
    np.testing.assert_array_equal(torch.cat([early, late]).detach(), whole[-1].detach())
    for found, known in zip(last, whole):
        np.testing.assert_array_equal(found.detach(), known.detach())
    (early.square().sum() + late.square().sum()).backward()  # through the fields at the joint
    difference = (joined.grad - epsilon.grad).abs().max() / epsilon.grad.abs().max()
    assert difference < 1e-12


def test_gradcheck_passes_for_fields_and_dispersion():
    numbers = np.random.default_rng(4)
    shape, nt = (5, 6), 8
    epsilon, sigma, mu = (torch.full(shape, each, dtype=torch.float64) for each in (4.0, 0.01, 1.0))
    amplitude = torch.from_numpy(numbers.normal(size=(1, 1, nt)))
    places = torch.tensor([[[1, 1]]]), torch.tensor([[[3, 4], [2, 2]]])

    def last_fields(*fields):
        return tide.maxwelltm(epsilon, sigma, mu, D, DT, amplitude, *places, pml_width=2, **dict(zip(STATES, fields)))

    given = [torch.from_numpy(numbers.normal(size=(1, 9, 10)) * size).requires_grad_() for size in (1, 3e-3, 3e-3, 10, 10, 1, 1)]
    scaled = (1, 300, 300, 0.1, 0.1, 1, 1, 1)
    assert torch.autograd.gradcheck(lambda *fields: tuple(a * b for a, b in zip(last_fields(*fields), scaled)), given, eps=1e-4, atol=1e-6,
                                    rtol=1e-4)

    def records(deps, tau):
        poles = tide.DebyeDispersion(deps, tau * 1e-10)
        return tide.maxwelltm(epsilon, sigma, mu, D, DT, amplitude, *places, pml_width=2, dispersion=poles)[-1]

    for parts in ((2.0, 1.0), (np.full(shape, 2.0), np.full((2, *shape), 1.0)), (np.full(2, 2.0), 1.5)):
        assert torch.autograd.gradcheck(records, [torch.tensor(each, dtype=torch.float64, requires_grad=True) for each in parts], eps=1e-5,
                                        atol=1e-6, rtol=1e-4)


def test_a_callback_sees_the_sweep_backwards():
    seen = []

    def look(state):
        assert state.is_backward and state.gradient_names == ["epsilon"]
        field = state.get_wavefield("lambda_Hx", view="pml")
        assert isinstance(field, torch.Tensor) and field.shape == (1, 30, 34)
        seen.append((state.step, state.get_gradient("epsilon")))

    epsilon, *rest = tensors(grad=[0])
    waves(epsilon, *rest, backward_callback=look, callback_frequency=35)[-1].square().sum().backward()
    assert [step for step, _ in seen] == [35, 0] * 2
    torch.testing.assert_close(seen[1][1] + seen[3][1], epsilon.grad, rtol=1e-12, atol=1e-12 * float(epsilon.grad.abs().max()))


def test_dispersion_runs_under_its_name():
    made = waves(*tensors(), dispersion=tide.DebyeDispersion(torch.tensor(0.0), torch.tensor(1e-10)))[-1]
    usual = waves(*tensors())[-1]
    np.testing.assert_allclose(made, usual, rtol=0, atol=1e-12 * float(usual.abs().max()))


def test_arrays_do_not_import_torch():
    program = """
import sys, numpy as np
from sonde.compat import tide
one = np.ones((12, 12))
tide.maxwelltm(4 * one, 0 * one, one, 0.02, 4e-11, tide.ricker(4e8, 20, 4e-11).reshape(1, 1, -1), np.array([[[5, 5]]]), np.array([[[5, 8]]]), pml_width=3)
print("torch" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip() == "False"
