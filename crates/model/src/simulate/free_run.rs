//! Free runs of whole records, and their bands.

use intervalid_data::{DIVERGED, InitialState, Lags, PastOutputs, Regressor, Scaled, Window};
use intervalid_interval::Real;

use crate::network::{Architecture, Frames, IntervalParameters, Network, Stepper, TILE};

/// A crisp free run over one window (usually a whole part of an experiment), ready for the interval branch.
pub(crate) struct FreeRun<T> {
    pub(crate) window: Window,
    /// Unscored steps at the start.
    pub(crate) warmup: usize,
    /// Tiles of consecutive steps; only the latest of a run that was [bounded on the way](FreeRun::simulate_bounded).
    pub(crate) frames: Frames<T>,
    /// `[step][output]`
    pub(crate) y: Vec<T>,
    /// As `y`; filled by [`FreeRun::bound`].
    pub(crate) lower: Vec<T>,
    /// As `y`.
    pub(crate) upper: Vec<T>,
    /// First step (from 0) whose prediction was not finite or far out; the run stops there.
    pub(crate) diverged_at: Option<usize>,
    /// First step (from 0) whose bounds are not numbers, as [`FreeRun::bound`] found them.
    pub(crate) unbounded_at: Option<usize>,
    outputs: usize,
    regressor: Vec<T>,
    tile: [Vec<T>; 2],
}

/// Feeds `step(index, regressor, prediction)` its own predictions, after the measured outputs that `initial` knows.
///
/// Predictions go into `y`, `[step][output]`. Returns the first step whose prediction was not finite or far out, where
/// the run ends.
pub(crate) fn free_run<T: Real>(
    scaled: &Scaled<T>,
    window: Window,
    (lags, initial): (Lags, InitialState),
    regressor: &mut [T],
    y: &mut [T],
    mut step: impl FnMut(usize, &[T], &mut [T]),
) -> Option<usize> {
    let experiment = &scaled.experiments()[window.experiment];
    let outputs = experiment.outputs();
    let layout = Regressor::new(lags, experiment.inputs(), outputs);
    let sources = PastOutputs::of_run(window, lags, initial);
    let limit = T::of(DIVERGED);
    for (index, k) in window.predicted().enumerate() {
        let (past, rest) = y.split_at_mut(index * outputs);
        let predicted = |step: usize, output: usize| past[step * outputs + output];
        layout.write_outputs(experiment, &sources, k, predicted, regressor);
        layout.write_inputs(experiment, k, regressor);
        let now = &mut rest[..outputs];
        step(index, regressor, now);
        if now.iter().any(|y| y.is_nan() || y.abs() > limit) {
            return Some(index);
        }
    }
    None
}

/// Point predictions `[step][output]` of a free run over `window`, in the units of `scaled`; none if it diverges.
#[must_use]
pub fn simulate_crisp(
    architecture: &Architecture,
    theta: &[f64],
    scaled: &Scaled<f64>,
    window: Window,
    initial: InitialState,
) -> Option<Vec<f64>> {
    let mut stepper = Stepper::new(architecture, theta);
    let mut y = vec![0.0; (window.len - 1) * architecture.outputs];
    let mut regressor = vec![0.0; architecture.regressor_len()];
    let start = (architecture.lags, initial);
    let diverged_at = free_run(scaled, window, start, &mut regressor, &mut y, |_, regressor, y| {
        y.copy_from_slice(stepper.step(regressor));
    });
    diverged_at.is_none().then_some(y)
}

/// Keeps the regressor of a step and the states before it, for the interval branch.
fn keep_frame<T: Real>(frames: &mut Frames<T>, stepper: &Stepper<T>, step: usize, regressor: &[T]) {
    let (tile, lane) = (step / TILE, step % TILE);
    for (row, &value) in regressor.iter().enumerate() {
        frames.x_mut(tile)[row * TILE + lane] = value;
    }
    for (kept, (h, c)) in frames.states.iter_mut().zip(stepper.states()) {
        let base = tile * kept.size * TILE + lane;
        for (row, (&h, &c)) in h.iter().zip(c).enumerate() {
            kept.h[base + row * TILE] = h;
            kept.c[base + row * TILE] = c;
        }
    }
}

impl<T: Real> FreeRun<T> {
    /// Room for a run over `window`, with the frames of all its steps.
    pub(crate) fn new(architecture: &Architecture, window: Window, initial: InitialState) -> Self {
        Self::with_tiles(architecture, window, initial, (window.len - 1).div_ceil(TILE))
    }

    fn with_tiles(architecture: &Architecture, window: Window, initial: InitialState, tiles: usize) -> Self {
        let steps = window.len - 1;
        let outputs = architecture.outputs;
        let values = vec![T::zero(); steps * outputs];
        let tile = vec![T::zero(); outputs * TILE];
        Self {
            window,
            warmup: initial.unscored(),
            frames: Frames::new(architecture, tiles, TILE),
            y: values.clone(),
            lower: values.clone(),
            upper: values,
            diverged_at: None,
            unbounded_at: None,
            outputs,
            regressor: vec![T::zero(); architecture.regressor_len()],
            tile: [tile.clone(), tile],
        }
    }

    /// A run over `window` with its bounds, computed tile by tile on the way: the bits of [`simulate`](Self::simulate) and
    /// [`bound`](Self::bound) without frames of all steps, which for a cell are many times as large as the band.
    pub(crate) fn simulate_bounded(
        (architecture, initial): (&Architecture, InitialState),
        window: Window,
        scaled: &Scaled<T>,
        stepper: &mut Stepper<T>,
        (network, parameters): (&mut Network<T>, &IntervalParameters<T>),
    ) -> Self {
        let mut run = Self::with_tiles(architecture, window, initial, 1);
        let Self {
            frames,
            y,
            lower,
            upper,
            outputs,
            regressor,
            tile: bounds,
            ..
        } = &mut run;
        network.reserve_interval(TILE);
        stepper.reset();
        let steps = y.len() / *outputs;
        let mut bound = |frames: &Frames<T>, step: usize| {
            let [tile_lower, tile_upper] = &mut *bounds;
            network.interval_forward(parameters, frames, 0, tile_lower, tile_upper);
            for step in step / TILE * TILE..=step {
                for output in 0..*outputs {
                    let (at, from) = (step * *outputs + output, output * TILE + step % TILE);
                    (lower[at], upper[at]) = (tile_lower[from], tile_upper[from]);
                }
            }
        };
        let start = (architecture.lags, initial);
        let diverged_at = free_run(scaled, window, start, regressor, y, |step, regressor, y| {
            keep_frame(frames, stepper, step % TILE, regressor);
            y.copy_from_slice(stepper.step(regressor));
            if step % TILE == TILE - 1 || step + 1 == steps {
                bound(frames, step);
            }
        });
        // The tile that a run leaves early has bounds up to there.
        if let Some(step) = diverged_at.filter(|step| step % TILE != TILE - 1 && step + 1 != steps) {
            bound(frames, step);
        }
        run.diverged_at = diverged_at;
        for at in 0..run.y.len() {
            run.settle(at);
        }
        run
    }

    /// Takes a bound as it was computed into the band. Where it is not finite there is none, and the band ends: against the centre it
    /// would become a band of no width.
    #[inline]
    fn settle(&mut self, at: usize) {
        let (lower, upper) = (self.lower[at], self.upper[at]);
        if !(lower.is_finite() && upper.is_finite()) {
            self.unbounded_at.get_or_insert(at / self.outputs);
        }
        // Rounding may push a bound past the centre by an ulp where margins are zero.
        self.lower[at] = lower.min(self.y[at]);
        self.upper[at] = upper.max(self.y[at]);
    }

    /// Simulates: measured outputs as far as `initial` knows them, the model's own predictions after.
    pub(crate) fn simulate(
        &mut self,
        stepper: &mut Stepper<T>,
        architecture: &Architecture,
        scaled: &Scaled<T>,
        initial: InitialState,
    ) {
        let Self {
            window,
            frames,
            y,
            regressor,
            ..
        } = self;
        stepper.reset();
        let start = (architecture.lags, initial);
        self.diverged_at = free_run(scaled, *window, start, regressor, y, |step, regressor, y| {
            keep_frame(frames, stepper, step, regressor);
            y.copy_from_slice(stepper.step(regressor));
        });
    }

    /// Fills the bounds on the simulated trajectory. The point prediction is always inside.
    pub(crate) fn bound(&mut self, network: &mut Network<T>, parameters: &IntervalParameters<T>) {
        network.reserve_interval(TILE);
        self.unbounded_at = None;
        let outputs = self.outputs;
        let steps = self.y.len() / outputs;
        for tile in 0..self.frames.tiles {
            let [lower, upper] = &mut self.tile;
            network.interval_forward(parameters, &self.frames, tile, lower, upper);
            for step in tile * TILE..((tile + 1) * TILE).min(steps) {
                for output in 0..outputs {
                    let (at, from) = (step * outputs + output, output * TILE + step % TILE);
                    (self.lower[at], self.upper[at]) = (self.tile[0][from], self.tile[1][from]);
                    self.settle(at);
                }
            }
        }
    }

    /// First step at which prediction or bounds are lost.
    pub(crate) fn ends_at(&self) -> Option<usize> {
        [self.diverged_at, self.unbounded_at].into_iter().flatten().min()
    }

    /// `(step, output, measured)` of every scored target.
    pub(crate) fn targets<'a>(&self, scaled: &'a Scaled<T>) -> impl Iterator<Item = (usize, T)> + use<'a, T> {
        let experiment = &scaled.experiments()[self.window.experiment];
        let (start, outputs, warmup) = (self.window.start, self.outputs, self.warmup);
        let steps = self.window.len - 1;
        (warmup..steps).flat_map(move |step| {
            (0..outputs).map(move |output| (step * outputs + output, experiment.output(output)[start + 1 + step]))
        })
    }
}
