//! Every number of every record, read back from each format by another program.

use std::fs;
use std::path::Path;
use std::time::Duration;

use csv::StringRecord;
use serde_json::Value;
use ssdlab_plan::{self as plan, LabKind, Overrides};
use ssdlab_results::{Attempt, AttemptId};

use super::fixture::{Fixture, Numbers, schedule};
use super::{Case, Needs, fixture, tools};

pub fn cases() -> Vec<Case> {
    use Needs::{Nothing, Program, Python};
    let case = |name, needs, run| Case { name, needs, run };
    vec![
        case("csv_has_every_number", Nothing, csv_by_itself),
        case("an_export_is_the_same_twice_and_through_a_pipe", Nothing, twice),
        case("libreoffice_reads_every_number_of_an_ods", Program("soffice"), ods),
        case("an_ods_has_all_digits_of_every_number", Python, || python(ODS)),
        case("libreoffice_reads_summary_claims_and_charts", Program("soffice"), other_sheets),
        case("duckdb_reads_every_number_of_csv", Python, || python(CSV)),
        case("duckdb_makes_parquet_of_csv_with_every_number", Python, || python(PARQUET)),
        case("duckdb_reads_every_number_of_json", Python, || python(JSON)),
        case("pandas_reads_every_number_of_csv", Python, || python(PANDAS)),
        case("the_examples_of_the_documentation_work", Python, examples),
        case("the_queries_of_sweeps_work", Python, sweeps),
    ]
}

/// Scripts that put the samples of a run into `rows`: position, phase, metric, value.
const CSV: &str = "
rows = duckdb.sql('''select position, phase, metric, value
    from read_csv('run.csv', types = {'seed': 'UBIGINT'}) where value is not null''').fetchall()
";

const PARQUET: &str = "
duckdb.sql('''copy (from read_csv('run.csv', types = {'seed': 'UBIGINT'}))
    to 'run.parquet' ''')
assert duckdb.sql(\"select max(seed) from 'run.parquet'\").fetchall()[0][0] >= 1 << 63
rows = duckdb.sql('''select position, phase, metric, value from 'run.parquet'
    where value is not null''').fetchall()
";

const PANDAS: &str = "
table = pandas.read_csv('run.csv')
table = table.dropna(subset='value')[['position', 'phase', 'metric', 'value']]
rows = table.values.tolist()
";

const ODS: &str = "
import xml.etree.ElementTree, zipfile
def name(space, local):
    return '{urn:oasis:names:tc:opendocument:xmlns:' + space + ':1.0}' + local
def cells(row):
    for cell in row:
        times = int(cell.get(name('table', 'number-columns-repeated'), 1))
        for _ in range(times):
            yield cell.get(name('office', 'value')) or ''.join(cell.itertext())
book = xml.etree.ElementTree.fromstring(zipfile.ZipFile('run.ods').read('content.xml'))
sheet = next(book.iter(name('table', 'table')))
header, *table = [list(cells(row)) for row in sheet.iter(name('table', 'table-row'))]
first = header.index('phase') + 1
rows = []
for row in table:
    for metric, value in zip(header[first:], row[first:]):
        if value:
            position = int(row[header.index('position')])
            rows.append([position, row[first - 1], metric, float(value)])
";

const JSON: &str = "
rows = []
def add(trial, phase, values, prefix=''):
    for name, value in values.items():
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if is_number and name not in ('lifetime_kib', 'repeats_by_bytes'):
            rows.append([trial['position'], phase, prefix + name, value])
[(treatments,)] = duckdb.sql('''select treatments from read_json('run.json',
    maximum_object_size = 1000000000)''').fetchall()
for treatment in treatments:
    for trial in treatment['trials']:
        for phase in trial['phases']:
            add(trial, phase['name'], phase)
            add(trial, phase['name'], phase.get('latency') or {}, 'latency.')
            add(trial, phase['name'], phase.get('reported') or {})
            if phase.get('flash_written_bytes') is not None:
                ratio = phase['flash_written_bytes'] / phase['written_bytes']
                add(trial, phase['name'], {'write_amplification': ratio})
            kinds = (phase.get('ledger') or {}).get('by_kind') or {}
            add(trial, phase['name'], {f'{kind}_bytes': kinds[kind]['bytes'] for kind in kinds})
        add(trial, 'teardown', trial['teardown'] or {}, 'teardown.')
";

fn csv_by_itself() {
    let fixture = Fixture::new();
    let rows = tools::read_csv(&tools::export(&fixture.run, "csv", fixture.place()));
    let column = |name: &str| column(&rows[0], name);
    let mut numbers = Numbers::new();
    let mut empty = Vec::new();
    for row in &rows[1..] {
        let position: u64 = row[column("position")].parse().unwrap();
        let [phase, metric] = ["phase", "metric"].map(|name| row[column(name)].to_owned());
        if row[column("value")].is_empty() {
            assert!(phase.is_empty() && metric.is_empty());
            empty.push((row[column("status")].to_owned(), row[column("reason")].to_owned()));
            continue;
        }
        numbers.insert((position, phase, metric), row[column("value")].parse().unwrap());
        let seed = row[column("seed")].to_owned();
        assert!(seed.parse::<u64>().is_ok(), "{seed}");
    }
    same(&numbers, &fixture);
    assert_eq!(empty, [("unavailable".to_owned(), "it was unavailable".to_owned())]);
    // In the order of the schedule, not of the records.
    let positions: Vec<u64> =
        rows[1..].iter().map(|row| row[column("position")].parse().unwrap()).collect();
    assert!(positions.is_sorted());
    assert_eq!(positions.last(), Some(&(schedule().trials.len() as u64 - 1)));
}

fn twice() {
    let fixture = Fixture::new();
    let formats = ["csv", "ods", "json", "markdown"];
    let all = || {
        formats
            .map(|format| fs::read(tools::export(&fixture.run, format, fixture.place())).unwrap())
    };
    let first = all();
    // The time stamps of a zip archive have a resolution of two seconds.
    std::thread::sleep(Duration::from_millis(2100));
    assert!(first == all());
    for (format, file) in formats.iter().zip(first) {
        let run = fixture.run.to_str().unwrap();
        let piped = tools::ssdlab(&["report", run, "--format", format]);
        assert!(piped.stdout == file, "{format}");
    }
}

fn ods() {
    let fixture = Fixture::new();
    let ods = tools::export(&fixture.run, "ods", fixture.place());
    let rows = tools::sheet(&ods, "samples");
    let (position, phase) = (column(&rows[0], "position"), column(&rows[0], "phase"));
    let mut numbers = Numbers::new();
    for row in &rows[1..] {
        let values = rows[0].iter().zip(row).skip(phase + 1);
        for (metric, value) in values.filter(|(_, value)| !value.is_empty()) {
            let key = (row[position].parse().unwrap(), row[phase].to_owned(), metric.to_owned());
            numbers.insert(key, value.parse().unwrap());
        }
    }
    let expected = fixture.numbers();
    for (key, value) in &expected {
        let found: f64 = numbers[key];
        assert!(is_as_shown(found, *value), "{key:?}: {found} for {value}");
    }
    assert_eq!(numbers.len(), expected.len());
    let unavailable = rows.iter().find(|row| row[column(&rows[0], "status")] == *"unavailable");
    assert!(unavailable.unwrap()[phase].is_empty());
}

fn other_sheets() {
    let fixture = Fixture::new();
    let json = tools::export(&fixture.run, "json", fixture.place());
    let analysis: Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    let ods = tools::export(&fixture.run, "ods", fixture.place());
    let rows = tools::sheet(&ods, "summary");
    let of = |row: &StringRecord, name: &str| row[column(&rows[0], name)].to_owned();
    let mut count = 0;
    for treatment in analysis["treatments"].as_array().unwrap() {
        for phase in treatment["summary"].as_array().unwrap() {
            for (metric, summary) in phase["metrics"].as_object().unwrap() {
                let levels = treatment["levels"].as_object().unwrap();
                let is_it = |row: &&StringRecord| {
                    levels.iter().all(|(factor, level)| of(row, factor) == *level)
                        && of(row, "phase") == phase["name"]
                        && of(row, "metric") == *metric
                };
                let row = rows.iter().find(is_it).unwrap();
                for name in ["n", "mean", "median", "sd", "min", "max"] {
                    let (found, value): (f64, _) = (of(row, name).parse().unwrap(), &summary[name]);
                    let value = value.as_f64().unwrap();
                    assert!(is_as_shown(found, value), "{metric} {name}: {found} for {value}");
                }
                count += 1;
            }
        }
    }
    assert_eq!(rows.len(), count + 1);
    let ratios: Vec<f64> =
        rows[1..].iter().filter_map(|row| of(row, "ratio").parse().ok()).collect();
    let effects = analysis["effects"].as_array().unwrap();
    let of_one = effects.iter().filter(|effect| effect["phases"].as_array().unwrap().len() == 1);
    assert_eq!(ratios.len(), of_one.count());
    let is_first = |effect: &Value| is_as_shown(ratios[0], effect["ratio"].as_f64().unwrap());
    assert!(effects.iter().any(is_first));

    let claims = tools::sheet(&ods, "claims");
    let judged = analysis["claims"].as_array().unwrap();
    assert_eq!(claims.len(), judged.len() + 1);
    for (row, claim) in claims[1..].iter().zip(judged) {
        assert_eq!(row[column(&claims[0], "verdict")], *claim["verdict"].as_str().unwrap());
    }
    let charts = tools::sheet(&ods, "charts");
    let phases = analysis["treatments"].as_array().unwrap().iter();
    let phases = phases.map(|treatment| treatment["summary"].as_array().unwrap().len());
    assert_eq!(charts.len(), phases.sum::<usize>() + 1);
}

/// Whether a number equals another as `LibreOffice` writes it: with 15 digits, at most 20 of them
/// after the point.
fn is_as_shown(shown: f64, value: f64) -> bool {
    (shown - value).abs() <= 1e-14 * value.abs() + 1e-20
}

/// Runs a script that puts samples into `rows`.
fn python(script: &str) {
    let fixture = Fixture::new();
    for format in ["csv", "json", "ods"] {
        tools::export(&fixture.run, format, fixture.place());
    }
    let script = format!("import duckdb, json, pandas\n{script}\nprint(json.dumps(rows))");
    let rows = tools::run_python(&script, fixture.place());
    let rows: Vec<(u64, String, String, f64)> = serde_json::from_str(&rows).unwrap();
    let numbers = rows.into_iter().map(|(at, phase, metric, value)| ((at, phase, metric), value));
    same(&numbers.collect(), &fixture);
}

/// The query and the script that the documentation shows.
fn examples() {
    let fixture = Fixture::new();
    tools::export(&fixture.run, "csv", fixture.place());
    let (queries, scripts) = (code("exports", "sql"), code("exports", "python"));
    assert!(!queries.is_empty() && !scripts.is_empty());
    ask(&queries, fixture.place());
    for script in scripts {
        let shown = tools::run_python(&script, fixture.place());
        assert!(shown.contains("unpack"), "{shown}");
    }
}

/// The documentation's queries about sweeps, on a run of its plan and on simulations like its own.
fn sweeps() {
    let overrides =
        Overrides { lab: Some(LabKind::Virtual), runs: Some(5), ..Overrides::default() };
    let plan = &code("sweeps", "toml")[0];
    let schedule = plan::schedule("sweep.toml", plan, &overrides, Path::new("/")).unwrap();
    let mut records = fixture::records(&schedule);
    for record in &mut records {
        let (id, node) = (AttemptId::read("1_0").unwrap(), "node1".to_owned());
        record.attempt = Some(Attempt { id, node });
    }
    let fixture = Fixture::of(&schedule, &records);
    let place = fixture.place();
    std::os::unix::fs::symlink(&fixture.run, place.join("RUN")).unwrap();
    tools::export(&fixture.run, "csv", place);
    let command = code("sweeps", "console minutes")[0]
        .trim_start_matches("$ ")
        .replace("--seed 1..5", "--seed 1")
        .replace("--warmup 1", "--warmup 0.01");
    tools::run_shell(&command, place);
    assert_eq!(fs::read_to_string(place.join("sweep.jsonl")).unwrap().lines().count(), 20);
    ask(&code("sweeps", "sql"), place);
}

/// The code in a language on a page of the documentation.
fn code(page: &str, language: &str) -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("docs/{page}.md"));
    let page = fs::read_to_string(page).unwrap();
    let fence = format!("```{language}\n");
    let blocks = page.split(&fence).skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

/// Runs queries in `DuckDB`; each must return something.
fn ask(queries: &[String], place: &Path) {
    assert!(!queries.is_empty());
    for query in queries {
        let script = format!("import duckdb\nprint(len(duckdb.sql('''{query}''').fetchall()))");
        assert_ne!(tools::run_python(&script, place).trim(), "0", "{query}");
    }
}

fn column(header: &StringRecord, name: &str) -> usize {
    header.iter().position(|column| column == name).unwrap_or_else(|| panic!("no column {name}"))
}

/// Asserts that exactly these numbers are there, bit by bit.
fn same(found: &Numbers, fixture: &Fixture) {
    let expected = fixture.numbers();
    assert!(expected.len() > 900, "{}", expected.len());
    for (key, value) in &expected {
        assert_eq!(found.get(key), Some(value), "{key:?}");
    }
    assert_eq!(found.len(), expected.len());
}
