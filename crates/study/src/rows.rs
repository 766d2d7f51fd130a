//! Runs as rows of the database's table `runs`.

use intervalid_model::{MarginActivation, Strategy};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

use crate::cell::{Cell, margin_named, strategy_named};
use crate::output::{MESSAGE_FORMAT, RunOutput};
use crate::record::{RunMetrics, RunRecord, RunResult, RunState};
use crate::study_model::StudyModel;

/// Writes a run in place of what the tables have of it.
pub(crate) fn insert(transaction: &Transaction<'_>, output: &RunOutput) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM runs WHERE key = ?1", [&output.key])?;
    let json = |metrics: &RunMetrics| serde_json::to_string(metrics).expect("metrics are plain data");
    let (status, reason, result) = match &output.state {
        RunState::Done(result) => ("done", None, Some(result)),
        RunState::Failed { reason } => ("failed", Some(reason), None),
    };
    let test = result.map(|result| &result.test.all);
    let cell = &output.cell;
    transaction.execute(
        "INSERT INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, \
         ?20, ?21, ?22, coalesce(?23, strftime('%Y-%m-%dT%H:%M:%SZ', 'now')))",
        params![
            output.key,
            cell.dataset,
            cell.model.name(),
            cell.strategy.map(Strategy::name),
            cell.margin.map(MarginActivation::name),
            cell.coverage,
            cell.seed as i64,
            status,
            reason,
            output.config,
            output.spec_hash,
            output.version,
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
            output.finished_at,
        ],
    )?;
    if let Some(bands) = &output.predictions {
        transaction.execute("INSERT INTO predictions VALUES (?1, ?2)", params![output.key, bands])?;
    }
    if let Some(model) = &output.model {
        transaction.execute("INSERT INTO models VALUES (?1, ?2)", params![output.key, model])?;
    }
    Ok(())
}

/// All that the tables have of a run.
pub(crate) fn read_output(connection: &Connection, key: &str) -> rusqlite::Result<Option<RunOutput>> {
    let blob = |query: &str| connection.query_row(query, [key], |row| row.get(0)).optional();
    let run = connection.query_row("SELECT * FROM runs WHERE key = ?1", [key], |row| {
        Ok((read_run(row)?, row.get("spec_hash")?))
    });
    let Some((record, spec_hash)) = run.optional()? else {
        return Ok(None);
    };
    Ok(Some(RunOutput {
        format: MESSAGE_FORMAT,
        version: record.version,
        spec_hash,
        key: record.key,
        cell: record.cell,
        config: record.config,
        state: record.state,
        finished_at: Some(record.finished_at),
        predictions: blob("SELECT bands FROM predictions WHERE key = ?1")?,
        model: blob("SELECT safetensors FROM models WHERE key = ?1")?,
    }))
}

/// Key of a run at the same place of the grid with another key: of other data, settings or version.
pub(crate) fn other_key(connection: &Connection, output: &RunOutput) -> rusqlite::Result<Option<String>> {
    let cell = &output.cell;
    let query = "SELECT key FROM runs WHERE dataset = ?1 AND model = ?2 AND seed = ?3 AND strategy IS ?4 AND margin IS ?5 \
                 AND coverage = ?6 AND key <> ?7";
    let place = params![
        cell.dataset,
        cell.model.name(),
        cell.seed as i64,
        cell.strategy.map(Strategy::name),
        cell.margin.map(MarginActivation::name),
        cell.coverage,
        output.key,
    ];
    connection.query_row(query, place, |row| row.get(0)).optional()
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
            model: converted(row, "model", |text| text.parse::<StudyModel>().ok())?,
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
