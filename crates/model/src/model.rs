//! Any fitted model.

use std::path::Path;

use intervalid_data::{ArxModel, Dataset, Normaliser, Part, Split, replace_file};

use crate::band::calibration::{Calibration, online_bands};
use crate::band::horizon::HorizonScales;
use crate::band::light::LightBand;
use crate::band::limits::{OutputRange, check_ranges, limit};
use crate::band::prediction::Band;
use crate::config::{FitConfig, share};
use crate::error::{ModelError, Result};
use crate::family::body::{Body, Fitted, NetworkParameters, Networks};
use crate::family::ensemble::spread_factor;
use crate::family::linear::{ArxWithBand, fit_arx, search_lags};
use crate::file::model_file;
use crate::interface::ModelInterface;
use crate::kind::{Method, ModelKind, Precision};
use crate::network::Architecture;
use crate::simulate::certified::CertifiedBand;
use crate::simulate::recursion::RecursionMode;
use crate::train::{FitOptions, TrainInfo, fit_network};

/// A fitted model of any family and precision: what it knows of its record, how it was fitted, and what it computes with.
///
/// ```
/// use intervalid_data::{ReadOptions, Split, SplitFractions, load};
/// use intervalid_model::{FitConfig, FitOptions, Model, evaluate};
///
/// let dataset = load(&["hair-dryer"], None, &ReadOptions::default())?;
/// let split = Split::new(&dataset, SplitFractions::new(0.4, 0.1, 0.5)?)?;
/// let config = FitConfig::default().with(|config| config.training.epochs = 2);
///
/// let (model, info) = Model::fit(&dataset, &split, &config, FitOptions::default())?;
/// let bands = model.simulate(&dataset, &split.test)?;
/// assert_eq!(evaluate(&dataset, &bands, config.coverage)?.all.n, 499);
/// assert_eq!(info.epochs_run(), 4);
/// assert_eq!(Model::from_bytes(model.to_bytes()?)?, model);
/// # Ok::<(), intervalid_model::ModelError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    interface: ModelInterface,
    config: FitConfig,
    body: Body,
}

impl Model {
    pub(crate) fn new(interface: ModelInterface, config: FitConfig, body: Body) -> Self {
        Self {
            interface,
            config,
            body,
        }
    }

    /// Fits the configured model to the training part of a record; lags are searched first where the configuration says
    /// so. The test part is not looked at.
    ///
    /// # Errors
    /// [`ModelError`] if an option is out of range, the record is too short for what was asked, a checkpoint is damaged
    /// or of another fit, or no epoch gave a finite result.
    pub fn fit(
        dataset: &Dataset,
        split: &Split,
        config: &FitConfig,
        options: FitOptions<'_>,
    ) -> Result<(Self, TrainInfo)> {
        let mut config = config.checked()?;
        if config.lag_search {
            let lags = search_lags(dataset, split, &config)?;
            config = config.with_lags(lags);
        }
        if config.model.method() != Method::Linear {
            return fit_network(dataset, split, &config, options);
        }
        let started = std::time::Instant::now();
        let normaliser = options.normaliser(dataset, &split.train)?;
        let model = fit_arx(normaliser, dataset, split, &config.with_precision(Precision::F64))?;
        let info = TrainInfo {
            stages: Vec::new(),
            history: Vec::new(),
            duration: started.elapsed(),
        };
        Ok((model, info))
    }

    /// The ARX model with these coefficients, in units of `normaliser`, and a band of these half-widths; of several models the mean
    /// of their free runs. The first should have seen all the data.
    ///
    /// # Panics
    /// If there is no model, or they differ in lags.
    #[must_use]
    pub fn from_arx(
        dataset: &Dataset,
        normaliser: Normaliser,
        members: Vec<ArxModel>,
        half_width: Vec<f64>,
        config: &FitConfig,
    ) -> Self {
        let lags = members[0].lags;
        assert!(
            members.iter().all(|member| member.lags == lags),
            "one layout of regressors"
        );
        let config = FitConfig {
            model: ModelKind::Arx,
            lags,
            precision: Precision::F64,
            ..config.clone()
        };
        let body = Body::Linear(ArxWithBand { members, half_width });
        Self::new(ModelInterface::new(dataset, normaliser), config, body)
    }

    /// One model of several interval networks: their free runs and bands averaged. It has the configuration of the first.
    ///
    /// # Errors
    /// If there are none, one is not an interval network, or they differ in precision, architecture, channels, scaling, start
    /// or coverage.
    pub fn ensemble(models: Vec<Self>) -> Result<Self> {
        let mut models = models.into_iter();
        let Some(mut first) = models.next() else {
            return Err(ModelError::option("members", 0, "at least one"));
        };
        for (index, model) in models.enumerate() {
            let alike = model.architecture() == first.architecture()
                && model.interface == first.interface
                && model.config.initial == first.config.initial
                && model.config.coverage.to_bits() == first.config.coverage.to_bits();
            match (&mut first.body, model.body) {
                (Body::F32(Networks::Interval(all)), Body::F32(Networks::Interval(more))) if alike => all.extend(more),
                (Body::F64(Networks::Interval(all)), Body::F64(Networks::Interval(more))) if alike => all.extend(more),
                _ => {
                    return Err(ModelError::option(
                        "member",
                        index + 1,
                        "an interval network with the precision, architecture, channels, scaling, start and coverage of the first",
                    ));
                }
            }
        }
        Ok(first)
    }

    /// Reads a model file.
    ///
    /// The model is the saved one to the bit. Sizes in the file are compared with its length before anything of that size
    /// is built.
    ///
    /// # Errors
    /// [`ModelError::File`] if the file cannot be read, [`ModelError::Format`] with what was found and what was expected
    /// if it is anything but an undamaged model of a known format.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        model_file::open(path.as_ref())
    }

    /// The model in the bytes of a model file.
    ///
    /// # Errors
    /// Those of [`Model::load`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        model_file::from_bytes(bytes)
    }

    /// Writes the model to a file, `model.safetensors` by convention.
    ///
    /// The file is replaced in one step: a reader sees the old one or the new one, whatever happens meanwhile.
    ///
    /// # Errors
    /// [`ModelError::File`] if it cannot be written; [`ModelError::Format`] if a parameter is not finite or a margin
    /// negative, since no reader would take it.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let bytes = model_file::to_bytes(self, path)?;
        replace_file(path, &bytes).map_err(|source| ModelError::File {
            action: "write",
            path: path.to_owned(),
            source,
        })
    }

    /// The bytes that [`save`](Self::save) writes, for [`from_bytes`](Self::from_bytes).
    ///
    /// # Errors
    /// [`ModelError::Format`] as in [`save`](Self::save).
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        model_file::to_bytes(self, Path::new(model_file::IN_MEMORY))
    }

    /// Which model it is.
    #[must_use]
    pub fn kind(&self) -> ModelKind {
        self.config.model
    }

    /// Numbers that were fitted, without margins and spreads: coefficients, or weights of all members.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.body.parameters()
    }

    /// What it remembers of the past, in words: `lags 2,1,3`, or `3 states`.
    #[must_use]
    pub fn memory_in_words(&self) -> String {
        match (
            self.kind(),
            self.config.network.states_or_default(),
            self.config.lags.nd,
        ) {
            (ModelKind::Iss, 1, 0) => "1 state".to_owned(),
            (ModelKind::Iss, states, 0) => format!("{states} states"),
            (ModelKind::Iss, states, dead_time) => format!("{states} states, dead time {dead_time}"),
            _ => format!("lags {}", self.config.lags),
        }
    }

    /// Interval networks whose mean it is; 1 for every other model.
    #[must_use]
    pub fn members(&self) -> usize {
        self.body.members()
    }

    /// Parameters and margins of every interval network in it; empty for models of other families.
    #[must_use]
    pub fn network_parameters(&self) -> Vec<NetworkParameters> {
        self.body.network_parameters()
    }

    /// The linear models in normalised units and half the width of the band of each output, of an ARX model; the first has seen all
    /// the data.
    #[must_use]
    pub fn arx(&self) -> Option<(&[ArxModel], &[f64])> {
        match &self.body {
            Body::Linear(model) => Some((&model.members, &model.half_width)),
            Body::F32(_) | Body::F64(_) => None,
        }
    }

    /// Shape of its networks; none of ARX.
    #[must_use]
    pub fn architecture(&self) -> Option<Architecture> {
        Architecture::of(&self.config, self.interface.inputs.len(), self.interface.outputs.len())
    }

    /// Channels it was fitted on, their scaling, and what is known of the training data.
    #[must_use]
    pub fn interface(&self) -> &ModelInterface {
        &self.interface
    }

    /// The resolved configuration of the fit.
    #[must_use]
    pub fn config(&self) -> &FitConfig {
        &self.config
    }

    pub(crate) fn body(&self) -> &Body {
        &self.body
    }

    pub(crate) fn fitted(&self) -> Fitted<'_, Body> {
        Fitted {
            interface: &self.interface,
            config: &self.config,
            body: &self.body,
        }
    }

    /// Free-run simulation with prediction intervals over every segment of a part, started as the model was trained.
    ///
    /// # Errors
    /// If the data have other channels or the part is too short.
    pub fn simulate(&self, dataset: &Dataset, part: &Part) -> Result<Vec<Band>> {
        let bands = self.simulate_unlimited(&*self.level(dataset)?, part)?;
        Ok(self.limited(self.with_its_trend(dataset, bands)))
    }

    /// The same without physical limits, on data without a trend.
    pub(crate) fn simulate_unlimited(&self, dataset: &Dataset, part: &Part) -> Result<Vec<Band>> {
        Ok(self.interface.calibrate(self.fitted().simulate(dataset, part)?))
    }

    /// Predictions and bounds put inside the physical limits of their outputs.
    pub(crate) fn limited(&self, mut bands: Vec<Band>) -> Vec<Band> {
        limit(&mut bands, &self.interface.output_ranges);
        bands
    }

    /// The bands of [`simulate`](Self::simulate) as they would have been had their scale followed the measured outputs of
    /// `dataset`, each sample's band knowing the samples before it only ([`OnlineBand`](crate::OnlineBand)).
    ///
    /// # Errors
    /// If the bands do not belong to the data.
    pub fn online(&self, dataset: &Dataset, bands: &[Band]) -> Result<Vec<Band>> {
        Ok(self.limited(online_bands(&self.interface, self.config.coverage, dataset, bands)?))
    }

    /// For every band, which of its samples lie outside the region of the training data; none where the model does not
    /// know that region.
    ///
    /// # Errors
    /// If the data have other channels.
    pub fn extrapolated(&self, dataset: &Dataset, bands: &[Band]) -> Result<Option<Vec<Vec<bool>>>> {
        let level = self.level(dataset)?;
        self.interface
            .extrapolated(&level, &self.without_its_trend(dataset, bands))
    }

    /// The same model with its band scaled; `None` gives back the band it was trained with.
    ///
    /// # Errors
    /// If the calibration is of another number of outputs or has values out of range.
    pub fn calibrated(mut self, calibration: Option<Calibration>) -> Result<Self> {
        if let Some(calibration) = &calibration {
            calibration
                .check(self.interface.outputs.len())
                .map_err(|reason| ModelError::option("calibration", reason, "one sound scaling per output"))?;
        }
        self.interface.calibration = calibration;
        // They are relative to the band as it was scaled before; a light band stands beside the one it was found with.
        self.interface.horizons = None;
        self.interface.light = None;
        Ok(self)
    }

    /// The same model knowing the region of `part`, which it was fitted on: samples outside can be told.
    ///
    /// # Errors
    /// If the data have other channels or the part is too short.
    pub fn with_region(mut self, dataset: &Dataset, part: &Part) -> Result<Self> {
        let bands = self.without_its_trend(dataset, &self.simulate(dataset, part)?);
        let level = self.level(dataset)?;
        self.interface.region = self.interface.region_of(&level, &bands, self.config.lags)?;
        Ok(self)
    }

    /// The same model with physical limits, one range per output, which predictions and bands do not leave; none takes them off.
    ///
    /// # Errors
    /// If there is another number of ranges, or one has nothing inside.
    pub fn with_output_ranges(mut self, ranges: Vec<OutputRange>) -> Result<Self> {
        check_ranges(&ranges, self.interface.outputs.len())
            .map_err(|reason| ModelError::option("output_range", reason, "a range per output"))?;
        self.interface.output_ranges = ranges;
        Ok(self)
    }

    pub(crate) fn map_interface(mut self, change: impl FnOnce(&mut ModelInterface)) -> Self {
        change(&mut self.interface);
        self
    }

    pub(crate) fn set_horizons(&mut self, horizons: Option<HorizonScales>) {
        self.interface.horizons = horizons;
    }

    pub(crate) fn set_light(&mut self, light: Option<LightBand>) {
        self.interface.light = light;
    }

    /// The same model with a band for another coverage, where that needs no training: a calibrated model from the scales it stores
    /// ([`Calibration::at`]), a Gaussian baseline without calibration from its variance.
    ///
    /// Bands of one model for several coverages lie inside one another. A band some samples ahead shrinks as that of the model's own
    /// coverage does ([`HorizonScales`]).
    ///
    /// # Errors
    /// If `coverage` is not between 0 and 1, or [`ModelError::NoSuchLevel`] if the model cannot tell how wide its band is then.
    pub fn at_coverage(&self, coverage: f64) -> Result<Self> {
        share("coverage", coverage)?;
        let mut model = self.clone();
        model.config.coverage = coverage;
        let own = self.config.coverage;
        if own.to_bits() == coverage.to_bits() {
            return Ok(model);
        }
        let is_gaussian = !matches!(self.kind().method(), Method::Interval | Method::Linear);
        let stored = self.interface.calibration.as_ref();
        let reach = stored.and_then(Calibration::reach);
        let mut found = stored.and_then(|calibration| calibration.at(coverage));
        match &mut found {
            // The band that scales were found for is one of another number of standard deviations.
            Some(found) if is_gaussian => {
                let ratio = spread_factor(own) / spread_factor(coverage);
                for scaling in &mut found.outputs {
                    scaling.lower *= ratio;
                    scaling.upper *= ratio;
                    scaling.floor /= ratio;
                }
                // Scales of other levels are of the other band.
                found.levels.clear();
            }
            Some(_) => {}
            None if is_gaussian && reach.is_none() => {}
            None => {
                return Err(ModelError::NoSuchLevel {
                    asked: coverage,
                    own,
                    reach,
                });
            }
        }
        model.interface.calibration = found;
        // Both were looked at at the same levels.
        model.interface.light = model.interface.light.and_then(|light| {
            Some(LightBand {
                calibration: light.calibration.at(coverage)?,
                ..light
            })
        });
        Ok(model)
    }

    /// The coverages that [`at_coverage`](Self::at_coverage) gives, least and greatest; none but its own where that is none.
    #[must_use]
    pub fn coverages(&self) -> Option<(f64, f64)> {
        match self.interface.calibration.as_ref().map(Calibration::reach) {
            Some(reach) => reach,
            None if matches!(self.kind().method(), Method::Interval | Method::Linear) => None,
            None => Some((0.0, 1.0)),
        }
    }

    /// Free-run simulation whose bounds come from an interval recursion; the point predictions are those of
    /// [`simulate`](Self::simulate).
    ///
    /// Where a width passes 10⁴ standard deviations of the training record or is not a number, the band ends, with that
    /// step in [`Band::diverged_at`].
    ///
    /// # Errors
    /// If the model is not a single interval network, the data have other channels, the part is too short, or the mode is
    /// `KStep(0)`.
    pub fn simulate_with(&self, dataset: &Dataset, part: &Part, mode: RecursionMode) -> Result<Vec<Band>> {
        let level = self.level(dataset)?;
        let bands = match (mode, &self.body) {
            (RecursionMode::Recentred, Body::F32(Networks::Interval(_)) | Body::F64(Networks::Interval(_))) => {
                return self.simulate(dataset, part);
            }
            (_, Body::F32(Networks::Interval(members))) if members.len() == 1 => {
                self.fitted().with(&members[0]).simulate_with(&level, part, mode)?
            }
            (_, Body::F64(Networks::Interval(members))) if members.len() == 1 => {
                self.fitted().with(&members[0]).simulate_with(&level, part, mode)?
            }
            _ => return Err(self.not_one_network()),
        };
        let bands = self.with_its_trend(dataset, self.interface.calibrate(bands));
        Ok(self.limited(bands))
    }

    /// The bounds of [`simulate`](Self::simulate) without calibration, certified: see [`CertifiedBand`] for what that means.
    ///
    /// Much slower than `simulate`: scalar work, in double precision whatever the model's is.
    ///
    /// # Errors
    /// If the model is not a single interval network, the data have other channels or the part is too short; if it has a trend, which
    /// nobody has certified.
    pub fn simulate_certified(&self, dataset: &Dataset, part: &Part) -> Result<Vec<CertifiedBand>> {
        if self.interface.trend.is_some() {
            return Err(ModelError::option(
                "model",
                "one with a trend",
                "one without, for certified bounds",
            ));
        }
        match &self.body {
            Body::F32(Networks::Interval(members)) if members.len() == 1 => {
                self.fitted().with(&members[0]).simulate_certified(dataset, part)
            }
            Body::F64(Networks::Interval(members)) if members.len() == 1 => {
                self.fitted().with(&members[0]).simulate_certified(dataset, part)
            }
            _ => Err(self.not_one_network()),
        }
    }

    fn not_one_network(&self) -> ModelError {
        ModelError::option("model", self.kind(), "a single interval network")
    }
}
