//! A training iteration for benchmarks.

use intervalid_data::{Lags, Scaled, ScaledExperiment, Window};

use super::iteration::{Crisp, Joint};
use super::part::Team;
use crate::config::FitConfig;
use crate::network::{Architecture, Head, NetworkKind};
use crate::train::loss::RqrW;
use crate::train::margin::RawMargins;
use crate::train::optim::{Adam, GradNorm, GradNormOptimiser, clip};

/// A training iteration on made-up data, for benchmarks: the same code that a fit runs.
pub struct IterationBench {
    crisp: Crisp<f32>,
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
            crisp: Crisp::new(&architecture, windows, length - 1, 0, Team::Pool),
            joint: Joint::new(&architecture, windows, length - 1, 0, Team::Pool),
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

    /// One crisp iteration: gather, forward, L_MSE, gradient, clip, Adam.
    pub fn crisp(&mut self) -> f64 {
        self.crisp
            .fill(&self.scaled, self.config.lags, self.config.initial, &self.windows);
        let loss = self.crisp.gradient(&self.theta);
        clip(&mut self.crisp.gradient, self.config.training.gradient_clip);
        self.adam[0].update(&mut self.theta, &self.crisp.gradient, 1e-4);
        loss
    }

    /// One joint iteration: gather, forward, both losses, all gradients, GradNorm, clip, Adam.
    pub fn joint(&mut self) -> [f64; 2] {
        self.joint
            .fill(&self.scaled, self.config.lags, self.config.initial, &self.windows);
        let loss = RqrW::new(
            self.config.coverage,
            self.config.interval.width_penalty,
            self.config.interval.level,
        );
        let margin = self.config.interval.margin;
        let losses = self
            .joint
            .gradients(&self.theta, &self.raw, margin, &loss, &mut self.gradnorm);
        clip(&mut self.joint.gradient, self.config.training.gradient_clip);
        self.adam[0].update(&mut self.theta, &self.joint.gradient, 1e-4);
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
