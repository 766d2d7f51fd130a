//! A whole network: the recurrent core, its base, and the roll-out over windows with reverse mode (BPTT).

use intervalid_interval::Real;
use intervalid_interval::kernel::{matmul_add, matmul_transposed_add, outer_add};

use super::architecture::{Architecture, Base, NetworkKind};
use super::core::{Core, Place, TrajectoryAdjoint};
use super::elementwise::add;
use super::layout::Layout;
use super::lstm::Lstm;
use super::node::Node;
use super::parameters::{IntervalAdjoint, IntervalParameters};
use super::state_space::StateSpace;
use super::tiles::{Batch, Frames};

/// A network with the buffers that training needs. Parameters are passed in, so one network serves many models.
pub(crate) struct Network<T> {
    architecture: Architecture,
    layout: Layout,
    core: Box<dyn Core<T>>,
    x_adjoint: Vec<T>,
}

impl<T: Real> Network<T> {
    pub(crate) fn new(architecture: &Architecture) -> Self {
        let layout = architecture.layout();
        let core: Box<dyn Core<T>> = match architecture.kind {
            NetworkKind::Node => Box::new(Node::new(&layout)),
            NetworkKind::Lstm => Box::new(Lstm::new(&layout)),
            NetworkKind::StateSpace => Box::new(StateSpace::new(architecture, &layout)),
        };
        Self {
            architecture: architecture.clone(),
            layout,
            core,
            x_adjoint: Vec::new(),
        }
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Simulates all windows of a batch: fills its output lags, states and predictions.
    pub(crate) fn forward(&mut self, theta: &[T], batch: &mut Batch<T>) {
        let width = batch.width();
        self.core.reserve(batch.frames.tiles, width);
        let row = batch.rows * width;
        for step in 0..batch.steps {
            batch.write_output_lags(step);
            let place = Place::new(step, batch.steps);
            let y = &mut batch.y[step * row..(step + 1) * row];
            self.core.step(theta, &mut batch.frames, place, y);
            let outputs = &mut y[..batch.outputs * width];
            self.add_base(theta, batch.frames.x(step), outputs, width);
        }
    }

    pub(super) fn add_base(&self, theta: &[T], x: &[T], y: &mut [T], width: usize) {
        match self.architecture.base() {
            Base::Zero => {}
            Base::LastOutput => add(y, &x[..y.len()]),
            Base::Linear => matmul_add(&theta[self.layout.linear.clone()], x, y, width),
        }
    }

    /// Adds the gradient with respect to θ of a loss on the trajectory that [`forward`](Self::forward) just left.
    ///
    /// `y_adjoint` is that of the predictions (`[tile][row][width]`, zero in padding) and is used up; `extra` is the
    /// interval branch's adjoint of regressors and states.
    pub(crate) fn backward(
        &mut self,
        theta: &[T],
        batch: &Batch<T>,
        y_adjoint: &mut [T],
        extra: Option<&TrajectoryAdjoint<T>>,
        gradient: &mut [T],
    ) {
        let width = batch.width();
        let (row, fed_back) = (batch.rows * width, batch.outputs * width);
        let lags = self.architecture.lags.ny;
        let x_len = self.architecture.regressor_len() * width;
        self.x_adjoint.resize(x_len, T::zero());
        for step in (0..batch.steps).rev() {
            let place = Place::new(step, batch.steps);
            let (earlier, now) = y_adjoint.split_at_mut(step * row);
            let now = &now[..row];
            self.x_adjoint.fill(T::zero());
            self.core
                .step_back(theta, &batch.frames, place, now, extra, &mut self.x_adjoint);
            match self.architecture.base() {
                Base::Zero => {}
                Base::LastOutput => add(&mut self.x_adjoint[..fed_back], &now[..fed_back]),
                Base::Linear => {
                    let (linear, now) = (&theta[self.layout.linear.clone()], &now[..fed_back]);
                    matmul_transposed_add(linear, now, &mut self.x_adjoint, width);
                }
            }
            if let Some(extra) = extra {
                add(
                    &mut self.x_adjoint[..lags * fed_back],
                    &extra.x[step * x_len..step * x_len + lags * fed_back],
                );
            }
            // An output lag passes its adjoint on to the prediction it was; known outputs are constants.
            for lag in 0..lags.min(step) {
                let back = step - 1 - lag;
                if back >= batch.warmup {
                    let at = back * row;
                    let from = &self.x_adjoint[lag * fed_back..(lag + 1) * fed_back];
                    add(&mut earlier[at..at + fed_back], from);
                }
            }
        }
        self.core.gradient_add(&batch.frames, gradient);
        if self.architecture.base() == Base::Linear {
            let linear = &mut gradient[self.layout.linear.clone()];
            let inner = self.architecture.regressor_len();
            for (now, x) in y_adjoint.chunks_exact(row).zip(batch.frames.x.chunks_exact(x_len)) {
                outer_add(&now[..fed_back], x, linear, batch.outputs, inner, width);
            }
        }
    }

    /// Makes room for interval passes over tiles of this width without a crisp pass before.
    pub(crate) fn reserve_interval(&mut self, width: usize) {
        self.core.reserve(1, width);
    }

    /// Bounds of the outputs on one tile of a crisp trajectory (`[output][width]`).
    pub(crate) fn interval_forward(
        &mut self,
        parameters: &IntervalParameters<T>,
        frames: &Frames<T>,
        tile: usize,
        lower: &mut [T],
        upper: &mut [T],
    ) {
        self.core.interval_forward(parameters, frames, tile, lower, upper);
        let x = frames.x(tile);
        match self.architecture.base() {
            Base::Zero => {}
            Base::LastOutput => {
                add(lower, &x[..lower.len()]);
                add(upper, &x[..upper.len()]);
            }
            Base::Linear => {
                if let Some(weights) = parameters.linear() {
                    weights.forward_add(x, lower, upper, frames.width);
                }
            }
        }
    }

    /// Reverse of the [`interval_forward`](Self::interval_forward) just done on this tile: adds to both adjoints.
    #[expect(clippy::too_many_arguments, reason = "values and adjoints of one tile")]
    pub(crate) fn interval_backward(
        &mut self,
        parameters: &IntervalParameters<T>,
        frames: &Frames<T>,
        tile: usize,
        lower_adjoint: &[T],
        upper_adjoint: &[T],
        adjoint: &mut IntervalAdjoint<T>,
        trajectory: &mut TrajectoryAdjoint<T>,
    ) {
        self.core.interval_backward(
            parameters,
            frames,
            tile,
            lower_adjoint,
            upper_adjoint,
            adjoint,
            trajectory,
        );
        let x = frames.x(tile);
        let x_adjoint = TrajectoryAdjoint::tile(&mut trajectory.x, tile, x.len());
        match self.architecture.base() {
            Base::Zero => {}
            Base::LastOutput => {
                add(&mut x_adjoint[..lower_adjoint.len()], lower_adjoint);
                add(&mut x_adjoint[..upper_adjoint.len()], upper_adjoint);
            }
            Base::Linear => {
                if let (Some(weights), Some(to)) = (parameters.linear(), adjoint.linear()) {
                    weights.backward_add(x, lower_adjoint, upper_adjoint, x_adjoint, to, frames.width);
                }
            }
        }
    }
}
