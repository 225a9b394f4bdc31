//! Text that tries to break a format or its reader: every file stays valid, and no number changes.

use std::fs;

use csv::StringRecord;
use serde_json::{Value, json};
use ssdlab_plan::{Factor, Schedule, metric};
use ssdlab_results::TrialStatus;

use super::fixture::{Fixture, records, schedule};
use super::{Case, Needs, tools};

pub fn cases() -> Vec<Case> {
    use Needs::{Nothing, Program, Python};
    let case = |name, needs, run| Case { name, needs, run };
    vec![
        case("csv_carries_hostile_text", Nothing, csv),
        case("json_carries_hostile_text_as_it_is", Nothing, json),
        case("markdown_of_hostile_text_keeps_its_columns", Nothing, markdown),
        case("libreoffice_takes_hostile_text_for_text", Program("soffice"), ods),
        case("an_ods_of_hostile_text_is_xml", Python, xml),
        case("duckdb_and_pandas_read_hostile_text", Python, python),
    ]
}

/// A formula, controls that XML forbids, quotes, separators, markup, an emoji, white space.
const HOSTILE: &str = "=1+1|cmd\u{0}\u{1}\u{b}\u{1b}[2J\u{7f}\u{85}\u{fffe}\r\n\t\"a\",b;c \
                       | `d` <e>&amp;</e> ]]> \u{1f600}  two  ";

/// The same text in CSV and ODS.
const CARRIED: &str = "=1+1|cmd\u{fffd}\u{fffd}\u{fffd}\u{fffd}[2J\u{fffd}\u{fffd}\u{fffd}\
                       \u{fffd}\n\t\"a\",b;c | `d` <e>&amp;</e> ]]> \u{1f600}  two  ";

fn long() -> String {
    "40 kB of reasons ".repeat(2_500)
}

/// A run whose texts are hostile: the plan's, a phase's, a metric's, a level's, reasons.
fn fixture() -> Fixture {
    let mut stored = serde_json::to_value(schedule()).unwrap();
    let mut records = records(&schedule());
    for key in ["plan", "question"] {
        stored[key] = json!(HOSTILE);
    }
    for claim in stored["claims"].as_array_mut().unwrap() {
        claim["says"] = json!(HOSTILE);
    }
    let level = |levels: &mut ssdlab_plan::Levels| {
        levels.0.insert(Factor::Mkfs, HOSTILE.to_owned());
    };
    for treatment in stored["treatments"].as_array_mut().unwrap() {
        treatment["levels"]["mkfs"] = json!(HOSTILE);
    }
    stored["workload"]["phases"][0]["name"] = json!(HOSTILE);
    let schedule: Schedule = serde_json::from_value(stored).unwrap();
    for record in &mut records {
        level(&mut record.levels);
        if let Some(phase) = record.phases.first_mut() {
            HOSTILE.clone_into(&mut phase.name);
            phase.reported.insert(metric::of(HOSTILE), -1.5);
        }
    }
    records[2].reason = Some(HOSTILE.to_owned());
    records[4].reason = Some(long());
    assert_eq!(records[4].status, TrialStatus::Void);
    Fixture::of(&schedule, &records)
}

fn csv() {
    let fixture = fixture();
    // The reader rejects rows with more or fewer fields.
    let rows = tools::read_csv(&tools::export(&fixture.run, "csv", fixture.place()));
    let guarded = format!("'{CARRIED}");
    for name in ["plan", "mkfs", "phase", "metric", "reason"] {
        let column = column(&rows[0], name);
        assert!(rows.iter().any(|row| row[column] == guarded), "{name}");
    }
    assert!(rows.iter().any(|row| row[column(&rows[0], "reason")] == long()));
    let value = column(&rows[0], "value");
    assert!(rows.iter().any(|row| row[value] == *"-1.5"), "a negative number stays one");
    assert_eq!(rows.len() - 1, fixture.numbers().len() + 1);
}

fn json() {
    let fixture = fixture();
    let path = tools::export(&fixture.run, "json", fixture.place());
    let analysis: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert_eq!(analysis["question"], HOSTILE);
    assert_eq!(analysis["treatments"][0]["levels"]["mkfs"], HOSTILE);
}

fn markdown() {
    let fixture = fixture();
    let path = tools::export(&fixture.run, "markdown", fixture.place());
    let text = fs::read_to_string(path).unwrap();
    assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
    assert!(!text.contains("<e>") && !text.contains(" `d`"), "{text}");
    // Each line of a table has as many unescaped bars as its header.
    let bars = |line: &str| line.replace("\\\\", "").replace("\\|", "").matches('|').count();
    let table: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert!(table.len() > 5 && table.iter().all(|line| bars(line) == bars(table[0])), "{text}");
}

fn ods() {
    let fixture = fixture();
    let ods = tools::export(&fixture.run, "ods", fixture.place());
    let rows = tools::sheet(&ods, "samples");
    let carried = CARRIED.replace('\t', " ");
    for name in ["plan", "mkfs", "phase", "reason"] {
        let column = column(&rows[0], name);
        let found = rows.iter().find(|row| row[column].starts_with('='));
        assert_eq!(found.unwrap()[column], carried, "{name}");
    }
    assert!(rows[0].iter().any(|name| name == carried), "a metric's name");
    let reason = column(&rows[0], "reason");
    assert!(rows.iter().any(|row| row[reason] == long()));
    let position = column(&rows[0], "position");
    assert!(rows[1..].iter().all(|row| row[position].parse::<u64>().is_ok()));
}

fn xml() {
    let fixture = fixture();
    tools::export(&fixture.run, "ods", fixture.place());
    let script = "
import xml.parsers.expat, zipfile
file = zipfile.ZipFile('run.ods')
assert file.testzip() is None
first = file.infolist()[0]
assert (first.filename, first.compress_type, first.header_offset) == ('mimetype', 0, 0)
for name in file.namelist()[1:]:
    xml.parsers.expat.ParserCreate().Parse(file.read(name), True)
";
    tools::run_python(script, fixture.place());
}

fn python() {
    let fixture = fixture();
    tools::export(&fixture.run, "csv", fixture.place());
    let script = "
import duckdb, pandas
source = \"read_csv('run.csv', types = {'seed': 'UBIGINT'})\"
print(duckdb.sql('select count(value) from ' + source).fetchall()[0][0])
print(pandas.read_csv('run.csv')['value'].count())
";
    let counted = tools::run_python(script, fixture.place());
    let expected = format!("{}\n", fixture.numbers().len());
    assert_eq!(counted, expected.repeat(2));
}

fn column(header: &StringRecord, name: &str) -> usize {
    header.iter().position(|column| column == name).unwrap()
}
