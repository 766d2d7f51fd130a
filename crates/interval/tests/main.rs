//! One binary; a module per concern.

mod accuracy;
mod containment;
mod enclosure;
mod interval;
mod kernel;
mod network;
mod reference;
mod strategies;
