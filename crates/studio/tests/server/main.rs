//! The server from outside: who may ask, what is refused, and what comes of a recording.

mod client;
mod data;
mod fits;
mod security;
