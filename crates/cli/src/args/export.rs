//! Arguments of `export`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::BandName;

const EXAMPLES: &str = "\
Examples:
  intervalid export dryer --to c --out dryer.c           C99: dryer.c and dryer.h, function dryer_step
  intervalid export dryer --to c --out step.c --precision double
  intervalid export dryer --to c --out step.c --jacobian  with exact derivatives, for model predictive control
  intervalid export dryer --to c --out step.c --monitor  with a watch: does the band still hold?
  intervalid export dryer --to c --out step.c --band light   fewer members: less memory and time, a band sized for them
  intervalid export dryer --to onnx --out dryer.onnx     for onnxruntime: the step, how it starts, whole records
  intervalid export dryer --to fmu --out dryer.fmu       for Simulink, OpenModelica, fmpy
  intervalid export dryer --to fmu --out dryer.fmu --fmi 3 --no-binary

Interval networks, their ensembles and ARX can be exported; the step gives the numbers of `predict`.";

/// What to make of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    /// A C99 source file and its header.
    C,
    /// ONNX graphs of a step, of its start and of whole records.
    Onnx,
    /// A Functional Mock-up Unit for co-simulation.
    Fmu,
}

/// Number type of C code and ONNX graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportPrecision {
    /// 32 bits.
    Float,
    /// 64 bits.
    Double,
}

/// Version of the Functional Mock-up Interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fmi {
    /// FMI 2.0, which every tool imports.
    #[value(name = "2")]
    V2,
    /// FMI 3.0.
    #[value(name = "3")]
    V3,
}

/// Arguments of `export`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExportArgs {
    /// A fit's folder or its model.safetensors
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// What to make of it
    #[arg(long, value_name = "TARGET", value_enum)]
    pub(crate) to: Target,
    /// File to write: NAME.c (and NAME.h beside it), NAME.onnx (and NAME_init.onnx, NAME_correct.onnx, NAME_simulate.onnx) or NAME.fmu; NAME
    /// names the code
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Number type of C code or of ONNX graphs [default: that of the model]
    #[arg(long, value_name = "TYPE", value_enum)]
    pub(crate) precision: Option<ExportPrecision>,
    /// Which band of a mean of several models: that of all, or one of each recipe with a band sized for these
    #[arg(long, value_name = "BAND", value_enum, default_value = "full")]
    pub(crate) band: BandName,
    /// Add the exact derivatives of a step to C code or to the ONNX graph of a step
    #[arg(long)]
    pub(crate) jacobian: bool,
    /// Add a watch over the model to C code or an FMU: running coverage, and whether the band still holds what it promised
    #[arg(long)]
    pub(crate) monitor: bool,
    /// Probability of a false alarm over the whole life of that watch [default: 0.01]
    #[arg(long, value_name = "P", requires = "monitor")]
    pub(crate) false_alarm: Option<f64>,
    /// Samples per block of that watch [default: several correlation times of the first 200 residuals]
    #[arg(long, value_name = "N", requires = "monitor")]
    pub(crate) block: Option<usize>,
    /// Version of the interface of an FMU [default: 2]
    #[arg(long, value_name = "VERSION", value_enum)]
    pub(crate) fmi: Option<Fmi>,
    /// Put only the sources into an FMU; no C compiler is needed then
    #[arg(long)]
    pub(crate) no_binary: bool,
    /// Replace files that exist
    #[arg(long)]
    pub(crate) force: bool,
}
