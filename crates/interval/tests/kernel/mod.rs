//! The kernels against naive loops, at every level and in both precisions.

mod activation;
mod crisp;
mod elementwise;
mod forward;
mod reverse;
mod support;
