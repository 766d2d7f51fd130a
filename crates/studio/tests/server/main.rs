//! The server from outside: who may ask, what is refused, and what comes of a recording.

mod analysis;
mod client;
mod data;
mod fits;
mod mixups;
mod owners;
mod prepared;
mod remarks;
mod security;
