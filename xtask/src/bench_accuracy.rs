//! `cargo xtask bench-accuracy`: free runs of default fits beside those of peers, over the test parts of a folder of records.
//!
//! `bench/peers/README.md` describes the protocol. Test parts are for reporting: look at them once, and write down that you did.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, ensure};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    UsageError, root,
    step::{Outcome, capture, cargo, execute},
    venv,
};

const SPLIT: &str = "0.5,0.1,0.4";

struct Options {
    data: PathBuf,
    records: Vec<String>,
    budget: Option<String>,
    peers: Vec<String>,
}

/// What the script of the peers prints per model.
#[derive(Deserialize)]
struct Peer {
    peer: String,
    /// Names of the outputs, in the order of the columns.
    #[serde(default)]
    outputs: Vec<String>,
    /// One per output.
    #[serde(default)]
    fit_percent: Vec<f64>,
    #[serde(default)]
    error: Option<String>,
}

impl Peer {
    /// Its fit of an output; our program names none where there is but one.
    fn fit_of(&self, output: &str) -> Option<f64> {
        let mut pairs = self.outputs.iter().zip(&self.fit_percent);
        match output {
            "" if self.outputs.len() == 1 => self.fit_percent.first().copied(),
            _ => pairs.find(|(name, _)| *name == output).map(|(_, fit)| *fit),
        }
    }
}

/// One output of one record.
struct Row {
    record: String,
    output: String,
    model: String,
    fit: f64,
    picp: f64,
    online: f64,
    peer: Option<(String, f64)>,
}

impl Row {
    /// Our RMSE over the best peer's.
    fn ratio(&self) -> Option<f64> {
        self.peer.as_ref().map(|(_, fit)| (100.0 - self.fit) / (100.0 - fit))
    }
}

pub(crate) fn run(options: &[String]) -> anyhow::Result<bool> {
    let options = parse(options)?;
    let records = records(&options)?;
    let built = execute(&mut cargo(&["build", "--release", "--quiet", "-p", "intervalid-cli"]))?;
    ensure!(matches!(built, Outcome::Passed), "the program does not build");
    let python = match options.peers.is_empty() {
        true => None,
        false => Some(environment()?),
    };
    let mut rows = Vec::new();
    for record in &records {
        let ours = ours(record, options.budget.as_deref())?;
        let peers = match &python {
            Some(python) => peers(python, record, &options.peers)?,
            None => Vec::new(),
        };
        let found = judge(record, &ours, &peers)?;
        for row in &found {
            println!("{}", line(row));
        }
        rows.extend(found);
    }
    println!("\n{}", table(&rows));
    Ok(true)
}

fn parse(options: &[String]) -> anyhow::Result<Options> {
    let mut parsed = Options {
        data: PathBuf::new(),
        records: Vec::new(),
        budget: None,
        peers: ["arx", "frols", "jax"].map(str::to_owned).to_vec(),
    };
    let mut words = options.iter();
    while let Some(option) = words.next() {
        let value = words
            .next()
            .ok_or_else(|| UsageError(format!("`{option}` is unknown or needs a value")))?;
        match option.as_str() {
            "--data" => parsed.data = PathBuf::from(value),
            "--record" => parsed.records.push(value.clone()),
            "--budget" => parsed.budget = Some(value.clone()),
            "--peers" if value == "none" => parsed.peers.clear(),
            "--peers" => parsed.peers = value.split(',').map(str::to_owned).collect(),
            _ => return Err(UsageError(format!("unknown option `{option}`")).into()),
        }
    }
    if parsed.data.as_os_str().is_empty() {
        return Err(UsageError("`--data` is missing: a folder of CSV files with columns u… and y…".to_owned()).into());
    }
    Ok(parsed)
}

fn records(options: &Options) -> anyhow::Result<Vec<PathBuf>> {
    let folder = fs::read_dir(&options.data).with_context(|| format!("could not read {}", options.data.display()))?;
    let mut found: Vec<PathBuf> = folder
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "csv"))
        .filter(|path| options.records.is_empty() || options.records.iter().any(|name| *name == stem(path)))
        .collect();
    found.sort();
    ensure!(!found.is_empty(), "no such record in {}", options.data.display());
    Ok(found)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn environment() -> anyhow::Result<PathBuf> {
    let requirements = root().join("bench/peers/requirements-accuracy.txt");
    let folder = venv::target().join("accuracy-venv");
    let made = venv::up_to_date(&folder, &[&requirements])?;
    ensure!(
        matches!(made, Outcome::Passed),
        "the peers cannot be installed: {made:?}"
    );
    Ok(venv::program(&folder, "python"))
}

/// `fit --json` of a record.
fn ours(record: &Path, budget: Option<&str>) -> anyhow::Result<Value> {
    let out = venv::target().join("accuracy").join(stem(record));
    fs::create_dir_all(&out)?;
    let mut command = Command::new(venv::target().join("release/intervalid"));
    command
        .arg("fit")
        .arg(record)
        .args(["--split", SPLIT, "--json", "--quiet", "--out"])
        .arg(&out);
    if let Some(budget) = budget {
        command.args(["--budget", budget]);
    }
    let text = capture(&mut command)?;
    serde_json::from_str(&text).with_context(|| format!("what `fit` printed for {}", record.display()))
}

fn peers(python: &Path, record: &Path, names: &[String]) -> anyhow::Result<Vec<Peer>> {
    let script = root().join("bench/peers/accuracy.py");
    let text = capture(
        Command::new(python)
            .arg(script)
            .arg(record)
            .args(["--peers", &names.join(",")]),
    )?;
    let lines = text.lines().filter(|line| line.starts_with('{'));
    lines
        .map(|line| serde_json::from_str(line).with_context(|| line.to_owned()))
        .collect()
}

fn judge(record: &Path, ours: &Value, peers: &[Peer]) -> anyhow::Result<Vec<Row>> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let test = &ours["test"];
    let outputs: Vec<String> = match &test["fit_percent"] {
        Value::Object(by_name) => by_name.keys().filter(|name| *name != "all").cloned().collect(),
        _ => vec![String::new()],
    };
    // One number, or an object with one per output.
    let of = |part: &Value, key: &str, output: &str| {
        let value = part[key].get(output).unwrap_or(&part[key]);
        value.as_f64().unwrap_or(f64::NAN)
    };
    for peer in peers.iter().filter(|peer| peer.error.is_some()) {
        println!(
            "{}: {} failed: {}",
            stem(record),
            peer.peer,
            peer.error.as_deref().unwrap_or_default()
        );
    }
    let row = |output: &String| {
        let mut best: Option<(String, f64)> = None;
        for peer in peers.iter().filter(|peer| peer.error.is_none()) {
            let fit = peer.fit_of(output).with_context(|| {
                let (name, outputs) = (&peer.peer, peer.outputs.join(", "));
                format!("{}: {name} has no output '{output}', it has {outputs}", stem(record))
            })?;
            if best.as_ref().is_none_or(|(_, found)| fit > *found) {
                best = Some((peer.peer.clone(), fit));
            }
        }
        Ok(Row {
            record: stem(record),
            output: output.clone(),
            model: text(&ours["model"]),
            fit: of(test, "fit_percent", output),
            picp: of(test, "picp", output),
            online: of(&ours["test_online"], "picp", output),
            peer: best,
        })
    };
    outputs.iter().map(row).collect()
}

fn line(row: &Row) -> String {
    let (peer, fit) = row
        .peer
        .clone()
        .map_or(("–".to_owned(), "–".to_owned()), |(peer, fit)| {
            (peer, format!("{fit:.1}"))
        });
    let ratio = row.ratio().map_or("–".to_owned(), |ratio| format!("{ratio:.2}"));
    let (coverage, online) = (100.0 * row.picp, 100.0 * row.online);
    format!(
        "| {} | {} | {} | {:.1} | {peer} | {fit} | {ratio} | {coverage:.1} | {online:.1} |",
        row.record, row.output, row.model, row.fit
    )
}

fn table(rows: &[Row]) -> String {
    let mut text = "Free runs over test parts. Ratio: our RMSE over that of the peer with the best test error, output by output.\n\n\
                    | record | output | model | fit % | best peer | its fit % | ratio | PICP % | online % |\n\
                    |---|---|---|---:|---|---:|---:|---:|---:|\n"
        .to_owned();
    for row in rows {
        text += &line(row);
        text.push('\n');
    }
    let ratios: Vec<f64> = rows.iter().filter_map(Row::ratio).collect();
    let held = rows.iter().filter(|row| row.picp >= 0.85).count();
    let distance = rows.iter().map(|row| 100.0 * (row.picp - 0.9).abs()).sum::<f64>() / rows.len().max(1) as f64;
    if !ratios.is_empty() {
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let first = ratios.iter().filter(|ratio| **ratio <= 1.0).count();
        text += &format!(
            "\nGeometric mean of the ratio {mean:.3}; no peer is better on {first} of {}.",
            ratios.len()
        );
    }
    text += &format!(
        "\nPICP at least 85 % on {held} of {}; mean distance from 90 % {distance:.1} points.\n",
        rows.len()
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(name: &str, outputs: [&str; 2], fit: [f64; 2]) -> Peer {
        Peer {
            peer: name.to_owned(),
            outputs: outputs.map(str::to_owned).to_vec(),
            fit_percent: fit.to_vec(),
            error: None,
        }
    }

    #[test]
    fn the_best_peer_of_every_output_counts() {
        let ours = serde_json::json!({
            "model": "iss",
            "test": {"fit_percent": {"y1": 90.0, "y2": 50.0, "all": 70.0}, "picp": {"y1": 0.9, "y2": 0.8, "all": 0.85}},
            "test_online": {"picp": {"y1": 0.9, "y2": 0.9, "all": 0.9}},
        });
        let rows = judge(
            Path::new("a/plant.csv"),
            &ours,
            &[
                peer("p", ["y1", "y2"], [80.0, 10.0]),
                peer("q", ["y1", "y2"], [10.0, 75.0]),
            ],
        )
        .unwrap();
        let ratios: Vec<f64> = rows.iter().filter_map(Row::ratio).collect();
        assert!((ratios[0] - 0.5).abs() < 1e-12 && (ratios[1] - 2.0).abs() < 1e-12);
        let table = table(&rows);
        assert!(
            table.contains("Geometric mean of the ratio 1.000; no peer is better on 1 of 2."),
            "{table}"
        );
        assert!(
            table.contains("PICP at least 85 % on 1 of 2; mean distance from 90 % 5.0 points."),
            "{table}"
        );
    }

    #[test]
    fn outputs_are_matched_by_name() {
        // Keys of an object come sorted, columns of a file do not.
        let ours = serde_json::json!({
            "model": "arx",
            "test": {"fit_percent": {"y1": 90.0, "y10": 50.0, "y2": 60.0}, "picp": {"y1": 0.9, "y10": 0.9, "y2": 0.9}},
        });
        let mut found = peer("p", ["y1", "y2"], [80.0, 20.0]);
        let judged = judge(Path::new("plant.csv"), &ours, std::slice::from_ref(&found));
        assert!(judged.is_err_and(|error| error.to_string().contains("p has no output 'y10', it has y1, y2")));
        found.outputs.push("y10".to_owned());
        found.fit_percent.push(75.0);
        let rows = judge(Path::new("plant.csv"), &ours, &[found]).unwrap();
        let ratios: Vec<(&str, f64)> = rows
            .iter()
            .filter_map(|row| Some((row.output.as_str(), row.ratio()?)))
            .collect();
        assert_eq!(ratios, [("y1", 0.5), ("y10", 2.0), ("y2", 0.5)]);
    }

    #[test]
    fn a_peer_that_failed_is_no_row() {
        let ours = serde_json::json!({"model": "arx", "test": {"fit_percent": 90.0, "picp": 0.9}});
        let failed = r#"{"peer": "jax", "error": "the run has diverged"}"#;
        let fine = r#"{"peer": "ARX", "outputs": ["y"], "fit_percent": [80.0], "seconds": 1.0}"#;
        let peers = [failed, fine].map(|line| serde_json::from_str(line).unwrap());
        let rows = judge(Path::new("plant.csv"), &ours, &peers).unwrap();
        assert_eq!(rows[0].peer, Some(("ARX".to_owned(), 80.0)));
    }

    #[test]
    fn a_folder_is_needed() {
        assert!(parse(&[]).is_err_and(|error| error.is::<UsageError>()));
        let words = ["--data", "d", "--peers", "none"].map(str::to_owned);
        assert!(parse(&words).unwrap().peers.is_empty());
    }
}
