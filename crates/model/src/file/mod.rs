//! Saved models: what a file holds, how it is checked, and a model's identity.

mod fingerprint;
mod header;
pub(crate) mod model_file;
pub(crate) mod tensors;
