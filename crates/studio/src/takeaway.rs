//! What leaves the studio: files, and words that repeat what was clicked.

use std::io::{Cursor, Write as _};

use axum::http::StatusCode;
use intervalid_data::{ClipSpikes, Decimal, MissingPolicy};
use intervalid_deploy::{
    COptions, FmiVersion, FmuOptions, OnnxOptions, StepProgram, c_code, fmu, identifier, onnx_models,
};
use intervalid_report::folder::{CONFIG, METRICS, MODEL, REPORT, REPORT_DATA, command_line, with_config};
use intervalid_workflow::FitRequest;
use serde::Serialize;
use serde_json::Value;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::job::{resolve, result_of};
use crate::queue::Order;

/// Files of a fit that may be taken as they are, with their types.
const AS_THEY_ARE: [(&str, &str); 5] = [
    (REPORT, "text/html; charset=utf-8"),
    (MODEL, "application/octet-stream"),
    (CONFIG, "text/plain; charset=utf-8"),
    (METRICS, "application/json"),
    ("predictions.csv", "text/csv; charset=utf-8"),
];

/// A file to save.
#[derive(Debug)]
pub(crate) struct Download {
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) bytes: Vec<u8>,
}

/// Words that repeat what was clicked.
#[derive(Debug, Serialize)]
pub(crate) struct Words {
    /// Lines for a shell.
    command_line: Vec<String>,
    python: String,
}

impl App {
    /// A file of a fit, or one that is made of its model.
    pub(crate) fn download(&self, fit: &str, what: &str) -> ApiResult<Download> {
        if let Some((name, kind)) = AS_THEY_ARE.iter().find(|(name, _)| *name == what) {
            let path = self.workspace.fit_file(fit, name)?;
            let bytes =
                std::fs::read(&path).map_err(|error| ApiError::io(&format!("{name} cannot be read"), &error))?;
            return Ok(Download {
                name: format!("{fit}-{name}"),
                kind,
                bytes,
            });
        }
        let name = identifier(fit);
        let program = || -> ApiResult<StepProgram> { Ok(StepProgram::new(&*self.model(fit)?)?) };
        match what {
            "c" => {
                let options = COptions {
                    name: name.clone(),
                    ..COptions::default()
                };
                let code = c_code(&program()?, &options)?;
                let files = [
                    (format!("{name}.h"), code.header.into_bytes()),
                    (format!("{name}.c"), code.source.into_bytes()),
                ];
                archive(format!("{name}-c.zip"), &files)
            }
            "onnx" => {
                let models = onnx_models(&program()?, &OnnxOptions::default())?;
                let files = models
                    .parts()
                    .map(|(part, bytes)| (format!("{name}-{part}.onnx"), bytes.to_vec()));
                archive(format!("{name}-onnx.zip"), &files)
            }
            "fmu" => {
                let options = FmuOptions {
                    name: name.clone(),
                    version: FmiVersion::V2,
                    with_binary: true,
                    monitor: None,
                };
                Ok(Download {
                    name: format!("{name}.fmu"),
                    kind: "application/octet-stream",
                    bytes: fmu(&program()?, &options)?.bytes,
                })
            }
            _ => Err(ApiError::new(
                StatusCode::NOT_FOUND,
                format!("'{what}' cannot be taken away: expected c, onnx, fmu or a file of the fit"),
            )),
        }
    }

    /// The command lines and the Python code of a fit.
    pub(crate) fn words(&self, fit: &str) -> ApiResult<Words> {
        let place = self.workspace.fit(fit)?;
        // Its own order, and not that of another fit that had its name.
        let order = result_of(&place).and_then(|result| self.queue.job_of(&result));
        let order = order.map(|job| job.order);
        let folder = place.display().to_string();
        let mut lines = vec![self.repeat(fit, &folder)];
        let words = |words: &[&str]| command_line(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let code = format!("{}.c", identifier(fit));
        lines.push(words(&["intervalid", "export", &folder, "--to", "c", "--out", &code]));
        lines.push(words(&["intervalid", "report", &folder]));
        Ok(Words {
            command_line: lines,
            python: self.python(&folder, order.as_ref())?,
        })
    }

    /// The command that its report holds, with its configuration where it is by now, or one from its configuration.
    fn repeat(&self, fit: &str, folder: &str) -> String {
        let config = format!("{folder}/{CONFIG}");
        let from_report = || -> Option<String> {
            let text = std::fs::read_to_string(self.workspace.fit_file(fit, REPORT_DATA).ok()?).ok()?;
            let page: Value = serde_json::from_str(&text).ok()?;
            Some(with_config(page["commands"][0].as_str()?, &config))
        };
        from_report()
            .unwrap_or_else(|| command_line(&["intervalid", "fit", "DATA", "--config", &config].map(str::to_owned)))
    }

    fn python(&self, folder: &str, order: Option<&Order>) -> ApiResult<String> {
        let Some(order) = order else {
            return Ok(format!(
                "from intervalid import load_model\n\nmodel = load_model({})\n",
                literal(&Value::from(folder))
            ));
        };
        let request = self.request(&order.data, &order.choice)?;
        let options = request.options();
        let files = |files: &[String]| -> Vec<String> {
            let files = files.iter().map(|file| literal(&Value::from(file.as_str())));
            files.collect()
        };
        let mut arguments = Vec::new();
        let mut add = |name: &str, value: Value| arguments.push(format!("{name}={}", literal(&value)));
        if let Some(names) = &options.inputs {
            add("inputs", names.clone().into());
        }
        if let Some(names) = &options.outputs {
            add("outputs", names.clone().into());
        }
        if let Some(column) = &options.experiment {
            add("experiment", column.clone().into());
        }
        if let Some(seconds) = options.sample_time {
            add("sample_time", seconds.into());
        }
        if let Some(column) = &options.time {
            add("time", column.clone().into());
        }
        if let Some(seconds) = options.resample {
            add("resample", seconds.into());
        }
        if let Some(character) = options.delimiter {
            add("delimiter", character.to_string().into());
        }
        if options.decimal == Decimal::Comma {
            add("decimal", ",".into());
        }
        if options.missing == MissingPolicy::Split {
            add("missing", "split".into());
        }
        if options.skip_rows > 0 {
            add("skip_rows", options.skip_rows.into());
        }
        if !options.units.is_empty() {
            let units = options
                .units
                .iter()
                .map(|(name, unit)| (name.clone(), Value::from(unit.as_str())));
            add("units", Value::Object(units.collect()));
        }
        if let Some(samples) = options.prepare.fill_gaps {
            add("fill_gaps", samples.into());
        }
        match &options.prepare.clip_spikes {
            ClipSpikes::Outputs(limit) => add("clip_spikes", (*limit).into()),
            ClipSpikes::Named(names) => {
                let limits = names.iter().map(|(name, limit)| (name.clone(), Value::from(*limit)));
                add("clip_spikes", Value::Object(limits.collect()));
            }
            _ => {}
        }
        if let Some(factor) = options.prepare.decimate {
            add("decimate", factor.into());
        }
        let load = |data: &[String]| format!("load_data({})", [files(data), arguments.clone()].concat().join(", "));
        // Files for the test alone are a record of their own.
        let (judged, test) = match request.test() {
            // The rest of the record was learnt from.
            [] => ("model.result_[\"test\"]", String::new()),
            own => ("model.metrics(test)", format!("test = {}\n", load(own))),
        };
        let is_search = matches!(resolve(order, &request)?, FitRequest::Search(..));
        let model = order.settings.get("model").and_then(Value::as_str);
        let class = match is_search {
            true => "AutoModel",
            false => class(model),
        };
        let all = order.all_settings();
        let settings = all.iter().filter(|(key, _)| match key.as_str() {
            "model" => is_search,
            key => key != "preset",
        });
        let mut parameters: Vec<String> = settings
            .map(|(key, value)| format!("{key}={}", literal(value)))
            .collect();
        if let Some(seconds) = order.budget {
            parameters.push(format!("budget={}", literal(&seconds.into())));
        }
        parameters.push(format!("split=({})", request.fractions.to_string().replace(',', ", ")));
        Ok(format!(
            "from intervalid import {class}, load_data\n\nrecord = {}\n{test}model = {class}({})\nmodel.fit(record)\nprint({judged})\n",
            load(request.data()),
            parameters.join(", ")
        ))
    }
}

/// The estimator of a kind of model.
fn class(model: Option<&str>) -> &'static str {
    match model {
        Some("ilstm") => "IntervalLSTM",
        Some("iss") => "IntervalStateSpace",
        Some("bnode") => "BayesianNODE",
        Some("blstm") => "BayesianLSTM",
        Some("dropout-node") => "DropoutNODE",
        Some("dropout-lstm") => "DropoutLSTM",
        Some("ensemble-node") => "EnsembleNODE",
        Some("ensemble-lstm") => "EnsembleLSTM",
        Some("arx") => "ARX",
        _ => "IntervalNODE",
    }
}

/// A value as Python writes it; JSON differs in its constants only.
fn literal(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Array(values) => format!("[{}]", values.iter().map(literal).collect::<Vec<_>>().join(", ")),
        value => value.to_string(),
    }
}

fn archive(name: String, files: &[(String, Vec<u8>)]) -> ApiResult<Download> {
    let failed = |error: String| ApiError::internal(format!("{name} cannot be made: {error}"));
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (file, content) in files {
        archive
            .start_file(file.as_str(), SimpleFileOptions::default())
            .map_err(|error| failed(error.to_string()))?;
        archive.write_all(content).map_err(|error| failed(error.to_string()))?;
    }
    let bytes = archive
        .finish()
        .map_err(|error| failed(error.to_string()))?
        .into_inner();
    Ok(Download {
        name,
        kind: "application/zip",
        bytes,
    })
}
