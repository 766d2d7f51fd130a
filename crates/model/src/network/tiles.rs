//! Batches of windows and long runs, both as sequences of tiles `[channel][sample]` (see `intervalid_interval::kernel`).

use core::ops::Range;

use intervalid_data::{PastOutput, PastOutputs};
use intervalid_interval::{Real, kernel};

use super::architecture::Architecture;

/// Samples per tile: the kernels are fastest when forty channels of a tile fit the first-level cache.
pub(crate) const TILE: usize = 32;

/// The crisp trajectory that the interval branch starts from, tile by tile: regressors and the states before each step.
///
/// In a batch, a tile is one step of up to [`TILE`] windows; in a long run it is up to [`TILE`] consecutive steps.
#[derive(Clone, Debug)]
pub(crate) struct Frames<T> {
    pub(crate) width: usize,
    pub(crate) tiles: usize,
    regressor_len: usize,
    /// `[tile][regressor][width]`
    pub(crate) x: Vec<T>,
    /// Per LSTM cell; of a state-space model its states and its last prediction, in `h` alone; empty for a NODE.
    pub(crate) states: Vec<CellStates<T>>,
    /// Dropout masks per hidden layer, `[tile][channel][width]`, 0 or 1/keep rate; no layers without dropout.
    pub(crate) masks: Vec<Vec<T>>,
}

/// States before each step: `[tile][width of the cell][width]`.
#[derive(Clone, Debug)]
pub(crate) struct CellStates<T> {
    pub(crate) size: usize,
    pub(crate) h: Vec<T>,
    pub(crate) c: Vec<T>,
}

impl<T: Real> Frames<T> {
    pub(crate) fn new(architecture: &Architecture, tiles: usize, width: usize) -> Self {
        let regressor_len = architecture.regressor_len();
        let cell = |&size: &usize| CellStates {
            size,
            h: vec![T::zero(); tiles * size * width],
            c: vec![T::zero(); tiles * size * width],
        };
        let states = architecture.state_sizes().iter().map(cell).collect();
        Self {
            width,
            tiles,
            regressor_len,
            x: vec![T::zero(); tiles * regressor_len * width],
            states,
            masks: Vec::new(),
        }
    }

    /// The mask of a hidden layer on one tile, if there is dropout.
    pub(crate) fn mask(&self, layer: usize, tile: usize) -> Option<&[T]> {
        let mask = self.masks.get(layer)?;
        let len = mask.len() / self.tiles;
        Some(&mask[tile * len..(tile + 1) * len])
    }

    pub(crate) fn x(&self, tile: usize) -> &[T] {
        let len = self.regressor_len * self.width;
        &self.x[tile * len..(tile + 1) * len]
    }

    pub(crate) fn x_mut(&mut self, tile: usize) -> &mut [T] {
        let len = self.regressor_len * self.width;
        &mut self.x[tile * len..(tile + 1) * len]
    }

    /// Copies all samples of one tile from another sequence of the same width.
    pub(crate) fn copy_tile(&mut self, to: usize, other: &Self, from: usize) {
        self.x_mut(to).copy_from_slice(other.x(from));
        for (mine, theirs) in self.states.iter_mut().zip(&other.states) {
            let len = mine.size * self.width;
            mine.h[to * len..(to + 1) * len].copy_from_slice(&theirs.h[from * len..(from + 1) * len]);
            mine.c[to * len..(to + 1) * len].copy_from_slice(&theirs.c[from * len..(from + 1) * len]);
        }
    }
}

impl<T: Real> CellStates<T> {
    pub(crate) fn h(&self, tile: usize, width: usize) -> &[T] {
        &self.h[tile * self.size * width..(tile + 1) * self.size * width]
    }

    pub(crate) fn c(&self, tile: usize, width: usize) -> &[T] {
        &self.c[tile * self.size * width..(tile + 1) * self.size * width]
    }
}

/// Windows of equal length that run side by side, at most [`TILE`] of them: each tile holds one of their steps.
#[derive(Clone, Debug)]
pub(crate) struct Batch<T> {
    pub(crate) steps: usize,
    pub(crate) windows: usize,
    /// First steps of each window that run on measured outputs and are not scored.
    pub(crate) warmup: usize,
    pub(crate) outputs: usize,
    /// Rows of the read-out per tile: the outputs, and in a Gaussian head their s after them.
    pub(crate) rows: usize,
    pub(crate) frames: Frames<T>,
    /// Output lags at the first step, `[output lag][width]`.
    pub(crate) start: Vec<T>,
    /// Measured outputs, `[tile][output][width]`.
    pub(crate) target: Vec<T>,
    /// Crisp predictions, `[tile][row][width]`; what is fed back are the first rows, the outputs.
    pub(crate) y: Vec<T>,
}

impl<T: Real> Batch<T> {
    pub(crate) fn new(architecture: &Architecture, windows: usize, steps: usize, warmup: usize) -> Self {
        assert!(windows <= TILE, "{windows} windows in a tile of {TILE}");
        let width = kernel::padded(windows.max(1));
        let outputs = architecture.outputs;
        Self {
            steps,
            windows,
            warmup,
            outputs,
            rows: architecture.readout_len(),
            frames: Frames::new(architecture, steps, width),
            start: vec![T::zero(); architecture.output_lags_len() * width],
            target: vec![T::zero(); steps * outputs * width],
            y: vec![T::zero(); steps * architecture.readout_len() * width],
        }
    }

    pub(crate) fn width(&self) -> usize {
        self.frames.width
    }

    /// Tiles after the warm-up. Samples past the last window are padding.
    pub(crate) fn scored_tiles(&self) -> Range<usize> {
        self.warmup..self.steps
    }

    /// Number of targets that count in a loss.
    pub(crate) fn scored(&self) -> usize {
        self.windows * (self.steps - self.warmup) * self.outputs
    }

    /// Writes the output lags of the regressor at `step`: known outputs before the window and in its warm-up, the
    /// model's own predictions after.
    pub(crate) fn write_output_lags(&mut self, step: usize) {
        let row = self.outputs * self.width();
        let lags = self.start.len() / row;
        // Steps of the window count as samples; those before it are in `start`.
        let past = PastOutputs::new(0..self.warmup, 0);
        for lag in 1..=lags {
            let source = match past.source(step, lag) {
                PastOutput::Measured(back) => &self.target[back * row..][..row],
                PastOutput::Predicted(back) => &self.y[back * self.rows * self.width()..][..row],
                PastOutput::Unknown => &self.start[(lag - 1 - step) * row..][..row],
            };
            let len = self.frames.x.len() / self.frames.tiles;
            self.frames.x[step * len + (lag - 1) * row..][..row].copy_from_slice(source);
        }
    }
}
