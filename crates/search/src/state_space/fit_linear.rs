//! A linear state-space model from data: subspace start, then the error of free runs.
//!
//! ŷ(k) = C x(k) + D u(k) + b_y with x(k+1) = A x(k) + B u(k) + b_x; minimised is the objective of [`descend`]. In the end states
//! have mean zero and unit covariance along the free runs, so that networks beside the model see numbers of order one.

use super::descent::{DescentConfig, Fitted, descend};
use super::linear::Linear;
use super::run::{Run, Scored};
use super::subspace::{Subspace, SubspaceConfig};
use crate::error::{Result, SearchError};

/// Settings of [`fit_linear`].
///
/// | field | symbol | default | purpose |
/// |---|---|---|---|
/// | `states` | | 2 | states; those that the data do not show are there but idle |
/// | `weight_penalty` | λ | 1e-5 | weight of ‖[A B C D]‖² against the mean squared error, in normalised units |
/// | `iterations` | | 20 | most Gauss–Newton steps |
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearConfig {
    /// States.
    pub states: usize,
    /// λ
    pub weight_penalty: f64,
    /// Most Gauss–Newton steps.
    pub iterations: usize,
}

impl Default for LinearConfig {
    fn default() -> Self {
        Self {
            states: 2,
            weight_penalty: 1e-5,
            iterations: 20,
        }
    }
}

/// The stable linear model of a given order that simulates the samples that count best, with the first state of every run.
///
/// # Errors
/// [`SearchError::NoStableLinearModel`] if there are no states, too few samples for a subspace start, or none that stays finite.
pub fn fit_linear(runs: &[Run], scored: &Scored, config: LinearConfig) -> Result<Fitted> {
    fit(runs, scored, config).ok_or(SearchError::NoStableLinearModel)
}

fn fit(runs: &[Run], scored: &Scored, config: LinearConfig) -> Option<Fitted> {
    let states = config.states;
    let start = SubspaceConfig {
        most_states: states,
        ..SubspaceConfig::default()
    };
    let subspace = Subspace::fit(runs, scored, start)?;
    let order = states.min(subspace.most_states());
    let start = subspace.model(order)?.padded(states).whitened(runs)?;
    let start = Fitted {
        model: start.to_model(),
        x0: vec![vec![0.0; states]; runs.len()],
    };
    let descent = DescentConfig {
        iterations: config.iterations,
        weight_penalty: config.weight_penalty,
        ..DescentConfig::default()
    };
    let found = descend(start, runs, scored, descent, |_, _| true)?.fitted;
    let (whitened, x0) = Linear::from_model(&found.model).whitened_with(runs, &found.x0)?;
    Some(Fitted {
        model: whitened.to_model(),
        x0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state_space::descent::mean_squared_error;
    use crate::state_space::model::StateSpace;

    #[test]
    fn a_linear_system_is_recovered_with_states_to_spare() {
        let truth = StateSpace::linear((2, 1, 1), &[0.9, 0.2, 0.3, -0.2, 0.8, 1.0], &[1.0, 0.5, 0.0]);
        let u: Vec<f64> = (0..600).map(|k| (0.37 * (k * k % 97) as f64).sin()).collect();
        let blank = Run::new(1, 1, u.clone(), vec![0.0; 600]);
        let y = truth.simulate(&blank, &[0.5, -0.5]).expect("stable");
        let runs = [Run::new(1, 1, u, y)];
        let (rest, block) = (Scored::outside(&runs, 200..300), Scored::between(&runs, 200..300));
        for states in [2, 4] {
            let config = LinearConfig {
                states,
                weight_penalty: 1e-10,
                ..LinearConfig::default()
            };
            let found = fit_linear(&runs, &rest, config).expect("stable");
            let apart = mean_squared_error(&found, &runs, &block).expect("stable");
            assert!(apart < 1e-6, "{states}: {apart}");
        }
        let no_states = LinearConfig {
            states: 0,
            ..LinearConfig::default()
        };
        assert!(matches!(
            fit_linear(&runs, &rest, no_states),
            Err(SearchError::NoStableLinearModel)
        ));
    }
}
