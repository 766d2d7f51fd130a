//! Looking at a fitted model as a control engineer does.
//!
//! | view | shows |
//! |---|---|
//! | [`Linearisation`] | A, B, C, D around a point, poles, zeros, gains, with intervals |
//! | [`FrequencyResponse`] | Bode and Nyquist with a band, beside what a record shows |
//! | [`Responses`] | answers to steps and pulses of several sizes |
//! | [`StaticCurve`] | where outputs come to rest for every value of an input |
//! | [`residuals`] | what the errors of a simulation look like, and where the band holds |
//! | [`width_shares`] | what the band is made of, sample by sample |
//! | [`next_recording`], [`excitation`] | what to measure next |
//! | [`fits_ahead`] | fits from one sample ahead to the free run |
//! | [`Views`] | all of these together |
//!
//! Everything starts from [`StepMap`], the model's one-step map with exact derivatives, which is read off
//! [`StepProgram`](intervalid_deploy::StepProgram) as exports are. Nothing here knows of files or the terminal.

mod certified;
mod correlation;
mod error;
mod excitation;
mod frequency;
mod interval_pass;
mod jet;
mod linear_form;
mod linear_system;
mod linearise;
mod mat_file;
mod member_map;
mod next_recording;
mod operating_point;
mod python_code;
mod residuals;
mod response;
mod rest;
mod spectrum;
mod static_curve;
mod step_map;
mod views;
mod width;
mod width_groups;

pub use certified::ResponseBound;
pub use correlation::{NORMAL_95, bartlett, centred, correlation};
pub use error::{AnalysisError, Result};
pub use excitation::{Excitation, excitation};
pub use frequency::{ChannelResponse, FrequencyResponse, ResponseBand};
pub use linear_form::LinearForm;
pub use linear_system::{Place, PoleView};
pub use linearise::{ChannelView, Intervals, Linearisation, Rows};
pub use mat_file::mat_file;
pub use next_recording::{FrequencyGap, InputCoverage, InputPart, NextRecording, input_limits, next_recording};
pub use operating_point::{OperatingPoint, PointRequest};
pub use python_code::python_code;
pub use residuals::{
    AheadFit, Correlation, CoverageGroup, CrossCorrelation, ErrorSpectrum, Histogram, Residuals, fits_ahead, residuals,
};
pub use response::{OutputResponse, Response, Responses, StepFigures};
pub use spectrum::MeasuredResponse;
pub use static_curve::{HeldInput, StaticCurve, StaticOutput};
pub use step_map::StepMap;
pub use views::{Run, Views};
pub use width::{WidthPart, WidthShares, width_shares};
