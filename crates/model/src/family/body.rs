//! What a model computes with, whatever its family and precision. The one place that tells them apart.

use intervalid_data::{Dataset, Part};
use intervalid_interval::Real;

use super::ensemble;
use super::gaussian::GaussianNetworks;
use super::interval::IntervalNetwork;
use super::linear::ArxWithBand;
use crate::band::prediction::Band;
use crate::config::FitConfig;
use crate::error::Result;
use crate::interface::ModelInterface;

/// A family's numbers, in the precision they were fitted in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Body {
    /// Networks in single precision.
    F32(Networks<f32>),
    /// Networks in double precision.
    F64(Networks<f64>),
    /// ARX, always in double precision.
    Linear(ArxWithBand),
}

/// Networks of one architecture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Networks<T> {
    /// One interval network, or several whose bands are averaged; never none.
    Interval(Vec<IntervalNetwork<T>>),
    /// Networks with Gaussian likelihood.
    Gaussian(GaussianNetworks<T>),
}

/// A body beside what its model knows of the record it was fitted on: what it takes to run it.
#[derive(Debug)]
pub(crate) struct Fitted<'a, B> {
    pub(crate) interface: &'a ModelInterface,
    pub(crate) config: &'a FitConfig,
    pub(crate) body: &'a B,
}

// Derived, these would ask the same of `B`.
impl<B> Clone for Fitted<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B> Copy for Fitted<'_, B> {}

impl<'a, B> Fitted<'a, B> {
    /// The same model, seen as another body.
    pub(crate) fn with<C>(self, body: &'a C) -> Fitted<'a, C> {
        Fitted {
            interface: self.interface,
            config: self.config,
            body,
        }
    }
}

/// Parameters of one interval network as `f64`, flat; [`Architecture::layout`](crate::Architecture::layout) says what is
/// where.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkParameters {
    /// θ.
    pub theta: Vec<f64>,
    /// Δ_lo ≥ 0.
    pub margin_lower: Vec<f64>,
    /// Δ_hi ≥ 0.
    pub margin_upper: Vec<f64>,
    /// θ - Δ_lo, rounded in the model's precision.
    pub lower: Vec<f64>,
    /// θ + Δ_hi, rounded in the model's precision.
    pub upper: Vec<f64>,
}

/// Parameter vectors of one layout, in the order in which files hold them and fingerprints hash them.
pub(crate) enum ParameterSets {
    F32(Vec<Vec<f32>>),
    F64(Vec<Vec<f64>>),
}

impl Fitted<'_, Body> {
    /// Free runs with the band as the family itself makes it.
    pub(crate) fn simulate(&self, dataset: &Dataset, part: &Part) -> Result<Vec<Band>> {
        match self.body {
            Body::F32(networks) => self.with(networks).simulate(dataset, part),
            Body::F64(networks) => self.with(networks).simulate(dataset, part),
            Body::Linear(arx) => self.with(arx).simulate(dataset, part),
        }
    }
}

impl<T: Real> Fitted<'_, Networks<T>> {
    fn simulate(&self, dataset: &Dataset, part: &Part) -> Result<Vec<Band>> {
        match self.body {
            Networks::Interval(members) => ensemble::simulate(*self, members, dataset, part),
            Networks::Gaussian(networks) => self.with(networks).simulate(dataset, part),
        }
    }
}

impl Body {
    /// Numbers that were fitted, without margins and spreads.
    pub(crate) fn parameters(&self) -> usize {
        match self {
            Self::F32(networks) => networks.parameters(),
            Self::F64(networks) => networks.parameters(),
            Self::Linear(model) => model.parameter_sets().iter().map(Vec::len).sum(),
        }
    }

    /// Interval networks or linear models whose mean it is; 1 for every other family.
    pub(crate) fn members(&self) -> usize {
        match self {
            Self::F32(Networks::Interval(members)) => members.len(),
            Self::F64(Networks::Interval(members)) => members.len(),
            Self::Linear(model) => model.members.len(),
            Self::F32(Networks::Gaussian(_)) | Self::F64(Networks::Gaussian(_)) => 1,
        }
    }

    /// The same with the members at these places alone, which must exist; other families are one.
    pub(crate) fn only(&self, places: &[usize]) -> Self {
        fn few<M: Clone>(members: &[M], places: &[usize]) -> Vec<M> {
            places.iter().map(|&place| members[place].clone()).collect()
        }
        match self {
            Self::F32(Networks::Interval(members)) => Self::F32(Networks::Interval(few(members, places))),
            Self::F64(Networks::Interval(members)) => Self::F64(Networks::Interval(few(members, places))),
            Self::Linear(model) => Self::Linear(ArxWithBand {
                members: few(&model.members, places),
                half_width: model.half_width.clone(),
            }),
            Self::F32(Networks::Gaussian(_)) | Self::F64(Networks::Gaussian(_)) => self.clone(),
        }
    }

    /// Parameters of every interval network; none of other families.
    pub(crate) fn network_parameters(&self) -> Vec<NetworkParameters> {
        match self {
            Self::F32(networks) => networks.network_parameters(),
            Self::F64(networks) => networks.network_parameters(),
            Self::Linear(_) => Vec::new(),
        }
    }

    pub(crate) fn parameter_sets(&self) -> ParameterSets {
        match self {
            Self::F32(networks) => ParameterSets::F32(networks.parameter_sets()),
            Self::F64(networks) => ParameterSets::F64(networks.parameter_sets()),
            Self::Linear(model) => ParameterSets::F64(model.parameter_sets()),
        }
    }

    /// Half the width of the band of each output of ARX, in its unit; other families have none.
    pub(crate) fn half_width(&self) -> &[f64] {
        match self {
            Self::Linear(model) => &model.half_width,
            Self::F32(_) | Self::F64(_) => &[],
        }
    }
}

impl<T: Real> Networks<T> {
    fn parameters(&self) -> usize {
        match self {
            Self::Interval(members) => members.iter().map(|member| member.theta.len()).sum(),
            Self::Gaussian(networks) => networks.members.iter().map(Vec::len).sum(),
        }
    }

    fn network_parameters(&self) -> Vec<NetworkParameters> {
        match self {
            Self::Interval(members) => members.iter().map(IntervalNetwork::numbers).collect(),
            Self::Gaussian(_) => Vec::new(),
        }
    }

    fn parameter_sets(&self) -> Vec<Vec<T>> {
        match self {
            Self::Interval(members) => members.iter().flat_map(IntervalNetwork::parameter_sets).collect(),
            Self::Gaussian(networks) => networks.parameter_sets(),
        }
    }
}

/// A number type that a body can be of.
pub(crate) trait OfPrecision: Real {
    /// Networks as a body.
    fn body(networks: Networks<Self>) -> Body;
}

impl OfPrecision for f32 {
    fn body(networks: Networks<Self>) -> Body {
        Body::F32(networks)
    }
}

impl OfPrecision for f64 {
    fn body(networks: Networks<Self>) -> Body {
        Body::F64(networks)
    }
}
