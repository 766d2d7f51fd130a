//! What the views say of systems whose answers are known.

mod exported;
mod linearise;
mod models;
// Compilers and interpreters are found as the tests of exports find them.
#[path = "../../../deploy/tests/deploy/tools.rs"]
mod tools;
mod trend;
mod views;
mod width;
