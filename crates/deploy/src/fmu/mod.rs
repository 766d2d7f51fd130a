//! FMU: the C step behind the Functional Mock-up Interface, versions 2.0 and 3.0, for co-simulation.

mod archive;
mod compile;
mod description;
mod sources;

pub use archive::{FmiVersion, FmuOptions, FmuPackage, fmu};
