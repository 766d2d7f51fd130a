//! Exported steps against `predict`, run by the real tools.

mod c;
mod fmu;
mod light;
mod models;
mod monitor;
mod names;
mod onnx;
mod random;
mod tools;
