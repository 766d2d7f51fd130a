//! What the full and the light band of a model take.

use std::collections::BTreeMap;

use intervalid_deploy::{BandChoice, Footprint, StepProgram};
use intervalid_model::Model;
use serde::Serialize;

use super::run::c_precision;
use crate::args::{BandName, ExportArgs, Target};
use crate::error::Failure;
use crate::format::count;

/// What steps take; of ONNX graphs the work alone, since memory is the runtime's.
#[derive(Serialize)]
pub(super) struct Bands {
    full: BandCost,
    /// None where the model stores no light band, or is one member.
    light: Option<BandCost>,
    /// Root mean square of what ŷ changes by with the light band, per output.
    light_difference: Option<BTreeMap<String, f64>>,
}

#[derive(Serialize)]
pub(super) struct BandCost {
    members: usize,
    multiplications: usize,
    activations: usize,
    ram_bytes: Option<usize>,
    flash_bytes: Option<usize>,
}

impl Bands {
    pub(super) fn of(model: &Model, args: &ExportArgs) -> Result<Self, Failure> {
        let cost = |plan: &StepProgram| {
            let memory = match args.to {
                Target::C => Some(Footprint::of_c(plan, c_precision(args))),
                Target::Fmu => Some(Footprint::of_fmu(plan)),
                Target::Onnx => None,
            };
            let cost = plan.cost();
            BandCost {
                members: cost.members,
                multiplications: cost.multiplications,
                activations: cost.activations,
                ram_bytes: memory.map(|found| found.state + found.stack),
                flash_bytes: memory.map(|found| found.tables),
            }
        };
        let light = match &model.interface().light {
            Some(_) => Some(StepProgram::light(model)?),
            None => None,
        };
        let difference = light.as_ref().and_then(|plan| match &plan.band {
            BandChoice::Full => None,
            BandChoice::Light(lightened) => {
                let names = plan.outputs.iter().map(|output| output.channel.name.clone());
                Some(names.zip(lightened.difference.iter().copied()).collect())
            }
        });
        Ok(Self {
            full: cost(&StepProgram::new(model)?),
            light: light.as_ref().map(cost),
            light_difference: difference,
        })
    }

    /// What to say about the bands, where there is a choice.
    pub(super) fn lines(&self, plan: &StepProgram, args: &ExportArgs) -> Vec<String> {
        let Some(light) = &self.light else {
            let is_alone = args.band == BandName::Light && plan.members() == 1;
            return is_alone
                .then(|| "the model has one member: its own band is as light as it gets".to_owned())
                .into_iter()
                .collect();
        };
        let of = |name: &str, cost: &BandCost| {
            let memory = cost
                .ram_bytes
                .zip(cost.flash_bytes)
                .map_or_else(String::new, |(ram, flash)| {
                    format!(", RAM {ram} bytes, flash {flash} bytes")
                });
            format!(
                "{name} band: {}, {} multiplications and {} tanh or sigmoid a step{memory}",
                count(cost.members, "member"),
                cost.multiplications,
                cost.activations
            )
        };
        let mark = |is_this: bool| if is_this { " (this export)" } else { "" };
        let is_light = matches!(plan.band, BandChoice::Light(_));
        let mut lines = vec![
            of("full", &self.full) + mark(!is_light),
            of("light", light) + mark(is_light),
        ];
        let outputs = plan.outputs.iter().map(|output| &output.channel);
        let changes: Vec<String> = outputs
            .filter_map(|channel| {
                let difference = self.light_difference.as_ref()?.get(&channel.name)?;
                let unit = channel
                    .unit
                    .as_ref()
                    .map_or_else(String::new, |unit| format!(" {unit}"));
                Some(format!("{} {difference:.2e}{unit}", channel.name))
            })
            .collect();
        lines.push(format!(
            "between the two, predictions differ by (root mean square on the data of the fit): {}",
            changes.join(", ")
        ));
        lines
    }
}
