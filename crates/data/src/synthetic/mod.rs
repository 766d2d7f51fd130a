//! Seeded systems with known truth.

mod linear;
mod mr_damper;
mod record;
mod signal;
mod two_tank;
mod wiener;

pub use linear::LinearSystem;
pub use mr_damper::BoucWenDamper;
pub use record::SyntheticRecord;
pub use two_tank::TwoTank;
pub use wiener::WienerSystem;
