//! What a user does with a file that was accepted.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use intervalid_bench::{BenchTables, Results, TableFormat};
use intervalid_data::{Dataset, Part, ReadOptions, Split, SplitFractions, describe, load, read};
use intervalid_deploy::{COptions, StepProgram, c_code};
use intervalid_model::{
    Band, FitConfig, Model, Monitor, MonitorConfig, MonitorState, OnlineMemory, Simulator, SimulatorState,
};
use intervalid_studio::{Studio, StudioConfig};
use intervalid_study::{Store, status, study_tables};

use crate::models::stepwise;

/// What a user does with a recording.
pub(crate) fn use_recording(path: &Path, options: &ReadOptions) -> anyhow::Result<()> {
    let dataset = read(&[path], options)?;
    describe(&dataset);
    // Seeds have few samples.
    Split::new(&dataset, SplitFractions::new(0.5, 0.25, 0.25)?)?;
    Ok(())
}

/// What a user does with a model.
pub(crate) fn use_model(model: &Model) -> anyhow::Result<()> {
    let dataset = hair_dryer()?;
    let part = Part::whole(&dataset);
    let simulated = model.simulate(&dataset, &part);
    let sound = simulated.iter().flatten().all(is_sound);
    assert!(sound, "a band must have finite bounds in their order");
    let program = StepProgram::new(model)?;
    c_code(
        &program,
        &COptions {
            name: "model".to_owned(),
            precision: None,
            jacobian: true,
            monitor: None,
        },
    )?;
    simulated?;
    Ok(())
}

/// Whether all bounds are finite and in their order.
pub(crate) fn is_sound(band: &Band) -> bool {
    let pairs = band.lower.iter().flatten().zip(band.upper.iter().flatten());
    let mut pairs = pairs.map(|(lower, upper)| lower <= upper && lower.is_finite() && upper.is_finite());
    pairs.all(|is_sound| is_sound)
}

fn hair_dryer() -> anyhow::Result<Dataset> {
    Ok(load(&["hair-dryer"], None, &ReadOptions::default())?)
}

/// A fit that takes milliseconds.
pub(crate) fn checkpoint_problem() -> anyhow::Result<(Dataset, Split, FitConfig)> {
    let dataset = hair_dryer()?;
    let split = Split::new(&dataset, SplitFractions::new(0.1, 0.05, 0.85)?)?;
    let config = FitConfig::default().with(|config| {
        config.network.hidden = vec![2];
        config.training.epochs = 2;
        config.training.window.length = 10;
        config.training.window.step = 20;
    });
    Ok((dataset, split, config))
}

/// A study is looked at in every way that the commands have.
pub(crate) fn use_database(input: &[u8], folder: &Path) -> anyhow::Result<()> {
    let folder = folder.join("study");
    // Journals of an earlier input as well.
    if folder.is_dir() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir(&folder)?;
    fs::write(folder.join("study.sqlite"), input)?;
    let store = Store::open(&folder)?;
    store.spec()?;
    for run in store.runs()? {
        // One that is damaged says nothing about the next.
        let (_, _) = (store.predictions(&run.key), store.model(&run.key));
    }
    status(&folder)?;
    study_tables(&folder)?;
    Ok(())
}

/// Results of benchmarks are put into tables.
pub(crate) fn use_bench(input: &[u8], folder: &Path) -> anyhow::Result<()> {
    let folder = folder.join("bench");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("bench-input.json"), input)?;
    let results = Results::new(&folder).all()?;
    let tables = BenchTables::new(&results)?;
    for format in [TableFormat::Markdown, TableFormat::Csv, TableFormat::Json] {
        tables.render(format)?;
    }
    Ok(())
}

/// A studio starts with what it remembers, and ends.
pub(crate) fn use_studio(input: &[u8], folder: &Path) -> anyhow::Result<()> {
    let folder = folder.join("workspace");
    let own = folder.join(".intervalid-studio");
    fs::create_dir_all(&own)?;
    fs::write(own.join("state.json"), input)?;
    let config = StudioConfig {
        threads: 1,
        ..StudioConfig::new(&folder)
    };
    let studio = Studio::start(config)?;
    assert_eq!(studio.running(), None, "nothing is fitted before anybody asks");
    Ok(())
}

/// The model that a state names, or else the first, with the bands of a short record.
fn named_model(text: &str) -> anyhow::Result<(&'static Model, &'static Dataset, &'static [Band])> {
    type Known = (String, Vec<Band>);
    static KNOWN: OnceLock<(Dataset, Vec<Known>)> = OnceLock::new();
    let models = stepwise()?;
    if KNOWN.get().is_none() {
        let dataset = hair_dryer()?;
        let part = Split::new(&dataset, SplitFractions::new(0.3, 0.1, 0.6)?)?.train;
        let of = |model: &Model| anyhow::Ok((model.fingerprint()?, model.simulate(&dataset, &part)?));
        let known = models.iter().map(of).collect::<Result<_, _>>()?;
        // Whoever comes second finds the same.
        let _ = KNOWN.set((dataset, known));
    }
    let (dataset, known) = KNOWN.get().ok_or_else(|| anyhow::anyhow!("no models"))?;
    let index = known
        .iter()
        .position(|(fingerprint, _)| text.contains(fingerprint))
        .unwrap_or(0);
    Ok((&models[index], dataset, &known[index].1))
}

/// A monitor goes on from what it remembers, and reports.
pub(crate) fn use_monitor(text: &str) -> anyhow::Result<()> {
    let (model, dataset, bands) = named_model(text)?;
    let state: MonitorState = serde_json::from_str(text)?;
    let mut monitor = Monitor::new(model, state.config())?;
    monitor.restore(state)?;
    for band in bands {
        monitor.observe_band(dataset, band, None, 0)?;
    }
    let _ = monitor.report();
    Ok(())
}

/// An online band goes on from what it has learnt.
pub(crate) fn use_online(text: &str) -> anyhow::Result<()> {
    let (model, dataset, bands) = named_model(text)?;
    let memory: OnlineMemory = serde_json::from_str(text)?;
    let (bands, _) = model.online_after(Some(&memory), dataset, bands)?;
    assert!(
        bands.iter().all(is_sound),
        "an online band must have finite bounds in their order"
    );
    Ok(())
}

/// A simulation goes on from what it remembers.
pub(crate) fn use_state(text: &str) -> anyhow::Result<()> {
    let (model, dataset, _) = named_model(text)?;
    let state: SimulatorState = serde_json::from_str(text)?;
    let mut simulator = match state.monitor_config() {
        Some(config) => Simulator::monitored(model, config)?,
        None => Simulator::new(model)?,
    };
    simulator.restore(&state)?;
    let record = &dataset.experiments()[0];
    // Refused where no step waits for it.
    let _ = simulator.observe(&record.output(0)[..1]);
    for k in 0..40 {
        let band = simulator.step(&[record.input(0)[k]])?;
        let sound = band.lower[0] <= band.y[0] && band.y[0] <= band.upper[0];
        let online = band.online_lower[0] <= band.online_upper[0];
        let finite = [band.lower[0], band.upper[0], band.online_lower[0], band.online_upper[0]];
        assert!(
            sound && online && finite.iter().all(|bound| bound.is_finite()),
            "a step must give finite bounds in their order: {band:?}"
        );
        simulator.observe(record.output(0).get(k..=k).unwrap_or(&[]))?;
    }
    Ok(())
}

/// States that were stored by a monitor, an online band and a simulation with a monitor, of every family.
pub(crate) fn stored_states() -> anyhow::Result<Vec<[Vec<u8>; 3]>> {
    let mut stored = Vec::new();
    for model in stepwise()? {
        let (model, dataset, bands) = named_model(&model.fingerprint()?)?;
        let mut monitor = Monitor::new(model, MonitorConfig::default())?;
        for band in bands {
            monitor.observe_band(dataset, band, None, 0)?;
        }
        let (_, online) = model.online_after(None, dataset, bands)?;
        let mut simulator = Simulator::monitored(model, MonitorConfig::default())?;
        let (record, start) = (&dataset.experiments()[0], 60);
        let history = intervalid_model::History {
            inputs: &record.input(0)[..start],
            outputs: &record.output(0)[..start],
        };
        simulator.reset(history)?;
        for k in start..start + 20 {
            simulator.step(&[record.input(0)[k]])?;
            simulator.observe(&[record.output(0)[k]])?;
        }
        simulator.step(&[record.input(0)[start]])?;
        stored.push([
            serde_json::to_vec(monitor.state())?,
            serde_json::to_vec(&online)?,
            serde_json::to_vec(&simulator.state())?,
        ]);
    }
    Ok(stored)
}
