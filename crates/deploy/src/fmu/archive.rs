//! All files of an FMU in one archive.

use std::io::{Cursor, Write as _};

use intervalid_model::CoverageTest;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::compile::{is_supported, shared_library};
use super::description::context;
use super::sources::texts;
use crate::c::{Numbers, check_name, render};
use crate::error::{DeployError, Result};
use crate::step_program::StepProgram;

/// Version of the Functional Mock-up Interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FmiVersion {
    /// 2.0, which every tool imports.
    #[default]
    V2,
    /// 3.0.
    V3,
}

/// How to write an FMU.
#[derive(Clone, Debug, PartialEq)]
pub struct FmuOptions {
    /// Name of the model in the importing tool.
    pub name: String,
    /// Version of the interface.
    pub version: FmiVersion,
    /// Whether to compile the library for 64-bit Linux; the sources are always inside.
    pub with_binary: bool,
    /// The watch over the model to add, if any.
    pub monitor: Option<CoverageTest>,
}

/// Exported FMU.
#[derive(Clone, Debug, PartialEq)]
pub struct FmuPackage {
    /// The archive.
    pub bytes: Vec<u8>,
    /// Seconds of one sample.
    pub sample_time: f64,
    /// Whether the model stores that sample time; it is 1 s otherwise.
    pub has_sample_time: bool,
    /// Whether the inputs set for a step are those of its end (without dead time) or of its beginning.
    pub inputs_at_end: bool,
    /// Whether the library for 64-bit Linux is inside.
    pub has_binary: bool,
}

/// The step that an FMU makes, and whether its inputs are those of the end of the step.
///
/// The inputs that an importer sets at time t hold for the step from t to t + h, which predicts the sample at t + h. With
/// a dead time of at least one sample that is just what the model needs, u(k-1) and older, and one sample of its dead time
/// is the step itself. Without dead time y(k) needs u(k), and the importer's value is taken for it.
fn stepped(plan: &StepProgram) -> (StepProgram, bool) {
    let mut plan = plan.clone();
    let inputs_at_end = plan.lags.nd == 0;
    plan.lags.nd = plan.lags.nd.saturating_sub(1);
    if let Some(region) = &mut plan.region {
        region.lags.nd = region.lags.nd.saturating_sub(1);
    }
    (plan, inputs_at_end)
}

/// The step of a plan as an FMU for co-simulation.
///
/// # Errors
/// [`DeployError::Name`] if the name is no C identifier, [`DeployError::Compiler`] if there is no C compiler or it fails.
pub fn fmu(plan: &StepProgram, options: &FmuOptions) -> Result<FmuPackage> {
    let FmuOptions {
        name,
        version,
        with_binary,
        monitor,
    } = options;
    check_name(name)?;
    if *with_binary && !is_supported() {
        return Err(DeployError::Compiler {
            compiler: "cc".to_owned(),
            reason: "libraries are compiled on 64-bit Linux only; export the sources with --no-binary".to_owned(),
        });
    }
    let (plan, inputs_at_end) = stepped(plan);
    let sample_time = plan.sample_time.unwrap_or(1.0);
    let (header, source) = render(&plan, name, Numbers::of_predict(&plan), (false, monitor.as_ref()));
    let texts = texts(*version, name, &context(&plan, name, sample_time, monitor.as_ref()));
    let sources = [
        (format!("{name}.h"), header),
        (format!("{name}.c"), source),
        texts.wrapper,
    ];
    let library = if *with_binary {
        Some(shared_library(&sources)?)
    } else {
        None
    };
    let platform = match version {
        FmiVersion::V2 => "linux64",
        FmiVersion::V3 => "x86_64-linux",
    };
    let mut files: Vec<(String, &[u8])> = vec![("modelDescription.xml".to_owned(), texts.description.as_bytes())];
    files.extend(
        sources
            .iter()
            .map(|(name, text)| (format!("sources/{name}"), text.as_bytes())),
    );
    if let Some(build) = &texts.build {
        files.push(("sources/buildDescription.xml".to_owned(), build.as_bytes()));
    }
    if let Some(library) = &library {
        files.push((format!("binaries/{platform}/{name}.so"), library));
    }
    let bytes = archive(&files).map_err(|error| DeployError::File {
        action: "pack",
        path: format!("{name}.fmu").into(),
        source: std::io::Error::other(error),
    })?;
    Ok(FmuPackage {
        bytes,
        sample_time,
        has_sample_time: plan.sample_time.is_some(),
        inputs_at_end,
        has_binary: library.is_some(),
    })
}

/// The same files give the same bytes: no times, fixed order.
fn archive(files: &[(String, &[u8])]) -> Result<Vec<u8>, zip::result::ZipError> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        let is_library = name.ends_with(".so");
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(DateTime::default())
            .unix_permissions(if is_library { 0o755 } else { 0o644 });
        writer.start_file(name.as_str(), options)?;
        writer.write_all(content)?;
    }
    Ok(writer.finish()?.into_inner())
}
