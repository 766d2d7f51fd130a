//! Candidates with hidden states: linear state-space models and networks, found by the engine of [`state_space`](crate::state_space).

mod candidate;
mod history;
mod lagged;
mod long;
mod recipes;
mod renew;
mod rounds;
mod stress;

pub(crate) use candidate::HiddenCandidate;
pub(crate) use history::{MeasuredStart, Observed};
pub(crate) use lagged::with_lags_as_states;
pub(crate) use long::everything_work;
pub(crate) use rounds::HiddenSearch;
