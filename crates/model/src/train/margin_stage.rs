//! The cascade's second stage: the crisp trajectories of all windows, simulated once; margins train on their shuffled tiles.

use intervalid_data::Window;
use intervalid_interval::Real;
use rand::seq::SliceRandom;

use super::bounds::{Bounds, Enclosure, margin_gradients};
use super::part::{BatchShape, Part, Team};
use super::problem::Problem;
use super::state::State;
use crate::network::batch_fill::fill;
use crate::network::initialise::{Purpose, generator};
use crate::network::{Frames, IntervalParameters, Network, TILE, TrajectoryAdjoint};
use crate::train::loss::RqrW;

/// Parts that a mini-batch of tiles is cut into, for as many threads. The bits depend on it.
const PARTS: usize = 4;

/// Trajectories and the work on them.
///
/// Memory grows with windows × steps × (regressor + states): some 200 MB for an LSTM 30-10 on 80 000 samples at N = 40,
/// n_step = 5.
pub(super) struct MarginWork<T> {
    trajectories: Trajectories<T>,
    tiles_per_batch: usize,
    enclosure: Enclosure<T>,
    parts: Vec<MarginPart<T>>,
    team: Team,
    pub(super) gradients: [Vec<T>; 2],
}

/// Tiles of crisp trajectories with what was measured.
struct Trajectories<T> {
    frames: Frames<T>,
    target: Vec<T>,
    /// Tiles after the warm-up.
    tiles: Vec<ScoredTile>,
}

/// A tile, and how many of its samples are filled.
type ScoredTile = (usize, usize);

/// Some tiles of a mini-batch: their share of L_RQR-W and its adjoints.
struct MarginPart<T> {
    network: Network<T>,
    bounds: Bounds<T>,
    scratch: TrajectoryAdjoint<T>,
    tiles: Vec<ScoredTile>,
    rqr_w: f64,
}

impl<T: Real> Trajectories<T> {
    /// Simulates all windows.
    fn new(problem: &Problem<T>, theta: &[T]) -> Self {
        let config = &problem.config;
        let (steps, warmup) = (problem.steps(), config.initial.unscored());
        let architecture = &problem.architecture;
        // Neighbouring windows overlap; spread over tiles at random, each tile is a fair sample.
        let mut order: Vec<usize> = (0..problem.windows.len()).collect();
        order.shuffle(&mut generator(config.seed, Purpose::AssignLanes, 0));
        let groups = order.len().div_ceil(TILE);
        let mut crisp = Part::<T>::new(
            architecture,
            BatchShape {
                windows: TILE,
                ..problem.batch_shape()
            },
        );
        let mut frames = Frames::new(architecture, groups * steps, TILE);
        let row = architecture.outputs * TILE;
        let mut target = vec![T::zero(); groups * steps * row];
        let mut tiles = Vec::new();
        for (group, windows) in order.chunks(TILE).enumerate() {
            let windows: Vec<Window> = windows.iter().map(|&w| problem.windows.get(w)).collect();
            fill(&mut crisp.batch, &problem.scaled, config.lags, config.initial, &windows);
            crisp.network.forward(theta, &mut crisp.batch);
            for step in 0..steps {
                let tile = group * steps + step;
                frames.copy_tile(tile, &crisp.batch.frames, step);
                target[tile * row..(tile + 1) * row].copy_from_slice(&crisp.batch.target[step * row..(step + 1) * row]);
                if step >= warmup {
                    tiles.push((tile, windows.len()));
                }
            }
        }
        Self { frames, target, tiles }
    }
}

impl<T: Real> MarginPart<T> {
    fn new(problem: &Problem<T>, frames: &Frames<T>) -> Self {
        let mut network = Network::new(&problem.architecture);
        network.reserve_interval(TILE);
        Self {
            network,
            bounds: Bounds::new(&problem.layout, problem.architecture.outputs, TILE),
            scratch: TrajectoryAdjoint::scratch(frames),
            tiles: Vec::new(),
            rqr_w: 0.0,
        }
    }

    fn run(&mut self, parameters: &IntervalParameters<T>, from: &Trajectories<T>, loss: &RqrW, share: f64) {
        self.bounds.adjoint.clear();
        self.rqr_w = 0.0;
        let row = from.target.len() / from.frames.tiles;
        for &(tile, filled) in &self.tiles {
            let target = &from.target[tile * row..(tile + 1) * row];
            let (network, scratch) = (&mut self.network, &mut self.scratch);
            self.rqr_w += self.bounds.tile(
                parameters,
                network,
                &from.frames,
                tile,
                target,
                filled,
                loss,
                share,
                scratch,
            );
        }
        self.bounds.adjoint.finish();
    }
}

impl<T: Real> MarginWork<T> {
    pub(super) fn new(problem: &Problem<T>, theta: &[T], team: Team) -> Self {
        let trajectories = Trajectories::new(problem, theta);
        let scored_steps = problem.steps() - problem.config.initial.unscored();
        let wanted = (problem.margin_batch_windows() * scored_steps).div_ceil(TILE);
        let zeros = vec![T::zero(); theta.len()];
        Self {
            parts: (0..PARTS)
                .map(|_| MarginPart::new(problem, &trajectories.frames))
                .collect(),
            tiles_per_batch: wanted.clamp(1, trajectories.tiles.len()),
            trajectories,
            enclosure: Enclosure::new(&problem.layout),
            team,
            gradients: [zeros.clone(), zeros],
        }
    }

    /// Mini-batches of tiles in the order of one epoch; the last incomplete one is dropped.
    pub(super) fn shuffled(&self, seed: u64, epoch: usize) -> impl Iterator<Item = Vec<ScoredTile>> + use<T> {
        let mut order = self.trajectories.tiles.clone();
        order.shuffle(&mut generator(seed, Purpose::ShuffleMargins, epoch));
        let size = self.tiles_per_batch;
        (0..order.len() / size).map(move |b| order[b * size..(b + 1) * size].to_vec())
    }

    /// Fills `gradients` from some tiles; returns their loss.
    pub(super) fn gradients(&mut self, problem: &Problem<T>, state: &State<T>, tiles: &[ScoredTile]) -> f64 {
        let margin = problem.config.interval.margin;
        let scored: usize = tiles
            .iter()
            .map(|&(_, filled)| filled * problem.architecture.outputs)
            .sum();
        let share = 1.0 / scored as f64;
        self.enclosure.update(&state.theta, &state.raw, margin);
        let mut shares = tiles.chunks(tiles.len().div_ceil(PARTS));
        for part in &mut self.parts {
            part.tiles.clear();
            part.tiles.extend_from_slice(shares.next().unwrap_or_default());
        }
        let (parameters, trajectories) = (&self.enclosure.parameters, &self.trajectories);
        self.team.each(&mut self.parts, |part| {
            part.run(parameters, trajectories, &problem.loss, share);
        });
        let bounds = self.parts.iter().map(|part| &part.bounds);
        margin_gradients(bounds, &state.raw, margin, &mut self.gradients);
        self.parts.iter().map(|part| part.rqr_w).sum()
    }
}
