//! Networks with Gaussian likelihood: the Bayesian, dropout and ensemble baselines (docs/method.md, section 8).
//!
//! One network gives mean μ and s per output, σ = softplus(s). Each method has its way to several such networks (draws
//! of the parameters, draws of dropout masks, members); [`predictive`] averages them into one mean and one variance per
//! sample, and the mean is what is fed back.

mod bayesian;
mod dropout;
mod likelihood;
mod model;
mod predictive;

pub(crate) use bayesian::{Posterior, initial_posterior};
pub(crate) use dropout::draw_masks;
pub(crate) use likelihood::{gaussian_nll, negative_log_likelihood};
pub(crate) use model::GaussianNetworks;
pub(crate) use predictive::Predictive;
