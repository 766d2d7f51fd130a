//! Neural state-space models: x(k+1) = f(x(k), u(k)), ŷ(k) = g(x(k), u(k)), each map a linear path with a small network beside it.
//!
//! Everything is in normalised units and depends on seeds and data alone. Exploration is in single precision, all else in double.
//!
//! | step | file |
//! |---|---|
//! | stretches of a record, and which of their samples count | `run` |
//! | one map, the model of two, free runs | `map`, `model` |
//! | linear models: matrices, realisations, subspace start, fit | `linear`, `realisation`, `subspace`, `fit_linear` |
//! | where networks start | `start` |
//! | exploration: Adam from many starts, sixteen side by side | `lanes`, `lane_run`, `explore` |
//! | refinement: Levenberg–Marquardt on whole free runs | `normal`, `descent`, `refine` |
//! | records of 10⁵ samples | `long`, `windows` |
//! | the state before a run: least squares, observer | `initial`, `observer` |
//! | held-out blocks and forward cut, recipes, stacks | `divisions`, `recipe`, `effort`, `fit_recipe`, `proposals`, `stack` |
//!
//! A known plant, y = x with x(k+1) = 0.8 x(k) + 0.6 tanh(1.5 u(k)), found from 600 of its samples: a linear model, a network
//! beside it, and a free run over samples that neither has seen, from the state that an observer finds in the 50 before.
//!
//! ```
//! use intervalid_search::state_space::{
//!     DescentConfig, Fitted, LinearConfig, Observer, Run, Scored, beside_linear, descend, fit_linear,
//! };
//!
//! let u: Vec<f64> = (0..800).map(|k| 1.5 * (0.37 * (k * k % 97) as f64).sin() + (0.05 * k as f64).cos()).collect();
//! let mut x: f64 = 0.0;
//! let mut y = Vec::new();
//! for u in &u {
//!     y.push(x);
//!     x = 0.8 * x + 0.6 * (1.5 * u).tanh();
//! }
//! let record = Run::new(1, 1, u, y);
//!
//! let runs = [record.slice(0..600)];
//! let all = Scored::all(&runs);
//! let config = LinearConfig { states: 1, ..LinearConfig::default() };
//! let linear = fit_linear(&runs, &all, config)?;
//! let start = Fitted { model: beside_linear(&linear.model, 4, 0, 1), x0: linear.x0.clone() };
//! let config = DescentConfig { weight_penalty: 1e-8, ..DescentConfig::default() };
//! let found = descend(start, &runs, &all, config, |_, _| true).expect("stays finite").fitted;
//!
//! let observer = Observer::recalling(&found, &runs, &all, 15).expect("stays finite");
//! let unseen = record.slice(600..800);
//! let largest_error = |model: &Fitted, state: &[f64]| {
//!     let predicted = model.model.simulate(&unseen, state).expect("stays finite");
//!     (0..200).map(|k| (predicted[k] - unseen.y(k)[0]).abs()).fold(0.0, f64::max)
//! };
//! let state = observer.follow(&found.model, &record.slice(550..600), &[0.0]).expect("stays finite");
//! assert!(largest_error(&found, &state) < 0.05);
//! assert!(largest_error(&linear, &[0.0]) > 0.5);
//! # Ok::<(), intervalid_search::SearchError>(())
//! ```

mod cholesky;
mod descent;
mod divisions;
mod effort;
mod explore;
mod fit_linear;
mod fit_recipe;
#[cfg(test)]
mod fixtures;
mod initial;
mod lane_products;
mod lane_run;
mod lanes;
mod levels;
mod linear;
mod long;
mod map;
mod model;
mod normal;
mod observer;
mod proposals;
mod realisation;
mod recipe;
mod refine;
mod run;
mod sensitivities;
mod squares;
mod stack;
mod start;
mod subspace;
mod tanh;
mod windows;

pub(crate) use cholesky::cholesky;
pub use descent::{Descent, DescentConfig, Fitted, descend, mean_squared_error};
pub(crate) use divisions::{Division, HISTORY};
pub use divisions::{Divisions, HeldOut, median, simulate_from};
pub use effort::Effort;
pub use explore::{ExploreConfig, Walker, explore};
pub use fit_linear::{LinearConfig, fit_linear};
pub use fit_recipe::{Candidate, fit_recipes};
pub use initial::{InitialConfig, state_before};
pub use linear::Linear;
pub(crate) use long::beginnings;
pub use long::{LongConfig, descend_long};
pub use model::{Shape, StateSpace};
pub use observer::Observer;
pub use proposals::{WAVE, first_networks, held_back, linear_orders, mutations};
pub(crate) use recipe::descent_work;
pub use recipe::{Recipe, Start};
pub use run::{Run, Scored, runs_of};
pub(crate) use squares::Squares;
pub use stack::{consensus, stack_weights};
pub(crate) use start::with_more_units;
pub use start::{at_random, beside_linear};
pub use subspace::{Subspace, SubspaceConfig};
pub(crate) use tanh::tanh;
pub use windows::{WindowsConfig, descend_windows};
