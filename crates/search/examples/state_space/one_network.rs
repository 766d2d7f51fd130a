//! One network beside a linear model, for records too long to search: Gauss–Newton on the beginning, then on everything.

use std::str::FromStr;
use std::time::{Duration, Instant};

use intervalid_search::SearchError;
use intervalid_search::state_space::{
    DescentConfig, Fitted, LinearConfig, LongConfig, Run, Scored, beside_linear, descend_long, fit_linear,
};

use super::report::Judge;

/// Samples that the linear model is fitted on.
const LINEAR_SAMPLES: usize = 10_000;

/// Sizes and penalty, as in `8,12,4,1e-9`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct OneNetwork {
    states: usize,
    state_hidden: usize,
    output_hidden: usize,
    weight_penalty: f64,
}

impl FromStr for OneNetwork {
    type Err = Box<dyn std::error::Error>;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts: Vec<&str> = text.split(',').collect();
        let [states, state_hidden, output_hidden, weight_penalty] = parts[..] else {
            return Err(format!("'{text}' is not STATES,UNITS,UNITS,PENALTY").into());
        };
        Ok(Self {
            states: states.parse()?,
            state_hidden: state_hidden.parse()?,
            output_hidden: output_hidden.parse()?,
            weight_penalty: weight_penalty.parse()?,
        })
    }
}

impl OneNetwork {
    /// Fits it within the budget and prints what it is worth after the cut, beside its linear start.
    pub(crate) fn fit_and_print(self, runs: &[Run], judge: &Judge<'_>, budget: Duration) -> Result<(), SearchError> {
        let started = Instant::now();
        let config = LinearConfig {
            states: self.states,
            weight_penalty: 1e-8,
            iterations: 40,
        };
        let linear = fit_linear(runs, &Scored::between(runs, 0..LINEAR_SAMPLES), config)?;
        judge.show("linear model", &judge.run_of_model(&linear));
        let start = Fitted {
            model: beside_linear(&linear.model, self.state_hidden, self.output_hidden, 1),
            x0: linear.x0,
        };
        let config = LongConfig {
            descent: DescentConfig {
                iterations: 200,
                weight_penalty: self.weight_penalty,
                ..DescentConfig::default()
            },
            ..LongConfig::default()
        };
        let is_open = |_, _| started.elapsed() < budget;
        match descend_long(start, runs, &Scored::all(runs), config, is_open) {
            Some((found, _)) => judge.show("network", &judge.run_of_model(&found)),
            None => println!("  the network's start diverges"),
        }
        println!("  {:.0} s", started.elapsed().as_secs_f64());
        Ok(())
    }
}
