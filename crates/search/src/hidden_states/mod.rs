//! Candidates with hidden states: linear state-space models and networks, found by the engine of [`state_space`](crate::state_space).

mod candidate;
mod history;
mod long;
mod pool;
mod recipes;
mod renew;
mod rounds;
mod stress;

pub(crate) use candidate::HiddenCandidate;
pub(crate) use history::Observed;
pub(crate) use long::everything_work;
pub(crate) use pool::{Pool, UNTOLD, best_pool, common_shape};
pub(crate) use rounds::HiddenSearch;
