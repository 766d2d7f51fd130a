//! A way to fit a model: its shape, its start, and what carrying it out costs.

use super::effort::Effort;
use super::lanes::MODELS;
use super::model::Shape;
use super::run::Run;

/// Where networks start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Start {
    /// Beside a linear model from a subspace method, refined on free runs.
    Linear,
    /// At random.
    Random,
}

/// A way to fit a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// States.
    pub states: usize,
    /// Units in the state map; with none in either map the model is linear.
    pub state_hidden: usize,
    /// Units in the output map.
    pub output_hidden: usize,
    /// λ
    pub weight_penalty: f64,
    /// Where networks start.
    pub start: Start,
    /// Whether first-order exploration comes before Gauss–Newton.
    pub explores: bool,
    /// First seed of the starts.
    pub seed: u64,
}

impl Recipe {
    /// Whether there is no network.
    pub fn is_linear(&self) -> bool {
        self.state_hidden + self.output_hidden == 0
    }

    /// Sizes of its models.
    pub fn shape(&self, run: &Run) -> Shape {
        Shape {
            states: self.states,
            inputs: run.inputs(),
            outputs: run.outputs(),
            state_hidden: self.state_hidden,
            output_hidden: self.output_hidden,
        }
    }

    /// Multiplications of [`Recipe::fit_one`].
    pub(crate) fn work(&self, runs: &[Run], effort: &Effort, refined: usize) -> f64 {
        let (shape, samples) = (self.shape(&runs[0]), runs.iter().map(Run::len).sum());
        let steps: usize = effort.explore.rounds.iter().map(|(steps, _)| steps).sum();
        let explored = match self.explores {
            true => (steps * effort.starts.div_ceil(MODELS)) as f64 * explore_work(shape, samples),
            false => 0.0,
        };
        explored + refined as f64 * descent_work(shape, samples)
    }
}

/// Multiplications of one step of sixteen explorers; in single precision two take the time of one.
pub(crate) fn explore_work(shape: Shape, samples: usize) -> f64 {
    (4 * MODELS / 2 * shape.parameters() * samples) as f64
}

/// Multiplications of one Gauss–Newton step.
pub(crate) fn descent_work(shape: Shape, samples: usize) -> f64 {
    let parameters = shape.parameters();
    (samples * parameters * (shape.outputs * parameters + shape.states * shape.states)) as f64
}

/// The name of a recipe in tables.
impl std::fmt::Display for Recipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let start = match (self.start, self.explores) {
            _ if self.is_linear() => "linear",
            (Start::Linear, false) => "beside linear",
            (Start::Linear, true) => "beside linear, explored",
            (Start::Random, _) => "random",
        };
        write!(
            f,
            "{} states, {} + {} units, λ {:.0e}, {start}, seed {}",
            self.states, self.state_hidden, self.output_hidden, self.weight_penalty, self.seed
        )
    }
}
