//! `intervalid export`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Parser;
use intervalid_deploy::{
    BandChoice, COptions, CPrecision, DeployError, FmiVersion, FmuOptions, Footprint, OnnxOptions, StepProgram, c_code,
    fmu, identifier, onnx_models,
};
use intervalid_model::{CoverageTest, Model, ModelKind, Monitor, MonitorConfig, Precision};
use serde::Serialize;

use super::bands::Bands;
use super::coarse::warn_of_coarse_channels;
use crate::args::{BandName, Cli, Command, ExportArgs, ExportPrecision, Fmi, Target};
use crate::commands::load::{model, model_file};
use crate::error::{ExportError, Failure};
use crate::format::{count, seconds};
use crate::output::Output;
use crate::path_text;
use crate::write::{OutFile, refuse_replacing, write_together};

/// The JSON object.
#[derive(Serialize)]
struct Report<'a> {
    model: ModelKind,
    to: &'static str,
    model_hash: &'a str,
    coverage: f64,
    /// `full` or `light`.
    band: &'static str,
    /// What the step takes with each band of the model.
    bands: Bands,
    sample_time: Option<f64>,
    /// Samples that a start uses.
    past_inputs: usize,
    past_outputs: usize,
    /// Of C code and ONNX graphs.
    precision: Option<&'static str>,
    /// States that the derivatives of C code and ONNX graphs are about; none without them.
    jacobian_states: Option<usize>,
    /// Of C code.
    ram_bytes: Option<Ram>,
    flash_bytes: Option<usize>,
    /// Of ONNX graphs.
    opset: Option<i64>,
    /// Of an FMU.
    fmi: Option<&'static str>,
    binary: Option<bool>,
    inputs_at: Option<&'static str>,
    #[serde(serialize_with = "path_text::several")]
    files: Vec<PathBuf>,
}

#[derive(Serialize)]
struct Ram {
    state: usize,
    stack: usize,
    /// Of a watch over the model; none without one.
    monitor: Option<usize>,
}

/// Files to write and what to say about them.
#[derive(Default)]
struct Export {
    files: Vec<(PathBuf, Vec<u8>)>,
    lines: Vec<String>,
    precision: Option<&'static str>,
    footprint: Option<Footprint>,
    monitor_bytes: Option<usize>,
    opset: Option<i64>,
    fmi: Option<&'static str>,
    binary: Option<bool>,
    inputs_at: Option<&'static str>,
}

/// Turns a model into files that run without this program.
pub(crate) fn run(args: &ExportArgs, output: &Output) -> Result<(), Failure> {
    check_options(args)?;
    let source = model_file(&args.model)?;
    for target in targets(args) {
        refuse_replacing("--out", &target, [source.as_path()])?;
    }
    let (plan, export, bands) = write(args, || model(&args.model, output), output)?;
    let lines = bands.lines(&plan, args);
    if output.is_json() {
        return output.json(&Report::new(&plan, &export, bands, args));
    }
    let names: Vec<String> = targets(args).iter().map(|path| path.display().to_string()).collect();
    let names = match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
        _ => names.concat(),
    };
    output.story(format_args!("Written to {names}"))?;
    for line in export.lines.into_iter().chain(lines) {
        output.story(format_args!("  {line}"))?;
    }
    output.story(format_args!("  sample time {}", seconds(plan.sample_time)))?;
    output.story(format_args!("  model hash {}", plan.fingerprint))?;
    Ok(())
}

/// What `intervalid export` does, for a model in memory: `arguments` are its options, such as `--to c --out step.c`. Gives the JSON
/// object that the command prints.
///
/// # Errors
/// If an option is wrong or does not go with the target, the model cannot be exported, or a file is in the way or cannot be written.
pub fn export_model(model: &Model, arguments: &[OsString]) -> Result<serde_json::Value, ExportError> {
    let line = ["intervalid", "export", "(a model in memory)"].map(OsString::from);
    let cli = Cli::try_parse_from(line.iter().chain(arguments))
        .map_err(|error| Failure::input(anyhow!("{}", error.to_string().trim_end())))?;
    let Command::Export(args) = &cli.command else {
        return Err(Failure::run(anyhow!("another command than export was understood")).into());
    };
    let export = || -> Result<serde_json::Value, Failure> {
        check_options(args)?;
        let (plan, export, bands) = write(args, || Ok(model.clone()), &Output::silent())?;
        Ok(serde_json::to_value(Report::new(&plan, &export, bands, args))?)
    };
    Ok(export()?)
}

/// Writes the files of an export, whose options are checked.
fn write(
    args: &ExportArgs,
    model: impl FnOnce() -> Result<Model, Failure>,
    output: &Output,
) -> Result<(StepProgram, Export, Bands), Failure> {
    let name = stem(&args.out, args.to)?;
    let targets = targets(args);
    if let Some(target) = targets.iter().find(|target| target.exists() && !args.force) {
        return Err(DeployError::Exists { path: target.clone() }.into());
    }
    let model = model()?;
    let bands = Bands::of(&model, args)?;
    let (plan, exported) = match args.band {
        BandName::Full => (StepProgram::new(&model)?, model),
        BandName::Light => (StepProgram::light(&model)?, model.light()?),
    };
    let monitor = watch(&exported, args)?;
    let places = targets
        .iter()
        .map(|path| OutFile::open(path, "--out"))
        .collect::<Result<Vec<_>, _>>()?;
    let export = match args.to {
        Target::C => c(&plan, args, &name, monitor)?,
        Target::Onnx => graphs(&plan, args)?,
        Target::Fmu => output.working("compiling", || package(&plan, args, &name, monitor))?,
    };
    if export.precision == Some("float") {
        warn_of_coarse_channels(&plan, output);
    }
    let contents: Vec<&[u8]> = export.files.iter().map(|(_, content)| content.as_slice()).collect();
    write_together(&places, &contents)?;
    Ok((plan, export, bands))
}

impl<'a> Report<'a> {
    fn new(plan: &'a StepProgram, export: &Export, bands: Bands, args: &ExportArgs) -> Self {
        let needs = plan.needs();
        Self {
            model: plan.kind,
            to: target_name(args.to),
            model_hash: &plan.fingerprint,
            coverage: plan.coverage,
            band: match plan.band {
                BandChoice::Full => "full",
                BandChoice::Light(_) => "light",
            },
            bands,
            sample_time: plan.sample_time,
            past_inputs: needs.inputs,
            past_outputs: needs.outputs,
            precision: export.precision,
            jacobian_states: args.jacobian.then(|| plan.state_len()),
            ram_bytes: export.footprint.map(|found| Ram {
                state: found.state,
                stack: found.stack,
                monitor: export.monitor_bytes,
            }),
            flash_bytes: export.footprint.map(|found| found.tables),
            opset: export.opset,
            fmi: export.fmi,
            binary: export.binary,
            inputs_at: export.inputs_at,
            files: targets(args),
        }
    }
}

fn target_name(target: Target) -> &'static str {
    match target {
        Target::C => "c",
        Target::Onnx => "onnx",
        Target::Fmu => "fmu",
    }
}

/// Options that mean nothing for the target are mistakes.
fn check_options(args: &ExportArgs) -> Result<(), Failure> {
    let strays = [
        (
            "--precision",
            args.precision.is_some(),
            [Target::C, Target::Onnx].as_slice(),
        ),
        ("--jacobian", args.jacobian, &[Target::C, Target::Onnx]),
        ("--monitor", args.monitor, &[Target::C, Target::Fmu]),
        ("--fmi", args.fmi.is_some(), &[Target::Fmu]),
        ("--no-binary", args.no_binary, &[Target::Fmu]),
    ];
    match strays
        .iter()
        .find(|(_, is_given, targets)| *is_given && !targets.contains(&args.to))
    {
        None => Ok(()),
        Some((option, _, targets)) => {
            let names: Vec<String> = targets
                .iter()
                .map(|target| format!("--to {}", target_name(*target)))
                .collect();
            Err(Failure::input(anyhow!(
                "{option} is an option of {}, not of --to {}",
                names.join(" and "),
                target_name(args.to)
            )))
        }
    }
}

/// The name in front of the extension, which must be that of the target.
fn stem(path: &Path, target: Target) -> Result<String, Failure> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    if extension != Some(target_name(target)) {
        let found = anyhow!("--out {}: expected a file NAME.{}", path.display(), target_name(target));
        return Err(Failure::input(found));
    }
    match target {
        // The source includes NAME.h and all its names begin with NAME.
        Target::C if identifier(stem) != stem => {
            let found = anyhow!(
                "--out {}: '{stem}' cannot name C code: expected a letter first, then letters, digits and _",
                path.display()
            );
            Err(Failure::input(found).with_hint(format!("try --out {}.c", identifier(stem))))
        }
        _ => Ok(identifier(stem)),
    }
}

fn targets(args: &ExportArgs) -> Vec<PathBuf> {
    match args.to {
        Target::C => vec![args.out.with_extension("h"), args.out.clone()],
        Target::Onnx => {
            let stem = args.out.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let beside = |part: &str| args.out.with_file_name(format!("{stem}_{part}.onnx"));
            vec![args.out.clone(), beside("init"), beside("correct"), beside("simulate")]
        }
        Target::Fmu => vec![args.out.clone()],
    }
}

/// Whether the export can tell that it extrapolates.
fn alarm(plan: &StepProgram, by: &str) -> String {
    match &plan.region {
        Some(_) => format!("{by} tells steps outside the region of the training data"),
        None => "the model does not know the region of its training data: there is no alarm where it extrapolates"
            .to_owned(),
    }
}

/// What the derivatives are about.
fn derivatives(plan: &StepProgram, args: &ExportArgs, by: &str) -> Option<String> {
    args.jacobian.then(|| {
        format!(
            "{by}: exact derivatives of a step with respect to {} and the inputs",
            count(plan.state_len(), "state")
        )
    })
}

/// The watch that was asked for.
fn watch(model: &Model, args: &ExportArgs) -> Result<Option<CoverageTest>, Failure> {
    if !args.monitor {
        return Ok(None);
    }
    let default = MonitorConfig::default();
    let config = MonitorConfig {
        false_alarm: args.false_alarm.unwrap_or(default.false_alarm),
        block: args.block,
        horizon: None,
    };
    Ok(Some(Monitor::new(model, config)?.coverage_test()))
}

/// What the watch is about.
fn watched(args: &ExportArgs, by: &str) -> Option<String> {
    args.monitor
        .then(|| format!("{by}: running coverage, and whether the band still holds what it promised"))
}

/// The number type that was asked for.
pub(super) fn c_precision(args: &ExportArgs) -> Option<CPrecision> {
    args.precision.map(|precision| match precision {
        ExportPrecision::Float => CPrecision::Float,
        ExportPrecision::Double => CPrecision::Double,
    })
}

fn c(plan: &StepProgram, args: &ExportArgs, name: &str, monitor: Option<CoverageTest>) -> Result<Export, Failure> {
    let options = COptions {
        name: name.to_owned(),
        precision: c_precision(args),
        jacobian: args.jacobian,
        monitor,
    };
    let code = c_code(plan, &options)?;
    let precision = match code.precision {
        CPrecision::Float => "float",
        CPrecision::Double => "double",
    };
    let Footprint { tables, state, stack } = code.footprint;
    let needs = plan.needs();
    Ok(Export {
        files: targets(args)
            .into_iter()
            .zip([code.header.into_bytes(), code.source.into_bytes()])
            .collect(),
        lines: [
            format!("{name}_step(u) -> y_lower, y, y_upper in {precision}"),
            alarm(plan, &format!("{name}_extrapolated(flag)")),
            format!("RAM: {state} bytes per state, {stack} bytes of stack in a step; flash: {tables} bytes of tables"),
            format!(
                "starts with {} and {}",
                count(needs.inputs, "past input sample"),
                count(needs.outputs, "measured output sample")
            ),
        ]
        .into_iter()
        .chain(derivatives(plan, args, &format!("{name}_jacobian")))
        .chain(watched(args, &format!("{name}_monitor")).map(|words| {
            let bytes = code.monitor_bytes.unwrap_or(0);
            format!("{words}; RAM: {bytes} bytes per watch")
        }))
        .collect(),
        precision: Some(precision),
        footprint: Some(code.footprint),
        monitor_bytes: code.monitor_bytes,
        ..Export::default()
    })
}

fn graphs(plan: &StepProgram, args: &ExportArgs) -> Result<Export, Failure> {
    let options = OnnxOptions {
        precision: args.precision.map(|precision| match precision {
            ExportPrecision::Float => Precision::F32,
            ExportPrecision::Double => Precision::F64,
        }),
        jacobian: args.jacobian,
    };
    let models = onnx_models(plan, &options)?;
    let precision = match models.precision {
        Precision::F32 => "float",
        Precision::F64 => "double",
    };
    let needs = plan.needs();
    let states: Vec<String> = models
        .states
        .iter()
        .map(|(name, sizes)| format!("{name} {sizes:?}"))
        .collect();
    Ok(Export {
        lines: [
            format!(
                "ONNX with operators of opset {}, IR version {}, in {precision}",
                models.opset, models.ir_version
            ),
            format!(
                "a step, its start, its correction by what was measured, and whole records; state: {}",
                states.join(", ")
            ),
            alarm(plan, "output extrapolated"),
            format!(
                "starts with {} and {}",
                count(needs.inputs, "past input sample"),
                count(needs.outputs, "measured output sample")
            ),
        ]
        .into_iter()
        .chain(derivatives(
            plan,
            args,
            "outputs jacobian_x_x, jacobian_x_u, jacobian_y_x, jacobian_y_u",
        ))
        .collect(),
        precision: Some(precision),
        opset: Some(models.opset),
        files: targets(args)
            .into_iter()
            .zip([models.step, models.init, models.correct, models.simulate])
            .collect(),
        ..Export::default()
    })
}

fn package(
    plan: &StepProgram,
    args: &ExportArgs,
    name: &str,
    monitor: Option<CoverageTest>,
) -> Result<Export, Failure> {
    let (version, label) = match args.fmi {
        None | Some(Fmi::V2) => (FmiVersion::V2, "2.0"),
        Some(Fmi::V3) => (FmiVersion::V3, "3.0"),
    };
    let options = FmuOptions {
        name: name.to_owned(),
        version,
        with_binary: !args.no_binary,
        monitor,
    };
    let package = fmu(plan, &options)?;
    let content = match package.has_binary {
        true => "sources and a library for 64-bit Linux",
        false => "sources only",
    };
    let inputs_at = match package.inputs_at_end {
        true => "end",
        false => "beginning",
    };
    let mut lines = vec![
        format!("FMI {label} for co-simulation, {content}"),
        format!(
            "communication step {} s; inputs are those at the {inputs_at} of a step",
            package.sample_time
        ),
    ];
    lines.push(alarm(plan, "output extrapolated"));
    lines.extend(watched(
        args,
        "outputs monitor_state (0 ok, 1 watch, 2 refit) and coverage, while online is true",
    ));
    if !package.has_sample_time {
        lines.push("the model does not store its sample time: one sample counts as 1 s".to_owned());
    }
    Ok(Export {
        files: vec![(args.out.clone(), package.bytes)],
        lines,
        fmi: Some(label),
        binary: Some(package.has_binary),
        inputs_at: Some(inputs_at),
        ..Export::default()
    })
}
