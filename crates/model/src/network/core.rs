//! What a recurrent network has to offer, tile by tile. The base y(k-1) or A·x is added outside.

use intervalid_interval::Real;

use super::parameters::{IntervalAdjoint, IntervalParameters};
use super::tiles::Frames;

/// Where a step stands in its windows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Tile of the step.
    pub(crate) tile: usize,
    /// First step of a window: states before it are zero, and nothing flows back past it.
    pub(crate) first: bool,
    /// Last step of a window: no state is handed on, none flows back into it.
    pub(crate) last: bool,
}

impl Place {
    pub(crate) fn new(step: usize, steps: usize) -> Self {
        Self {
            tile: step,
            first: step == 0,
            last: step + 1 == steps,
        }
    }
}

/// Adjoints of a crisp trajectory that come from the interval branch.
#[derive(Clone, Debug)]
pub(crate) struct TrajectoryAdjoint<T> {
    /// `[tile][regressor][width]`
    pub(crate) x: Vec<T>,
    /// Per cell, of the states before each step: `[tile][size][width]`.
    pub(crate) h: Vec<Vec<T>>,
    /// As `h`.
    pub(crate) c: Vec<Vec<T>>,
}

impl<T: Real> TrajectoryAdjoint<T> {
    pub(crate) fn zeros(frames: &Frames<T>) -> Self {
        Self {
            x: vec![T::zero(); frames.x.len()],
            h: frames.states.iter().map(|cell| vec![T::zero(); cell.h.len()]).collect(),
            c: frames.states.iter().map(|cell| vec![T::zero(); cell.c.len()]).collect(),
        }
    }

    /// Room for one tile that all tiles share: for adjoints that nobody reads.
    pub(crate) fn scratch(frames: &Frames<T>) -> Self {
        let tile = |len: usize| vec![T::zero(); len / frames.tiles];
        Self {
            x: tile(frames.x.len()),
            h: frames.states.iter().map(|cell| tile(cell.h.len())).collect(),
            c: frames.states.iter().map(|cell| tile(cell.c.len())).collect(),
        }
    }

    /// Where a tile of `len` numbers lies in a buffer of this adjoint.
    pub(crate) fn tile(buffer: &mut [T], tile: usize, len: usize) -> &mut [T] {
        if buffer.len() == len {
            buffer
        } else {
            &mut buffer[tile * len..(tile + 1) * len]
        }
    }

    pub(crate) fn clear(&mut self) {
        self.x.fill(T::zero());
        for buffer in self.h.iter_mut().chain(&mut self.c) {
            buffer.fill(T::zero());
        }
    }
}

/// A network's own part, with the buffers that its reverse pass needs.
pub(crate) trait Core<T: Real>: Send {
    /// Makes room for a sequence of tiles.
    fn reserve(&mut self, tiles: usize, width: usize);

    /// One crisp step: writes the network's output to `y` and the states it leaves into the next tile of `frames`.
    fn step(&mut self, theta: &[T], frames: &mut Frames<T>, place: Place, y: &mut [T]);

    /// Reverse of [`step`](Self::step), called from the last step of a window to its first: adds to `x_adjoint`.
    ///
    /// `extra` holds adjoints of the states from the interval branch.
    fn step_back(
        &mut self,
        theta: &[T],
        frames: &Frames<T>,
        place: Place,
        y_adjoint: &[T],
        extra: Option<&TrajectoryAdjoint<T>>,
        x_adjoint: &mut [T],
    );

    /// Adds the gradient of the last full reverse pass to `gradient`.
    fn gradient_add(&self, frames: &Frames<T>, gradient: &mut [T]);

    /// Bounds of the network's output on one tile.
    fn interval_forward(
        &mut self,
        parameters: &IntervalParameters<T>,
        frames: &Frames<T>,
        tile: usize,
        lower: &mut [T],
        upper: &mut [T],
    );

    /// Reverse of the [`interval_forward`](Self::interval_forward) just done on this tile.
    #[expect(clippy::too_many_arguments, reason = "values and adjoints of one tile")]
    fn interval_backward(
        &mut self,
        parameters: &IntervalParameters<T>,
        frames: &Frames<T>,
        tile: usize,
        lower_adjoint: &[T],
        upper_adjoint: &[T],
        adjoint: &mut IntervalAdjoint<T>,
        trajectory: &mut TrajectoryAdjoint<T>,
    );
}
