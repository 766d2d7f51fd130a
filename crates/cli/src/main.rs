//! The intervalid command line.
fn main() {}
