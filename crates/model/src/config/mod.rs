//! What a user chooses, as plain data; [`FitConfig::checked`] is the only way from here to training.

mod check;
mod checked;
mod fit;
mod flat;
mod gaussian;
mod interval;
mod network;
mod training;

pub(crate) use check::share;
pub use checked::CheckedConfig;
pub use fit::FitConfig;
pub use gaussian::{Feedback, GaussianConfig};
pub use interval::{IntervalConfig, MarginActivation, Strategy};
pub use network::NetworkConfig;
pub use training::TrainingConfig;
