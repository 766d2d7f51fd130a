//! Runs as rows of the database's table `runs`.

use intervalid_model::{FitConfig, Margin, ModelKind, Strategy};
use rusqlite::types::Type;
use rusqlite::{Row, Transaction, params};

use crate::cell::{Cell, margin_named, strategy_named};
use crate::error::Result;
use crate::plan::Run;
use crate::record::{RunMetrics, RunRecord, RunResult, RunState};

/// Writes a run in place of what the table has of it.
pub(crate) fn insert(
    transaction: &Transaction<'_>,
    run: &Run,
    config: &FitConfig,
    spec_hash: &str,
    outcome: Result<&RunResult, &str>,
) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM runs WHERE key = ?1", [&run.key])?;
    let json = |metrics: &RunMetrics| serde_json::to_string(metrics).expect("metrics are plain data");
    let result = outcome.ok();
    let test = result.map(|result| &result.test.all);
    transaction.execute(
        "INSERT INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, \
         ?20, ?21, ?22, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
        params![
            run.key,
            run.cell.dataset,
            run.cell.model.name(),
            run.cell.strategy.map(Strategy::name),
            run.cell.margin.map(Margin::name),
            run.cell.coverage,
            run.cell.seed as i64,
            if result.is_some() { "done" } else { "failed" },
            outcome.err(),
            serde_json::to_string(config).expect("a configuration is plain data"),
            spec_hash,
            env!("CARGO_PKG_VERSION"),
            result.map(|result| result.epochs_run as i64),
            result.map(|result| &result.stopped_because),
            result.map(|result| result.train_seconds),
            result.map(|result| result.parameters as i64),
            test.and_then(|test| test.rmse),
            test.and_then(|test| test.picp),
            test.and_then(|test| test.pinaw),
            test.and_then(|test| test.cwc),
            result.map(|result| json(&result.test)),
            result.map(|result| json(&result.validation)),
        ],
    )?;
    Ok(())
}

/// A row of the table `runs`. A value that no study writes is a conversion failure.
pub(crate) fn read_run(row: &Row<'_>) -> rusqlite::Result<RunRecord> {
    let state = match row.get_ref("status")?.as_str()? {
        "done" => RunState::Done(RunResult {
            epochs_run: row.get::<_, u32>("epochs_run")? as usize,
            stopped_because: row.get("stopped_because")?,
            train_seconds: row.get("train_seconds")?,
            parameters: row.get::<_, u32>("parameters")? as usize,
            test: converted(row, "test", |text| serde_json::from_str(text).ok())?,
            validation: converted(row, "validation", |text| serde_json::from_str(text).ok())?,
        }),
        _ => RunState::Failed {
            reason: row.get("reason")?,
        },
    };
    // Other models than interval networks have neither.
    let is_interval = row.get_ref("strategy")?.as_str_or_null()?.is_some();
    Ok(RunRecord {
        key: row.get("key")?,
        cell: Cell {
            dataset: row.get("dataset")?,
            model: converted(row, "model", |text| text.parse::<ModelKind>().ok())?,
            strategy: is_interval
                .then(|| converted(row, "strategy", strategy_named))
                .transpose()?,
            margin: is_interval
                .then(|| converted(row, "margin", margin_named))
                .transpose()?,
            coverage: row.get("coverage")?,
            seed: row.get::<_, i64>("seed")?.cast_unsigned(),
        },
        state,
        config: row.get("config")?,
        version: row.get("version")?,
        finished_at: row.get("finished_at")?,
    })
}

/// The text of a column as what it stands for.
fn converted<T>(row: &Row<'_>, name: &str, convert: impl Fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    let text = row.get_ref(name)?.as_str()?;
    convert(text).ok_or_else(|| {
        let reason = format!("unknown {name} '{text}' in its table runs");
        rusqlite::Error::FromSqlConversionFailure(0, Type::Text, reason.into())
    })
}
