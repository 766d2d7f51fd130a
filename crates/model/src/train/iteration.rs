//! One mini-batch: losses and gradients.

use intervalid_data::{Lags, Scaled, ScaledExperiment, Window};
use intervalid_interval::Real;

use crate::config::{FitConfig, MarginActivation};
use crate::network::batch_fill::fill;
use crate::network::{
    Architecture, Batch, Frames, Head, IntervalAdjoint, IntervalParameters, Layout, Network, NetworkKind,
    TrajectoryAdjoint,
};
use crate::train::loss::{RqrW, mean_squared_error};
use crate::train::margin::RawMargins;
use crate::train::optim::{Adam, GradNorm, GradNormOptimiser, clip};

/// Gradient of L_MSE with respect to θ over a batch of windows.
pub(super) struct Crisp<T> {
    pub(super) network: Network<T>,
    pub(super) batch: Batch<T>,
    y_adjoint: Vec<T>,
    pub(super) gradient: Vec<T>,
}

impl<T: Real> Crisp<T> {
    pub(super) fn new(architecture: &Architecture, windows: usize, steps: usize, warmup: usize) -> Self {
        let batch = Batch::new(architecture, windows, steps, warmup);
        let network = Network::new(architecture);
        let gradient = vec![T::zero(); network.layout().len()];
        Self {
            network,
            y_adjoint: vec![T::zero(); batch.y.len()],
            batch,
            gradient,
        }
    }

    /// Simulates the batch and fills `gradient`; returns the loss.
    pub(super) fn gradient(&mut self, theta: &[T]) -> f64 {
        self.network.forward(theta, &mut self.batch);
        let loss = mean_squared_error(&self.batch, &mut self.y_adjoint);
        self.gradient.fill(T::zero());
        self.network
            .backward(theta, &self.batch, &mut self.y_adjoint, None, &mut self.gradient);
        loss
    }
}

/// Interval branch on tiles of a crisp trajectory: L_RQR-W and its adjoints.
pub(super) struct Bounds<T> {
    pub(super) parameters: IntervalParameters<T>,
    pub(super) adjoint: IntervalAdjoint<T>,
    margins: [Vec<T>; 2],
    /// Bounds of a tile and their adjoints.
    tile: [Vec<T>; 4],
}

impl<T: Real> Bounds<T> {
    pub(super) fn new(layout: &Layout, outputs: usize, width: usize) -> Self {
        let zeros = vec![T::zero(); layout.len()];
        Self {
            parameters: IntervalParameters::new(layout),
            adjoint: IntervalAdjoint::new(layout),
            margins: [zeros.clone(), zeros],
            tile: core::array::from_fn(|_| vec![T::zero(); outputs * width]),
        }
    }

    /// Takes θ and Δ'.
    pub(super) fn update(&mut self, theta: &[T], raw: &RawMargins<T>, margin: MarginActivation) {
        let [lower, upper] = &mut self.margins;
        margin.apply(&raw.lower, lower);
        margin.apply(&raw.upper, upper);
        self.parameters.update(theta, lower, upper);
        self.adjoint.clear();
    }

    /// Forward, loss and reverse of one tile; `filled` of its samples count, each with weight `share`.
    #[expect(clippy::too_many_arguments, reason = "a tile and where its adjoints go")]
    pub(super) fn tile(
        &mut self,
        network: &mut Network<T>,
        frames: &Frames<T>,
        tile: usize,
        target: &[T],
        filled: usize,
        loss: &RqrW,
        share: f64,
        trajectory: &mut TrajectoryAdjoint<T>,
    ) -> f64 {
        let width = frames.width;
        let [lower, upper, lower_adjoint, upper_adjoint] = &mut self.tile;
        network.interval_forward(&self.parameters, frames, tile, lower, upper);
        if filled < width {
            lower_adjoint.fill(T::zero());
            upper_adjoint.fill(T::zero());
        }
        let mut sum = 0.0;
        for at in (0..target.len()).step_by(width) {
            let row = at..at + filled;
            let to = (&mut lower_adjoint[row.clone()], &mut upper_adjoint[row.clone()]);
            sum += loss.row(
                &lower[row.clone()],
                &upper[row.clone()],
                &target[row],
                T::of(share),
                to.0,
                to.1,
            );
        }
        let adjoint = &mut self.adjoint;
        network.interval_backward(
            &self.parameters,
            frames,
            tile,
            lower_adjoint,
            upper_adjoint,
            adjoint,
            trajectory,
        );
        sum * share
    }

    /// Gradients with respect to Δ' below and above, once all tiles are in.
    pub(super) fn margin_gradients(
        &mut self,
        raw: &RawMargins<T>,
        margin: MarginActivation,
        gradients: &mut [Vec<T>; 2],
    ) {
        self.adjoint.finish();
        let [lower, upper] = gradients;
        margin.chain(&raw.lower, -T::one(), &self.adjoint.lower, lower);
        margin.chain(&raw.upper, T::one(), &self.adjoint.upper, upper);
    }
}

/// Everything of one joint iteration (docs/method.md, section 6).
pub(super) struct Joint<T> {
    pub(super) crisp: Crisp<T>,
    bounds: Bounds<T>,
    trajectory: TrajectoryAdjoint<T>,
    rqr_gradient: Vec<T>,
    pub(super) margin_gradients: [Vec<T>; 2],
}

impl<T: Real> Joint<T> {
    pub(super) fn new(architecture: &Architecture, windows: usize, steps: usize, warmup: usize) -> Self {
        let crisp = Crisp::new(architecture, windows, steps, warmup);
        let layout = crisp.network.layout().clone();
        let zeros = vec![T::zero(); layout.len()];
        Self {
            bounds: Bounds::new(&layout, architecture.outputs, crisp.batch.width()),
            trajectory: TrajectoryAdjoint::zeros(&crisp.batch.frames),
            rqr_gradient: zeros.clone(),
            margin_gradients: [zeros.clone(), zeros],
            crisp,
        }
    }

    /// Both losses of the batch; leaves s₁∇L_MSE + s₂∇L_RQR-W in `crisp.gradient` and moves GradNorm's scales.
    pub(super) fn gradients(
        &mut self,
        theta: &[T],
        raw: &RawMargins<T>,
        margin: MarginActivation,
        loss: &RqrW,
        gradnorm: &mut GradNorm,
    ) -> [f64; 2] {
        let mse = self.crisp.gradient(theta);
        let Crisp {
            network,
            batch,
            y_adjoint,
            gradient,
        } = &mut self.crisp;
        self.bounds.update(theta, raw, margin);
        self.trajectory.clear();
        let share = 1.0 / batch.scored() as f64;
        let row = batch.outputs * batch.width();
        let mut rqr_w = 0.0;
        for (tile, filled) in batch.scored_tiles() {
            let target = &batch.target[tile * row..(tile + 1) * row];
            let trajectory = &mut self.trajectory;
            rqr_w += self
                .bounds
                .tile(network, &batch.frames, tile, target, filled, loss, share, trajectory);
        }
        self.bounds.margin_gradients(raw, margin, &mut self.margin_gradients);
        for ((to, &lower), &upper) in self
            .rqr_gradient
            .iter_mut()
            .zip(&self.bounds.adjoint.lower)
            .zip(&self.bounds.adjoint.upper)
        {
            *to = lower + upper;
        }
        y_adjoint.fill(T::zero());
        network.backward(theta, batch, y_adjoint, Some(&self.trajectory), &mut self.rqr_gradient);

        let norm = |gradient: &[T]| {
            let squares = |range: core::ops::Range<usize>| -> f64 {
                gradient[range].iter().map(|g: &T| g.as_f64() * g.as_f64()).sum()
            };
            network.layout().shared().into_iter().map(squares).sum::<f64>().sqrt()
        };
        let shared = [norm(gradient), norm(&self.rqr_gradient)];
        let [s_mse, s_rqr] = gradnorm.scales.map(T::of);
        for (g, &rqr) in gradient.iter_mut().zip(&self.rqr_gradient) {
            *g = s_mse * *g + s_rqr * rqr;
        }
        gradnorm.update([mse, rqr_w], shared);
        [mse, rqr_w]
    }
}

/// A training iteration on made-up data, for benchmarks: the same code that a fit runs.
pub struct IterationBench {
    joint: Joint<f32>,
    config: FitConfig,
    scaled: Scaled<f32>,
    windows: Vec<Window>,
    theta: Vec<f32>,
    raw: RawMargins<f32>,
    adam: [Adam<f32>; 3],
    gradnorm: GradNorm,
}

impl IterationBench {
    /// A network of this kind on a single-input single-output record, with `windows` windows of `length` samples.
    #[must_use]
    pub fn new(kind: NetworkKind, hidden: &[usize], lags: Lags, windows: usize, length: usize) -> Self {
        let hidden = hidden.to_vec();
        let architecture = Architecture {
            kind,
            inputs: 1,
            outputs: 1,
            lags,
            hidden,
            linear_path: false,
            states: 0,
            head: Head::Point,
        };
        let wave = |phase: f32| -> Vec<f32> {
            (0..windows * 5 + length)
                .map(|k| (0.1 * k as f32 + phase).sin() + (0.037 * k as f32).cos())
                .collect()
        };
        let config = FitConfig::default().with(|config| config.network.hidden = architecture.hidden.clone());
        let theta = crate::network::initialise::initial_parameters::<f32>(&architecture, 1);
        let raw = RawMargins::initial(&config.interval, &architecture.layout(), &theta);
        Self {
            joint: Joint::new(&architecture, windows, length - 1, 0),
            scaled: Scaled::new(vec![ScaledExperiment::new(vec![wave(0.0)], vec![wave(1.0)])]),
            windows: (0..windows)
                .map(|w| Window {
                    experiment: 0,
                    start: 5 * w,
                    len: length,
                })
                .collect(),
            adam: core::array::from_fn(|_| Adam::new(theta.len())),
            gradnorm: GradNorm::new(0.1, 5e-3, GradNormOptimiser::Adam),
            config: FitConfig { lags, ..config },
            theta,
            raw,
        }
    }

    fn feed(&mut self) {
        let batch = &mut self.joint.crisp.batch;
        fill(
            batch,
            &self.scaled,
            self.config.lags,
            self.config.initial,
            &self.windows,
        );
    }

    /// One crisp iteration: gather, forward, L_MSE, gradient, clip, Adam.
    pub fn crisp(&mut self) -> f64 {
        self.feed();
        let loss = self.joint.crisp.gradient(&self.theta);
        clip(&mut self.joint.crisp.gradient, self.config.training.gradient_clip);
        self.adam[0].update(&mut self.theta, &self.joint.crisp.gradient, 1e-4);
        loss
    }

    /// One joint iteration: gather, forward, both losses, all gradients, GradNorm, clip, Adam.
    pub fn joint(&mut self) -> [f64; 2] {
        self.feed();
        let loss = RqrW::new(
            self.config.coverage,
            self.config.interval.width_penalty,
            self.config.interval.level,
        );
        let margin = self.config.interval.margin;
        let losses = self
            .joint
            .gradients(&self.theta, &self.raw, margin, &loss, &mut self.gradnorm);
        clip(&mut self.joint.crisp.gradient, self.config.training.gradient_clip);
        self.adam[0].update(&mut self.theta, &self.joint.crisp.gradient, 1e-4);
        for (gradient, (adam, raw)) in self.joint.margin_gradients.iter_mut().zip(
            self.adam[1..]
                .iter_mut()
                .zip([&mut self.raw.lower, &mut self.raw.upper]),
        ) {
            clip(gradient, self.config.training.gradient_clip);
            adam.update(raw, gradient, 1e-4);
        }
        losses
    }
}
