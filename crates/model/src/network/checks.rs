//! Properties of the networks: gradients against differences, bands against sampled networks, two ways to one number.

use intervalid_data::{InitialState, Lags, Scaled, ScaledExperiment, Window};
use intervalid_testkit::{Tolerance, assert_all_close, gradient};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::core::{Core, Place};
use super::lstm::Lstm;
use super::node::Node;
use super::state_space::StateSpace;
use super::*;
use crate::family::gaussian::{draw_masks, gaussian_nll};
use crate::network::batch_fill::fill;
use crate::simulate::free_run::FreeRun;
use crate::train::loss::{QuantileLevel, RqrW, mean_squared_error};

fn random(rng: &mut ChaCha8Rng, len: usize, size: f64) -> Vec<f64> {
    (0..len).map(|_| rng.random_range(-size..size)).collect()
}

/// All kinds, with and without a linear path, one and several channels.
fn architectures() -> Vec<Architecture> {
    let mut all = Vec::new();
    for kind in [NetworkKind::Node, NetworkKind::Lstm] {
        for linear_path in [false, true] {
            for (inputs, outputs, hidden) in [(1, 1, vec![5, 4]), (2, 2, vec![3]), (1, 2, vec![3, 2, 3])] {
                let lags = Lags { nx: 1, nd: 1, ny: 2 };
                all.push(Architecture {
                    kind,
                    inputs,
                    outputs,
                    lags,
                    hidden,
                    linear_path,
                    states: 0,
                    head: Head::Point,
                });
            }
        }
    }
    all.extend(state_spaces());
    all
}

/// With both networks, either and none, one and several channels.
fn state_spaces() -> Vec<Architecture> {
    let of = |(inputs, outputs, states, hidden, nd): (usize, usize, usize, [usize; 2], usize)| Architecture {
        kind: NetworkKind::StateSpace,
        inputs,
        outputs,
        lags: Lags { nx: 1, nd, ny: 1 },
        hidden: hidden.to_vec(),
        linear_path: false,
        states,
        head: Head::Point,
    };
    [
        (1, 1, 3, [5, 4], 1),
        (2, 2, 2, [3, 0], 0),
        (1, 2, 9, [0, 3], 2),
        (2, 1, 1, [0, 0], 0),
    ]
    .map(of)
    .to_vec()
}

fn record(rng: &mut ChaCha8Rng, architecture: &Architecture, samples: usize) -> Scaled<f64> {
    let mut channels = |count: usize| (0..count).map(|_| random(rng, samples, 1.5)).collect();
    Scaled::new(vec![ScaledExperiment::new(
        channels(architecture.inputs),
        channels(architecture.outputs),
    )])
}

fn windows() -> Vec<Window> {
    [3, 7, 12]
        .map(|start| Window {
            experiment: 0,
            start,
            len: 7,
        })
        .to_vec()
}

fn losses(
    architecture: &Architecture,
    scaled: &Scaled<f64>,
    initial: InitialState,
    theta: &[f64],
    margins: [&[f64]; 2],
) -> [f64; 2] {
    let mut network = Network::<f64>::new(architecture);
    let mut batch = Batch::new(architecture, 3, 6, initial.unscored());
    fill(&mut batch, scaled, architecture.lags, initial, &windows());
    network.forward(theta, &mut batch);
    let mut adjoint = vec![0.0; batch.y.len()];
    let mse = mean_squared_error(&batch, 1.0 / batch.scored() as f64, &mut adjoint);
    let mut parameters = IntervalParameters::new(network.layout());
    parameters.update(theta, margins[0], margins[1]);
    let loss = RqrW::new(0.9, 0.5, QuantileLevel::Corrected);
    let row = batch.outputs * batch.width();
    let (mut lower, mut upper) = (vec![0.0; row], vec![0.0; row]);
    let mut sum = 0.0;
    for step in batch.warmup..batch.steps {
        network.interval_forward(&parameters, &batch.frames, step, &mut lower, &mut upper);
        for output in 0..batch.outputs {
            for window in 0..3 {
                let at = output * batch.width() + window;
                sum += loss.value(lower[at], upper[at], batch.target[step * row + at]);
            }
        }
    }
    [mse, sum / batch.scored() as f64]
}

/// docs/method.md, section 8: ∂NLL/∂θ through whole windows, with and without dropout masks.
#[test]
fn likelihood_gradients_match_central_differences() {
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    for mut architecture in architectures() {
        if architecture.kind == NetworkKind::StateSpace {
            // No likelihood is trained with one.
            continue;
        }
        architecture.head = Head::Gaussian;
        for (initial, rate) in [
            (InitialState::ZeroPadded, None),
            (InitialState::Measured, Some(0.3)),
            (InitialState::Warmup(2), Some(0.3)),
        ] {
            let scaled = record(&mut rng, &architecture, 24);
            let theta = random(&mut rng, architecture.layout().len(), 0.6);
            let mut network = Network::<f64>::new(&architecture);
            let mut batch = Batch::new(&architecture, 3, 6, initial.unscored());
            fill(&mut batch, &scaled, architecture.lags, initial, &windows());
            if let Some(rate) = rate {
                draw_masks(std::iter::once(&mut batch.frames), &architecture, rate, &mut rng);
                assert!(batch.frames.masks.iter().flatten().any(|mask| *mask < 0.5));
            }
            let mut adjoint = vec![0.0; batch.y.len()];
            let mut found = vec![0.0; theta.len()];
            let mut loss = |theta: &[f64]| {
                network.forward(theta, &mut batch);
                gaussian_nll(&batch, 1.0 / batch.scored() as f64, &mut adjoint)
            };
            let expected = gradient(&mut loss, &theta, 1e-6);
            loss(&theta);
            network.backward(&theta, &batch, &mut adjoint, None, &mut found);
            let what = format!("dNLL/dθ of {architecture:?} from {initial}, dropout {rate:?}");
            let tolerance = Tolerance::relative(2e-5).with_absolute(2e-7);
            assert_all_close(&what, &expected, &found, tolerance);
        }
    }
}

/// docs/method.md, section 6: ∂L_MSE/∂θ, ∂L_RQR-W/∂θ through centres and trajectory, ∂L_RQR-W/∂Δ, all through whole windows.
#[test]
fn gradients_match_central_differences_for_every_parameter() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for architecture in architectures() {
        for initial in [
            InitialState::ZeroPadded,
            InitialState::Measured,
            InitialState::Warmup(2),
        ] {
            let layout = architecture.layout();
            let scaled = record(&mut rng, &architecture, 24);
            let theta = random(&mut rng, layout.len(), 0.6);
            let margin =
                |rng: &mut ChaCha8Rng| -> Vec<f64> { (0..layout.len()).map(|_| rng.random_range(0.02..0.3)).collect() };
            let (below, above) = (margin(&mut rng), margin(&mut rng));

            let mut network = Network::<f64>::new(&architecture);
            let mut batch = Batch::new(&architecture, 3, 6, initial.unscored());
            fill(&mut batch, &scaled, architecture.lags, initial, &windows());
            network.forward(&theta, &mut batch);
            let mut y_adjoint = vec![0.0; batch.y.len()];
            mean_squared_error(&batch, 1.0 / batch.scored() as f64, &mut y_adjoint);
            let mut of_mse = vec![0.0; layout.len()];
            network.backward(&theta, &batch, &mut y_adjoint, None, &mut of_mse);

            let mut parameters = IntervalParameters::new(&layout);
            parameters.update(&theta, &below, &above);
            let mut adjoint = IntervalAdjoint::new(&layout);
            let mut trajectory = TrajectoryAdjoint::zeros(&batch.frames);
            let loss = RqrW::new(0.9, 0.5, QuantileLevel::Corrected);
            let width = batch.width();
            let row = batch.outputs * width;
            for step in batch.warmup..batch.steps {
                let [mut lower, mut upper, mut to_lower, mut to_upper] = [0; 4].map(|_| vec![0.0; row]);
                network.interval_forward(&parameters, &batch.frames, step, &mut lower, &mut upper);
                for at in (0..row).step_by(width) {
                    let place = at..at + 3;
                    let target = &batch.target[step * row + at..step * row + at + 3];
                    let share = 1.0 / batch.scored() as f64;
                    let to = (&mut to_lower[place.clone()], &mut to_upper[place.clone()]);
                    loss.row(&lower[place.clone()], &upper[place], target, share, to.0, to.1);
                }
                let frames = &batch.frames;
                network.interval_backward(
                    &parameters,
                    frames,
                    step,
                    &to_lower,
                    &to_upper,
                    &mut adjoint,
                    &mut trajectory,
                );
            }
            adjoint.finish();
            let mut of_rqr: Vec<f64> = adjoint.lower.iter().zip(&adjoint.upper).map(|(l, u)| l + u).collect();
            y_adjoint.fill(0.0);
            network.backward(&theta, &batch, &mut y_adjoint, Some(&trajectory), &mut of_rqr);

            // Far from kinks a step of 1e-6 leaves some nine digits; a margin close to a sign change costs a few more.
            let tolerance = Tolerance::relative(2e-5).with_absolute(2e-7);
            let at = |theta: &[f64], below: &[f64], above: &[f64], which: usize| {
                losses(&architecture, &scaled, initial, theta, [below, above])[which]
            };
            let what = |name: &str| format!("{name} of {architecture:?} from {initial}");
            let expected = gradient(|theta| at(theta, &below, &above, 0), &theta, 1e-6);
            assert_all_close(&what("dL_MSE/dθ"), &expected, &of_mse, tolerance);
            let expected = gradient(|theta| at(theta, &below, &above, 1), &theta, 1e-6);
            assert_all_close(&what("dL_RQR-W/dθ"), &expected, &of_rqr, tolerance);
            let expected = gradient(|below| at(&theta, below, &above, 1), &below, 1e-6);
            let found: Vec<f64> = adjoint.lower.iter().map(|g| -g).collect();
            assert_all_close(&what("dL_RQR-W/dΔ_lo"), &expected, &found, tolerance);
            let expected = gradient(|above| at(&theta, &below, above, 1), &above, 1e-6);
            assert_all_close(&what("dL_RQR-W/dΔ_hi"), &expected, &adjoint.upper, tolerance);
        }
    }
}

/// One crisp step of a network with other parameters from the same regressor and states.
fn crisp_step(architecture: &Architecture, theta: &[f64], frames: &Frames<f64>) -> Vec<f64> {
    let layout = architecture.layout();
    let mut core: Box<dyn Core<f64>> = match architecture.kind {
        NetworkKind::Node => Box::new(Node::new(&layout)),
        NetworkKind::Lstm => Box::new(Lstm::new(&layout)),
        NetworkKind::StateSpace => Box::new(StateSpace::new(architecture, &layout)),
    };
    let mut frames = frames.clone();
    core.reserve(1, frames.width);
    let mut y = vec![0.0; architecture.outputs * frames.width];
    core.step(
        theta,
        &mut frames,
        Place {
            tile: 0,
            first: false,
            last: true,
        },
        &mut y,
    );
    let network = Network::<f64>::new(architecture);
    network.add_base(theta, frames.x(0), &mut y, frames.width);
    y
}

#[test]
fn bands_contain_the_crisp_network_and_every_network_inside_the_margins() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for architecture in architectures() {
        let layout = architecture.layout();
        let mut frames = Frames::<f64>::new(&architecture, 1, 16);
        frames.x = random(&mut rng, frames.x.len(), 2.0);
        for cell in &mut frames.states {
            cell.h = random(&mut rng, cell.h.len(), 0.9);
            cell.c = random(&mut rng, cell.c.len(), 1.5);
        }
        let theta = random(&mut rng, layout.len(), 0.8);
        let margins: Vec<Vec<f64>> = (0..2)
            .map(|_| (0..layout.len()).map(|_| rng.random_range(0.0..0.5)).collect())
            .collect();
        let mut network = Network::<f64>::new(&architecture);
        network.reserve_interval(16);
        let mut parameters = IntervalParameters::new(&layout);
        let bounds = |network: &mut Network<f64>, parameters: &IntervalParameters<f64>| {
            let [mut lower, mut upper] = [0; 2].map(|_| vec![0.0; architecture.outputs * 16]);
            network.interval_forward(parameters, &frames, 0, &mut lower, &mut upper);
            (lower, upper)
        };
        parameters.update(&theta, &margins[0], &margins[1]);
        let (lower, upper) = bounds(&mut network, &parameters);
        for sample in 0..200 {
            let inside: Vec<f64> = (0..layout.len())
                .map(|index| {
                    // Corners are where bounds are attained: draw them as often as inner points.
                    let share = if sample % 2 == 0 {
                        rng.random_range(0.0..1.0)
                    } else {
                        f64::from(rng.random_range(0..2))
                    };
                    theta[index] - margins[0][index] + share * (margins[0][index] + margins[1][index])
                })
                .collect();
            let y = crisp_step(&architecture, if sample == 0 { &theta } else { &inside }, &frames);
            for ((y, lower), upper) in y.iter().zip(&lower).zip(&upper) {
                assert!(
                    lower - 1e-12 <= *y && *y <= upper + 1e-12,
                    "{architecture:?}: {y} not in [{lower}, {upper}]"
                );
            }
        }
        // No margin, no width.
        let zeros = vec![0.0; layout.len()];
        parameters.update(&theta, &zeros, &zeros);
        let (lower, upper) = bounds(&mut network, &parameters);
        let crisp = crisp_step(&architecture, &theta, &frames);
        assert_all_close(
            "lower bound at zero margins",
            &crisp,
            &lower,
            Tolerance::relative(1e-12).with_absolute(1e-13),
        );
        assert_all_close(
            "upper bound at zero margins",
            &crisp,
            &upper,
            Tolerance::relative(1e-12).with_absolute(1e-13),
        );
        // Half the margins, about half the width.
        let half = |margin: &[f64], share: f64| margin.iter().map(|m| m * share).collect::<Vec<_>>();
        let width = |network: &mut Network<f64>, parameters: &mut IntervalParameters<f64>, share: f64| {
            parameters.update(&theta, &half(&margins[0], share), &half(&margins[1], share));
            let (lower, upper) = bounds(network, parameters);
            lower.iter().zip(&upper).map(|(l, u)| u - l).sum::<f64>()
        };
        let ratio = width(&mut network, &mut parameters, 1e-4) / width(&mut network, &mut parameters, 5e-5);
        assert!(
            (ratio - 2.0).abs() < 1e-2,
            "{architecture:?}: first order, found ratio {ratio}"
        );
    }
}

#[test]
fn stepping_through_a_record_equals_the_batch_of_windows() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for architecture in architectures() {
        for initial in [
            InitialState::ZeroPadded,
            InitialState::Measured,
            InitialState::Warmup(2),
        ] {
            let scaled = record(&mut rng, &architecture, 24);
            let theta = random(&mut rng, architecture.layout().len(), 0.5);
            let mut network = Network::<f64>::new(&architecture);
            let mut batch = Batch::new(&architecture, 3, 6, initial.unscored());
            fill(&mut batch, &scaled, architecture.lags, initial, &windows());
            network.forward(&theta, &mut batch);
            let mut stepper = Stepper::new(&architecture, &theta);
            for (lane, window) in windows().into_iter().enumerate() {
                let mut run = FreeRun::new(&architecture, window, initial);
                run.simulate(&mut stepper, &architecture, &scaled, initial);
                let batched: Vec<f64> = (0..6 * batch.outputs)
                    .map(|row| batch.y[row * batch.width() + lane])
                    .collect();
                let tolerance = Tolerance::relative(1e-11).with_absolute(1e-12);
                assert_all_close(&format!("{architecture:?} from {initial}"), &batched, &run.y, tolerance);
            }
        }
    }
}

/// One tile after another gives the bits of all tiles at the end, whole runs and runs that diverge on their way.
#[test]
fn bounds_on_the_way_are_those_of_the_whole_run() {
    let mut rng = ChaCha8Rng::seed_from_u64(10);
    let mut diverged = 0;
    for architecture in architectures() {
        let scaled = record(&mut rng, &architecture, 120);
        for (size, len) in [(0.3, 33), (0.3, 34), (0.3, 100), (3.0, 100)] {
            let window = Window {
                experiment: 0,
                start: 3,
                len,
            };
            let parameters = architecture.layout().len();
            let theta = random(&mut rng, parameters, size);
            let margin: Vec<f64> = random(&mut rng, parameters, 0.1).iter().map(|m| m.abs()).collect();
            let mut bounds = IntervalParameters::new(&architecture.layout());
            bounds.update(&theta, &margin, &margin);
            let mut network = Network::new(&architecture);
            let mut stepper = Stepper::new(&architecture, &theta);
            let initial = InitialState::Measured;
            let mut whole = FreeRun::new(&architecture, window, initial);
            whole.simulate(&mut stepper, &architecture, &scaled, initial);
            whole.bound(&mut network, &bounds);
            let start = (&architecture, initial);
            let found = FreeRun::simulate_bounded(start, window, &scaled, &mut stepper, (&mut network, &bounds));
            assert_eq!(whole.ends_at(), found.ends_at(), "{architecture:?}");
            diverged += usize::from(found.diverged_at.is_some());
            let end = whole
                .ends_at()
                .map_or(whole.y.len(), |step| step * architecture.outputs);
            let bits = |values: &[f64]| values[..end].iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            for (expected, found) in [
                (&whole.y, &found.y),
                (&whole.lower, &found.lower),
                (&whole.upper, &found.upper),
            ] {
                assert_eq!(bits(expected), bits(found), "{architecture:?} over {len}");
            }
        }
    }
    assert!(diverged > 0, "some run must leave its range");
}
