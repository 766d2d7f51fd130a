use intervalid_model::{Metrics, ModelKind};
use intervalid_study::figures::seed_boxes;
use intervalid_study::{
    Cell, Mark, RunMetrics, RunRecord, RunResult, RunState, Spec, StudyModel, Table, TableFormat, TableKind,
    TableMetric, side_by_side, tables_of_records,
};

fn paper_at(seeds: &str) -> Spec {
    let mut spec = Spec::builtin("paper").unwrap();
    // The paper has no ARX.
    spec.models.retain(|&model| model.kind() != Some(ModelKind::Arx));
    spec.seeds = Spec::parse(
        "s",
        &format!("name = \"s\"\ndatasets = [\"a\"]\nmodels = [\"arx\"]\nseeds = {seeds}"),
    )
    .unwrap()
    .seeds;
    spec
}

fn done(cell: Cell, test: Metrics) -> RunRecord {
    let metrics = RunMetrics {
        all: test,
        outputs: Vec::new(),
    };
    RunRecord {
        key: cell.to_string(),
        cell,
        state: RunState::Done(RunResult {
            epochs_run: 1,
            stopped_because: "all epochs done".to_owned(),
            train_seconds: 1.0,
            parameters: 1,
            test: metrics.clone(),
            validation: metrics,
        }),
        config: "{}".to_owned(),
        version: "0".to_owned(),
        finished_at: "now".to_owned(),
    }
}

/// RMSE 0.18 and 0.20, PICP 0.89 and 0.93, PINAW 0.4, CWC 1 and 3 for seeds 1 and 2.
fn metrics(seed: u64) -> Metrics {
    let pick = |first, second| Some(if seed == 1 { first } else { second });
    Metrics {
        n: 100,
        rmse: pick(0.18, 0.20),
        picp: pick(0.89, 0.93),
        pinaw: pick(0.4, 0.4),
        cwc: pick(1.0, 3.0),
        ..Metrics::default()
    }
}

#[test]
fn tables_have_the_papers_layout_and_hand_computed_numbers() {
    let spec = paper_at("[1, 2, 3]");
    let mut records = Vec::new();
    for cell in spec.cells().filter(|cell| cell.dataset == "robot-arm") {
        match cell.seed {
            3 => records.push(RunRecord {
                state: RunState::Failed {
                    reason: "diverged".to_owned(),
                },
                ..done(cell, Metrics::default())
            }),
            seed => records.push(done(cell, metrics(seed))),
        }
    }
    let tables = tables_of_records(&spec, &records);
    let kinds: Vec<_> = tables
        .tables
        .iter()
        .map(|table| (table.kind, format!("{}", table.coverage)))
        .collect();
    let kind = |kind, coverage: &str| (kind, coverage.to_owned());
    assert_eq!(
        kinds,
        [
            kind(TableKind::Cascade, "0.9"),
            kind(TableKind::Cascade, "0.95"),
            kind(TableKind::Joint, "0.9"),
            kind(TableKind::Joint, "0.95"),
            kind(TableKind::Baselines, "0.9"),
            kind(TableKind::Baselines, "0.95")
        ]
    );
    let cascade = &tables.tables[0];
    let labels: Vec<&str> = cascade.columns.iter().map(|column| column.label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "C-ILSTM-1 (relu)",
            "C-ILSTM-2 (abs)",
            "C-INODE-1 (relu)",
            "C-INODE-2 (abs)"
        ]
    );
    assert_eq!((cascade.rows.len(), tables.tables[4].columns.len()), (16, 6));
    let cells: usize = tables
        .tables
        .iter()
        .map(|table| table.rows.len() * table.columns.len())
        .sum();
    assert_eq!(cells, 448);

    // Printed for ilstm, relu, robot arm, 0.9: 19.39 ± 3.85. Ours: 18 and 20, mean 19, std √2.
    let rmse = &cascade.rows[0].cells[0];
    let ours = rmse.ours.unwrap();
    assert_eq!(
        (cascade.rows[0].metric, ours.n, rmse.failed, rmse.missing),
        (TableMetric::Rmse, 2, 1, 0)
    );
    assert!((ours.mean - 19.0).abs() < 1e-9 && (ours.std.unwrap() - 2_f64.sqrt()).abs() < 1e-9);
    assert!((rmse.published.unwrap().mean - 19.39).abs() < 1e-9);
    assert_eq!(rmse.mark, Some(Mark::Better));
    // inode there: 18.57 ± 1.82, so 19 is within.
    assert_eq!(cascade.rows[0].cells[2].mark, Some(Mark::Within));
    let picp = cascade.rows[1].cells[0].ours.unwrap();
    assert!((picp.mean - 91.0).abs() < 1e-9 && (picp.std.unwrap() - 8_f64.sqrt()).abs() < 1e-9);
    assert_eq!(cascade.rows[1].cells[0].mark, Some(Mark::Better));
    // The data sets without records.
    let missing = &cascade.rows[4].cells[0];
    assert_eq!((missing.ours, missing.missing, missing.mark), (None, 3, None));

    assert_eq!(tables.scoreboards.len(), 2);
    for board in &tables.scoreboards {
        assert_eq!((board.cells, board.compared), (32, 8));
        assert!(board.rmse_at_most_mean <= board.rmse_at_most_mean_plus_std);
    }
    assert!(tables.scoreboards[0].line().contains("of 32 cells"));
}

#[test]
fn every_format_is_written() {
    let spec = paper_at("[1, 2]");
    let records: Vec<RunRecord> = spec
        .cells()
        .map(|cell| done(cell.clone(), metrics(cell.seed)))
        .collect();
    let tables = tables_of_records(&spec, &records);
    let markdown = tables.render(TableFormat::Markdown);
    assert!(
        markdown.contains("| robot-arm | 100·RMSE | 19.00 ± 1.41 ✓ / 19.39 ± 3.85 |"),
        "{markdown}"
    );
    assert!(markdown.contains("## Baselines, coverage 0.95") && markdown.contains("## Beside the paper"));
    let csv = tables.render(TableFormat::Csv);
    assert_eq!(csv.lines().count(), 449);
    let widths: std::collections::HashSet<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert_eq!(widths.len(), 1);
    assert!(
        csv.contains("cascade,robot-arm,ilstm,cascade,relu,0.9,cwc,2,1.414"),
        "{csv}"
    );
    let latex = tables.render(TableFormat::Latex);
    assert_eq!(
        (
            latex.matches("\\toprule").count(),
            latex.matches("\\end{table}").count()
        ),
        (6, 6)
    );
    assert!(
        latex.contains("robot-arm & $100\\cdot$RMSE & $19.00 \\pm 1.41$$^+$ [$19.39 \\pm 3.85$]"),
        "{latex}"
    );
    let json: serde_json::Value = serde_json::from_str(&tables.render(TableFormat::Json)).unwrap();
    assert_eq!(json["tables"][0]["rows"][0]["cells"][0]["mark"], "better");
    assert_eq!(json["scoreboards"][0]["cells"], 32);
    assert_eq!(json["tables"][0]["rows"][0]["quantity"], "100·RMSE");
    assert!(csv.lines().nth(1).unwrap().ends_with(",100·RMSE"), "{csv}");
    let message = "html".parse::<TableFormat>().unwrap_err().to_string();
    assert!(message.contains("md, csv, latex or json"), "{message}");
}

#[test]
fn other_studies_have_the_same_layout_without_printed_values() {
    let text = "name = \"a_b|c\"\ndatasets = [\"my_own,record.csv\"]\nmodels = [\"arx\", \"inode\"]\nstrategies = [\"joint\"]\n";
    let spec = Spec::parse("s", text).unwrap();
    let records: Vec<RunRecord> = spec
        .cells()
        .map(|cell| {
            let diverged = Metrics {
                diverged_at: Some(3),
                ..Metrics::default()
            };
            done(cell, diverged)
        })
        .collect();
    let tables = tables_of_records(&spec, &records);
    let kinds: Vec<TableKind> = tables.tables.iter().map(|table| table.kind).collect();
    assert_eq!(kinds, [TableKind::Joint, TableKind::Baselines]);
    assert!(tables.scoreboards.is_empty());
    let markdown = tables.render(TableFormat::Markdown);
    assert!(
        markdown.contains("| my\\_own,record.csv | CWC | – (1 diverged) |"),
        "{markdown}"
    );
    assert!(markdown.contains("# Study a\\_b\\|c") && !markdown.contains("published"));
    assert!(tables.render(TableFormat::Csv).contains("\"my_own,record.csv\""));
    assert!(tables.render(TableFormat::Latex).contains("my\\_own,record.csv"));
}

#[test]
fn runs_without_a_range_to_compare_with_did_not_diverge() {
    let text = "name = \"s\"\ndatasets = [\"rest.csv\"]\nmodels = [\"arx\"]\n";
    let spec = Spec::parse("s", text).unwrap();
    let at_rest = Metrics {
        pinaw: None,
        cwc: None,
        ..metrics(1)
    };
    let records: Vec<RunRecord> = spec.cells().map(|cell| done(cell, at_rest)).collect();
    let markdown = tables_of_records(&spec, &records).render(TableFormat::Markdown);
    assert!(!markdown.contains("diverged"), "{markdown}");
    assert!(markdown.contains("| CWC | – |"), "{markdown}");
}

/// Two outputs: 0.043 V and 6.67 Nm, of which one misses the 90 % that were asked.
fn two_outputs() -> RunMetrics {
    let of = |rmse, picp| Metrics {
        rmse: Some(rmse),
        picp: Some(picp),
        interval_score: Some(rmse),
        ..metrics(1)
    };
    RunMetrics {
        all: of(3.3565, 0.9),
        outputs: vec![
            ("volts".to_owned(), of(0.043, 1.0)),
            ("torque".to_owned(), of(6.67, 0.8)),
        ],
    }
}

#[test]
fn several_outputs_have_no_mean_error_and_are_judged_by_the_worst() {
    let text = "name = \"s\"\ndatasets = [\"two.csv\"]\nmodels = [\"arx\"]\n";
    let spec = Spec::parse("s", text).unwrap();
    let records: Vec<RunRecord> = spec
        .cells()
        .map(|cell| {
            let mut record = done(cell, Metrics::default());
            if let RunState::Done(result) = &mut record.state {
                result.test = two_outputs();
            }
            record
        })
        .collect();
    let tables = tables_of_records(&spec, &records);
    let cell = |row: usize| tables.tables[0].rows[row].cells[0];
    assert_eq!((cell(0).ours, cell(0).mark, cell(0).diverged), (None, None, 0));
    assert!((cell(1).ours.unwrap().mean - 80.0).abs() < 1e-9);
    assert_eq!(cell(1).mark, Some(Mark::Worse), "80 and 100 % are not 90 %");
    let markdown = tables.render(TableFormat::Markdown);
    for part in [
        "| two.csv | RMSE | – |",
        "| two.csv | PICP % (worst output) | 80.00 ✗ |",
        "Of several outputs, RMSE has no mean",
    ] {
        assert!(markdown.contains(part), "{part} in\n{markdown}");
    }
    let both = side_by_side(&[tables.clone(), tables_of_records(&spec, &[])], TableFormat::Markdown);
    assert!(
        both.contains("| PICP % (worst output) | 80.00 ✗ | – (1 missing) |") && both.contains("Of several outputs"),
        "{both}"
    );
    let csv = tables.render(TableFormat::Csv);
    assert!(
        csv.contains(",rmse,,,0,") && csv.contains(",PICP % (worst output)\n"),
        "{csv}"
    );
    assert!(
        tables
            .render(TableFormat::Latex)
            .contains("PICP (\\%, worst output) & $80.00$$^-$")
    );

    let boxes = seed_boxes(&spec, &records);
    let panels: Vec<(&str, &[f64])> = boxes[0]
        .plot
        .panels
        .iter()
        .map(|panel| (panel.title.as_str(), panel.groups[0].values.as_slice()))
        .collect();
    assert_eq!(panels.len(), 3, "{panels:?}");
    assert_eq!(panels[0].0, "PICP of the worst output - asked (points)");
    assert!((panels[0].1[0] + 10.0).abs() < 1e-9, "{panels:?}");
}

#[test]
fn every_model_of_a_study_has_a_column() {
    let mut spec = Spec::builtin("paper").unwrap();
    spec.models = ModelKind::ALL.map(StudyModel::One).to_vec();
    spec.models.push(StudyModel::Auto);
    let tables = tables_of_records(&spec, &[]).tables;
    for model in spec.models {
        let is_there = |table: &Table| table.columns.iter().any(|column| column.model == model);
        assert!(tables.iter().any(is_there), "{model}");
    }
}
